import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { StreamOutlet } from "./outlet.ts";

export interface StreamFormat {
  readonly contentType: string;
  /** Formats the last line when the source fails after the first byte. */
  readonly lateError: (error: unknown) => string;
  /** A line that is written if nothing else was written for `everyMs`, or up to twice as long. */
  readonly ping?: { readonly line: string; readonly everyMs: number };
  /** Set if the connection may be lent to a runner. Nothing is written here while it is. */
  readonly outlet?: Pick<StreamOutlet, "isLent" | "whenBack"> | null;
}

/**
 * Writes a stream of finished lines, one write each. Sends nothing before the first line exists, so that an
 * early error still gets its own status; if that takes too long, sends a ping. A slow reader pauses the
 * source.
 */
export async function sendStream(
  reply: FastifyReply,
  lines: AsyncIterable<string>,
  format: StreamFormat,
  patienceMs = longestPauseMs,
): Promise<void> {
  const source = lines[Symbol.asyncIterator]();
  const response = reply.raw;
  let isOpen = false;
  let isSilent = false;
  const write = (text: string): boolean => {
    isSilent = false;
    if (!isOpen) {
      isOpen = true;
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders())) {
        if (value !== undefined) response.setHeader(name, value);
      }
      response.writeHead(200, { "content-type": format.contentType });
    }
    return text === "" || response.write(text);
  };
  const { ping, outlet } = format;
  const timer =
    ping &&
    setInterval(() => {
      if (isSilent && !response.destroyed && !response.writableNeedDrain && !outlet?.isLent) write(ping.line);
      isSilent = true;
    }, ping.everyMs);
  try {
    for (let next = await source.next(); !next.done; next = await source.next()) {
      if (!write(next.value)) await drained(response, patienceMs);
      if (response.destroyed) break;
    }
    write("");
    response.end();
  } catch (error) {
    if (!isOpen) throw error;
    await outlet?.whenBack();
    reply.request.lateError = error;
    if (!response.destroyed) response.end(format.lateError(error));
  } finally {
    clearInterval(timer);
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
 * A reader that stops reading occupies a slot. The limit is long because the server notices reading only when
 * the system's buffers for the connection, a few megabytes, are a third empty. At 1 KB/s that takes 26
 * minutes.
 */
const longestPauseMs = 40 * 60_000;
