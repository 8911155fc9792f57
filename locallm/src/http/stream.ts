import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";

export interface StreamFormat {
  readonly contentType: string;
  /** Formats the last line when the source fails after the first byte. */
  readonly lateError: (error: unknown) => string;
}

/**
 * Writes a stream of finished lines, one write each. Sends nothing before the first line exists, so that an early
 * error still gets its own status. A slow reader pauses the source.
 */
export async function sendStream(
  reply: FastifyReply,
  lines: AsyncIterable<string>,
  format: StreamFormat,
  patienceMs = longestPauseMs,
): Promise<void> {
  const source = lines[Symbol.asyncIterator]();
  const first = await source.next();

  reply.hijack();
  const response = reply.raw;
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) response.setHeader(name, value);
  }
  response.writeHead(200, { "content-type": format.contentType });
  try {
    for (let next = first; !next.done; next = await source.next()) {
      if (!response.write(next.value)) await drained(response, patienceMs);
      if (response.destroyed) break;
    }
    response.end();
  } catch (error) {
    reply.request.lateError = error;
    if (!response.destroyed) response.end(format.lateError(error));
  } finally {
    await source.return?.();
  }
}

/** Waits until the reader has received the written data or disconnects. Disconnects it after `patienceMs`. */
function drained(response: ServerResponse, patienceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      response.off("drain", done).off("close", done);
      resolve();
    };
    const timer = setTimeout(() => response.destroy(), patienceMs);
    if (response.destroyed) done();
    else response.on("drain", done).on("close", done);
  });
}

/**
 * A reader that stops reading occupies a slot. The limit is long because reading becomes visible here only when the
 * system's buffers for the connection, a few megabytes, are a third empty: at 1 KB/s after 26 minutes.
 */
const longestPauseMs = 40 * 60_000;
