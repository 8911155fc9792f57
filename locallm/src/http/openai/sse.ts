import { randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { errorReply } from "../error-reply.ts";
import type { StreamFormat } from "../stream.ts";

/** Server-sent events. An error after the first event becomes the last event, without `[DONE]`. */
export function sse(request: FastifyRequest): StreamFormat {
  return {
    contentType: "text/event-stream; charset=utf-8",
    lateError: (error) =>
      event(errorReply(error, { path: request.url, requestId: request.id, retryAfterSeconds: () => 1 }).body),
  };
}

export function event(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

export const done = "data: [DONE]\n\n";

/** 128 random bits, so that ids are unique. */
export function newId(prefix: string): string {
  return `${prefix}${randomBytes(16).toString("hex")}`;
}

/** The constant `system_fingerprint`. */
export const fingerprint = "fp_locallm";
