import { randomUUID } from "node:crypto";

/** An id for a tool call to which the engine gives none. */
export function newCallId(): string {
  return `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
}
