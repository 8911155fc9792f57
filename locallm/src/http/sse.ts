import { randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { type ErrorBody, errorReply, errorShape } from "./error-reply.ts";
import type { StreamFormat } from "./stream.ts";

/** Server-sent events. An error after the first event becomes the last event, as `lateEvent` formats it. */
export function sse(
  request: FastifyRequest,
  lateEvent: (body: ErrorBody) => string = (body) => event(body),
): StreamFormat {
  const context = { shape: errorShape(request), requestId: request.id, retryAfterSeconds: () => 1 };
  return {
    contentType: "text/event-stream; charset=utf-8",
    lateError: (error) => lateEvent(errorReply(error, context).body),
  };
}

export function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** An event with a name, which the data repeats as its type. */
export function namedEvent<Data extends { readonly type: string }>(data: Data): string {
  return `event: ${data.type}\n${event(data)}`;
}

export const done = "data: [DONE]\n\n";

/** 128 random bits, so that ids are unique. */
export function newId(prefix: string): string {
  return `${prefix}${randomBytes(16).toString("hex")}`;
}

/** The constant `system_fingerprint`. */
export const fingerprint = "fp_locallm";
