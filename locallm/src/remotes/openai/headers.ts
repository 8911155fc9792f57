import type { Upstream } from "../engine.ts";

export function bearer({ key }: Upstream): Record<string, string> {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}
