import type { FastifyRequest } from "fastify";
import { errorLanguage, errorReply } from "../error-reply.ts";
import type { StreamFormat } from "../stream.ts";

/** One JSON object per line. An error after the first line becomes the last line. */
export function ndjson(request: FastifyRequest): StreamFormat {
  return {
    contentType: "application/x-ndjson",
    lateError: (error) =>
      `${JSON.stringify(
        errorReply(error, {
          shape: "native",
          language: errorLanguage(request.headers),
          requestId: request.id,
          retryAfterSeconds: () => 1,
        }).body,
      )}\n`,
  };
}
