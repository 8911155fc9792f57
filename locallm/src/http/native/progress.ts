import type { FastifyReply, FastifyRequest } from "fastify";
import type { ProgressLine } from "../../wire/api/library.ts";
import { sendStream } from "../stream.ts";
import { ndjson } from "./ndjson.ts";

/** Work that reports its progress: create, pull and push. */
export type Work = (onProgress: (line: ProgressLine) => void, signal: AbortSignal) => Promise<void>;

/** Streams the progress lines, or with `stream: false` answers once at the end. */
export async function sendProgress(
  request: FastifyRequest,
  reply: FastifyReply,
  stream: boolean | undefined,
  work: Work,
): Promise<unknown> {
  if (stream === false) {
    await work(() => {}, request.clientGone);
    return { status: "success" };
  }
  await sendStream(reply, progressLines(work, request.clientGone), ndjson(request));
  return reply;
}

/** The pause between two writes. A pull reports progress thousands of times a second. */
const pauseMs = 60;

async function* progressLines(work: Work, signal: AbortSignal): AsyncGenerator<string> {
  const pending = new PendingLines();
  let isDone = false;
  const finished = work((line) => pending.add(line), signal).finally(() => {
    isDone = true;
    pending.wake();
  });
  finished.catch(() => {});
  while (!isDone) {
    await pending.any();
    const text = pending.take();
    if (text === "") continue;
    yield text;
    await Promise.race([
      new Promise((resolve) => setTimeout(resolve, pauseMs).unref()),
      finished.catch(() => {}),
    ]);
  }
  const last = pending.take();
  if (last !== "") yield last;
  await finished;
}

/** Unsent lines. Keeps only the newest line of each layer, so that a slow reader costs no memory. */
class PendingLines {
  #lines: ProgressLine[] = [];
  #wake: (() => void) | null = null;

  add(line: ProgressLine): void {
    const same = this.#lines.findIndex(
      ({ status, digest }) => digest !== undefined && digest === line.digest && status === line.status,
    );
    if (same < 0) this.#lines.push(line);
    else this.#lines[same] = line;
    this.wake();
  }

  take(): string {
    return this.#lines
      .splice(0)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join("");
  }

  async any(): Promise<void> {
    if (this.#lines.length > 0) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    this.#wake?.();
    this.#wake = null;
  }
}
