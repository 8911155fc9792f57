import { setTimeout as sleep } from "node:timers/promises";
import type { Digest } from "../library/digest.ts";
import { LocallmError } from "../wire/errors.ts";
import type { NetworkResponse } from "./network.ts";
import { mayPass, readRefusal } from "./network-answer.ts";
import { networkReason } from "./network-reason.ts";
import type { PartialFile } from "./partial-file.ts";
import type { ByteRange, TransferLimits, TransferRequest } from "./transfer-request.ts";

/** The server ignores ranges: the file must be downloaded from the start, in one stream. */
class RangesIgnored extends Error {}
class Stalled extends Error {}

/** Each write goes through the thread pool, so few large writes are cheaper than many small ones. */
const writeBytes = 512 * 1024;

/** One download into a partial file, in parallel parts. */
export class Transfer {
  #request: TransferRequest;
  #file: PartialFile;
  #limits: TransferLimits;
  #stop = new AbortController();
  #signal: AbortSignal;

  constructor(request: TransferRequest, file: PartialFile, limits: TransferLimits) {
    this.#request = request;
    this.#file = file;
    this.#limits = limits;
    this.#signal = AbortSignal.any([request.signal, this.#stop.signal]);
  }

  async run(): Promise<Digest> {
    this.#request.onProgress?.(this.#file.completedBytes);
    try {
      await this.#inParts();
    } catch (error) {
      if (!(error instanceof RangesIgnored)) throw error;
      this.#stop = new AbortController();
      this.#signal = AbortSignal.any([this.#request.signal, this.#stop.signal]);
      await this.#file.startOver();
      await this.#part(0, { whole: true });
    }
    return await this.#file.digest(this.#request.signal);
  }

  async #inParts(): Promise<void> {
    let next = 0;
    const worker = async () => {
      while (next < this.#file.parts.length) await this.#part(next++, { whole: false });
    };
    const workers = Array.from({ length: Math.min(this.#limits.parts, this.#file.parts.length) }, worker);
    try {
      await Promise.all(workers);
    } catch (error) {
      this.#stop.abort(error);
      await Promise.allSettled(workers);
      throw error;
    }
  }

  /** Downloads one part, retrying as long as bytes arrive. */
  async #part(index: number, mode: { whole: boolean }): Promise<void> {
    let failures = 0;
    let best = this.#bytes(index);
    for (;;) {
      try {
        await this.#try(index, mode);
        return;
      } catch (error) {
        if (this.#signal.aborted) throw error;
        if (!isWorthAnotherTry(error)) throw error instanceof HttpStatus ? this.#toSourceError(error) : error;
        const now = this.#bytes(index);
        // A busy source may delay or reject one part while others progress, so progress of any part resets
        // the failure count. After other errors, only progress of the same part resets it.
        const isBusy = error instanceof Stalled || error instanceof HttpStatus;
        const moved = isBusy ? now.all > best.all : now.part > best.part;
        best = { part: Math.max(now.part, best.part), all: Math.max(now.all, best.all) };
        failures = moved ? 0 : failures + 1;
        if (failures >= this.#limits.tries) throw this.#toSourceError(error);
        if (error instanceof Stalled || (failures === 0 && !isBusy)) continue;
        const delayMs = this.#limits.retryDelayMs * 2 ** Math.max(0, failures - 1);
        await sleep(delayMs, undefined, { signal: this.#signal });
      }
    }
  }

  #bytes(index: number): { part: number; all: number } {
    return { part: this.#file.parts[index]?.completedBytes ?? 0, all: this.#file.completedBytes };
  }

  #toSourceError(error: unknown): unknown {
    if (error instanceof LocallmError) return error;
    const { host } = this.#request;
    const { tries, stallMs } = this.#limits;
    if (error instanceof Stalled)
      return new LocallmError("source_silent", { host, attempts: tries, seconds: stallMs / 1000 });
    const reason = networkReason(error);
    return new LocallmError("source_failed", { host, reason }, { cause: error });
  }

  async #try(index: number, { whole }: { whole: boolean }): Promise<void> {
    const part = this.#file.parts[index];
    if (part === undefined) return;
    if (whole) part.completedBytes = 0;
    const range = { start: part.start + part.completedBytes, end: part.end };
    if (range.start === range.end) return;
    const watch = new AbortController();
    const signal = AbortSignal.any([this.#signal, watch.signal]);
    let timer = setTimeout(() => {}, 0);
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => watch.abort(new Stalled("no byte arrived")), this.#limits.stallMs);
    };
    alive();
    try {
      const response = await this.#request.open(whole ? null : range, signal);
      try {
        await checkAnswer(response, range, this.#request.sizeBytes, whole);
        await this.#receive(index, response, range, alive);
      } finally {
        response.body.destroy();
      }
      if (part.start + part.completedBytes < part.end) throw new Error("the answer ended early");
    } catch (error) {
      throw watch.signal.aborted && !this.#signal.aborted ? watch.signal.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Combines chunks into larger writes. Also writes the collected chunks when the connection breaks. */
  async #receive(
    index: number,
    response: NetworkResponse,
    range: ByteRange,
    alive: () => void,
  ): Promise<void> {
    let pending: Buffer[] = [];
    let pendingBytes = 0;
    let leftBytes = range.end - range.start;
    const flush = async () => {
      const pieces = pending;
      pending = [];
      pendingBytes = 0;
      if (pieces.length === 0) return;
      await this.#file.write(index, pieces);
      this.#request.onProgress?.(this.#file.completedBytes);
    };
    try {
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        alive();
        leftBytes -= chunk.length;
        if (leftBytes < 0) throw tooMany(response, range);
        pending.push(chunk);
        pendingBytes += chunk.length;
        if (pendingBytes >= writeBytes) await flush();
      }
    } finally {
      await flush();
    }
  }
}

async function checkAnswer(
  response: NetworkResponse,
  range: ByteRange,
  sizeBytes: number,
  whole: boolean,
): Promise<void> {
  const { host } = response.url;
  if (response.status === 206 && !whole) {
    const [, start, end, total] =
      /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers["content-range"] ?? "") ?? [];
    const isAsked = Number(start) === range.start && Number(end) === range.end - 1;
    if (!isAsked)
      throw new LocallmError("source_failed", { host, reason: "it sent a different range than requested" });
    if (total !== "*" && Number(total) !== sizeBytes) {
      throw new LocallmError("size_mismatch", { host, expected: sizeBytes, found: Number(total) });
    }
    return;
  }
  if (response.status === 200) {
    const announced = response.headers["content-length"];
    if (announced !== undefined && Number(announced) !== sizeBytes) {
      throw new LocallmError("size_mismatch", { host, expected: sizeBytes, found: Number(announced) });
    }
    if (whole || (range.start === 0 && range.end === sizeBytes)) return;
    throw new RangesIgnored();
  }
  throw new HttpStatus(response.status, await readRefusal(response));
}

/** The source answered with an error status. */
class HttpStatus extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function isWorthAnotherTry(error: unknown): boolean {
  if (error instanceof RangesIgnored) return false;
  if (error instanceof HttpStatus) return mayPass(error.status);
  if (error instanceof LocallmError) return error.code === "source_unreachable";
  const { code, syscall } = error as NodeJS.ErrnoException;
  // Disk errors also have `syscall`; these codes are network errors.
  return syscall === undefined || /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET)/.test(code ?? "");
}

function tooMany(response: NetworkResponse, range: ByteRange): LocallmError {
  const expected = range.end - range.start;
  return new LocallmError("size_mismatch", {
    host: response.url.host,
    expected,
    found: `more than ${expected}`,
  });
}
