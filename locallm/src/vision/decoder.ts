import { NoAnswer } from "../runner/ask-child.ts";
import type { Decoded, DecodeJob } from "../runner/decode-child.ts";
import { JobChild } from "../runner/job-child.ts";
import { pictureLimits } from "./limits.ts";

type Child = JobChild<DecodeJob, Decoded>;

/** Makes pixels of pictures and samples of sounds in a few processes. A file that ends its process costs nobody else anything. */
export class MediaDecoder {
  readonly #idle: Child[] = [];
  readonly #busy = new Set<Child>();
  readonly #waiting: (() => void)[] = [];
  #places: number = pictureLimits.decoders;

  /** Reads the file `from` and writes pixels or samples to the file `to`. Never rejects, except with the signal's reason. */
  async decode(files: Pick<DecodeJob, "from" | "to" | "kind">, signal: AbortSignal): Promise<Decoded> {
    await this.#place(signal);
    const child = this.#idle.pop() ?? (new JobChild("decode-child") as Child);
    this.#busy.add(child);
    const {
      decodeMs: patienceMs,
      decodeBytes: bytes,
      pixels: maxPixels,
      seconds: maxSeconds,
    } = pictureLimits;
    try {
      return await child.do({ ...files, maxPixels, maxSeconds }, { patienceMs, bytes });
    } catch (cause) {
      if (cause instanceof NoAnswer) return { problem: `reading it failed (${cause.message})` };
      throw cause;
    } finally {
      this.#busy.delete(child);
      if (!child.hasEnded) this.#idle.push(child);
      this.#places++;
      this.#waiting.shift()?.();
    }
  }

  close(): void {
    for (const child of [...this.#idle, ...this.#busy]) child.end();
  }

  async #place(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.#places === 0) await turn(this.#waiting, signal);
    this.#places--;
  }
}

/** Waits in line until another one calls. Leaving the line wakes the next one, in case it was this one's turn. */
async function turn(line: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  line.push(resolve);
  const leave = () => {
    const place = line.indexOf(resolve);
    if (place === -1) line.shift()?.();
    else line.splice(place, 1);
    reject(signal.reason);
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
