import { Readable } from "node:stream";
import { Failure } from "@dataq/contract";
import type { FastifyReply } from "fastify";

/** Exports that may run at the same time, in this process and for one account. */
const MOST = 8;
const MOST_PER_ACCOUNT = 2;
const CHUNK_CHARACTERS = 65_536;
/** A client that reads nothing for this long is disconnected, so that it cannot keep others from exporting. */
const STALL_MS = 60_000;

/** Answers that are too long for memory: limited in number, and sent only as fast as the client reads them. */
export class Exports {
  readonly #running = new Map<string, number>();
  readonly #streams = new Set<Readable>();
  #total = 0;

  /** Sends a download. `prepare` runs only for those within the limits; others get `concurrency_limited`. */
  async send(
    reply: FastifyReply,
    file: { readonly accountId: string; readonly name: string; readonly format: "csv" | "jsonl" },
    lines: AsyncIterable<string>,
    prepare: () => Promise<void>,
  ): Promise<FastifyReply> {
    const end = this.begin(file.accountId);
    try {
      await prepare();
    } catch (error) {
      end();
      throw error;
    }
    const stream = Readable.from(inChunks(lines), { objectMode: false, highWaterMark: CHUNK_CHARACTERS });
    const stopWatch = watchReader(reply);
    this.#streams.add(stream);
    stream.once("close", () => {
      this.#streams.delete(stream);
      stopWatch();
      end();
    });
    reply.header("content-disposition", `attachment; filename="${file.name}.${file.format}"`);
    reply.type(file.format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson; charset=utf-8");
    return reply.send(stream);
  }

  /** Cuts off the running downloads, because a client may take any time to read one. */
  close(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  /** Counts a request that takes as long as an export. Returns the function that ends it. */
  begin(accountId: string): () => void {
    const own = this.#running.get(accountId) ?? 0;
    if (own >= MOST_PER_ACCOUNT || this.#total >= MOST)
      throw new Failure("concurrency_limited", { retry_after: 5 });
    this.#running.set(accountId, own + 1);
    this.#total += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#total -= 1;
      const left = this.#running.get(accountId)! - 1;
      if (left === 0) this.#running.delete(accountId);
      else this.#running.set(accountId, left);
    };
  }
}

/** Disconnects a client that reads nothing. Returns the function that stops the watch. */
function watchReader({ raw }: FastifyReply): () => void {
  let before = -1;
  const timer = setInterval(() => {
    const written = raw.socket?.bytesWritten ?? 0;
    if (written === before) raw.destroy();
    before = written;
  }, STALL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = "";
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}
