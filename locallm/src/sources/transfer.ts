import { type FileHandle, open, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Digest } from "../library/digest.ts";
import { asWriteError, requireSpace } from "../library/disk-space.ts";
import { writeDurably } from "../library/durable.ts";
import { LocallmError } from "../wire/errors.ts";
import { FileHash } from "./file-hash.ts";
import type { NetworkResponse } from "./network.ts";
import { mayPass, readRefusal } from "./network-answer.ts";
import type { Partials } from "./partial.ts";

/** Both bounds in bytes; the last byte is `end - 1`. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface TransferRequest {
  /** Where it comes from, for errors. */
  host: string;
  /** Names the download: the content's digest where that is known, else a digest of where it comes from. */
  key: Digest;
  /** What the content must be; null where the source does not say. */
  expected: Digest | null;
  sizeBytes: number;
  /** Asks for a range, or for all of it; called anew for every part and every try. */
  open(range: ByteRange | null, signal: AbortSignal): Promise<NetworkResponse>;
  onProgress?(completedBytes: number): void;
  /** True when somebody else's work made this one unnecessary; asked while another process downloads. */
  isDone(): Promise<boolean>;
  /** Takes the complete file, whose digest is right; what it leaves there is removed. */
  finish(path: string, digest: Digest): Promise<void>;
  signal: AbortSignal;
}

export interface TransferLimits {
  /** Parts on their way at once. */
  parts: number;
  partMinBytes: number;
  partMaxBytes: number;
  /** A part without a byte for so long is asked for again. */
  stallMs: number;
  /** Failures or stalls in a row, without a byte of progress between them, before the transfer gives up. */
  tries: number;
  /** Before the second try; doubles with each. */
  retryDelayMs: number;
  /** How often to look whether another process is done. */
  waitMs: number;
}

const usualLimits: TransferLimits = {
  parts: 8,
  partMinBytes: 8 * 1024 * 1024,
  partMaxBytes: 64 * 1024 * 1024,
  stallMs: 30_000,
  tries: 6,
  retryDelayMs: 1000,
  waitMs: 250,
};

/** A transfer that several requests wait for. */
interface SharedTransfer {
  promise: Promise<void>;
  stop: AbortController;
  listeners: Set<(completedBytes: number) => void>;
  waiters: number;
}

/**
 * Downloads into `partial/`: several ranges at once, hashing along, going on where a killed process stopped.
 * Requests for the same content share one download, which ends when the last of them leaves. A file that turns
 * out damaged after a resume is fetched once more from the start.
 */
export class Transfers {
  #partials: Partials;
  #limits: TransferLimits;
  #running = new Map<Digest, SharedTransfer>();

  constructor(partials: Partials, limits: Partial<TransferLimits> = {}) {
    this.#partials = partials;
    this.#limits = { ...usualLimits, ...limits };
  }

  /** Throws what the source throws, `download_damaged`, `disk_full`, or the signal's reason. */
  async fetch(request: TransferRequest): Promise<void> {
    request.signal.throwIfAborted();
    let shared = this.#running.get(request.key);
    // One that everybody left is on its way out, and its folder is still in use.
    while (shared?.stop.signal.aborted) {
      await shared.promise.catch(() => {});
      request.signal.throwIfAborted();
      shared = this.#running.get(request.key);
    }
    shared ??= this.#start(request);
    const listener = (completedBytes: number) => request.onProgress?.(completedBytes);
    shared.listeners.add(listener);
    shared.waiters += 1;
    const left = Promise.withResolvers<never>();
    const leave = () => left.reject(request.signal.reason);
    request.signal.addEventListener("abort", leave, { once: true });
    try {
      await Promise.race([shared.promise, left.promise]);
    } finally {
      request.signal.removeEventListener("abort", leave);
      shared.listeners.delete(listener);
      shared.waiters -= 1;
      if (shared.waiters === 0) shared.stop.abort(request.signal.reason);
    }
  }

  #start(request: TransferRequest): SharedTransfer {
    const stop = new AbortController();
    const listeners: SharedTransfer["listeners"] = new Set();
    const own: TransferRequest = {
      ...request,
      signal: stop.signal,
      onProgress: (completedBytes) => {
        for (const listener of listeners) listener(completedBytes);
      },
    };
    const promise = this.#fetchOnce(own)
      .catch(async (error) => {
        throw await asWriteError(error, this.#partials.folder, request.sizeBytes);
      })
      .finally(() => this.#running.delete(request.key));
    promise.catch(() => {});
    const shared = { promise, stop, listeners, waiters: 0 };
    this.#running.set(request.key, shared);
    return shared;
  }

  async #fetchOnce(request: TransferRequest): Promise<void> {
    const folder = await this.#claim(request);
    if (folder === null) return;
    let resumed = await hasState(folder);
    for (;;) {
      const state = await PartialFile.open(folder, request, this.#limits);
      let found: Digest;
      try {
        found = await new Transfer(request, state, this.#limits).run();
      } catch (error) {
        // A source that lies is not asked to go on where it was.
        const isLie = error instanceof LocallmError && error.code === "size_mismatch";
        if (isLie) await rm(folder, { recursive: true, force: true });
        throw error;
      } finally {
        await state.close();
      }
      const { expected } = request;
      try {
        if (expected !== null && found !== expected) {
          throw new LocallmError("download_damaged", { expected, found });
        }
        await request.finish(join(folder, "data"), found);
        break;
      } catch (error) {
        // What came whole is kept where it is not at fault, as when it does not fit unpacked on the disk.
        if (!(error instanceof LocallmError) || error.code === "disk_full") throw error;
        await rm(folder, { recursive: true, force: true });
        if (!resumed || error.code !== "download_damaged") throw error;
        resumed = false;
        await this.#claim(request);
      }
    }
    await rm(folder, { recursive: true, force: true });
  }

  async #claim(request: TransferRequest): Promise<string | null> {
    for (;;) {
      request.signal.throwIfAborted();
      if (await request.isDone()) return null;
      const claim = await this.#partials.claim(request.key);
      if ("folder" in claim) return claim.folder;
      request.onProgress?.(await completedBytes(claim.busyFolder));
      await sleep(this.#limits.waitMs, undefined, { signal: request.signal });
    }
  }
}

/** The server ignores ranges: what is there must be fetched from the start, in one stream. */
class RangesIgnored extends Error {}
class Stalled extends Error {}

class Transfer {
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

  /** One part to its end, over as many tries as it takes while bytes keep coming. */
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
        // A busy source may let one part wait, or send it away, while others move; one that fails, fails by itself.
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
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
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
      timer = setTimeout(() => watch.abort(new Stalled("no byte came")), this.#limits.stallMs);
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

  /** Collects what comes to pieces that are worth a write; what was collected is kept when the answer breaks. */
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
      throw new LocallmError("source_failed", { host, reason: "it sent another range than asked for" });
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

/** A status that is no answer. */
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
  // Errors of our own disk carry a system call too; a network's come with these codes.
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

interface Part extends ByteRange {
  completedBytes: number;
}

/** A write costs a turn through the thread pool: few large ones are cheaper than many small ones. */
const writeBytes = 512 * 1024;
const entryBytes = 8;

/**
 * `data` (sparse until complete), `state.json` (key, size, part length, the machine's start) and `done` (bytes of
 * each part that are written, 8 bytes a part). The note may run ahead of the disk when the power fails; the digest
 * tells.
 */
class PartialFile {
  readonly parts: Part[];
  #data: FileHandle;
  #done: FileHandle;
  #noted: number[];
  #hash: FileHash;
  #sizeBytes: number;

  static async open(folder: string, request: TransferRequest, limits: TransferLimits): Promise<PartialFile> {
    const { key, sizeBytes } = request;
    let partBytes = usualPartBytes(sizeBytes, limits);
    const state = await readState(folder);
    const boot = await bootMark();
    // Without a digest nobody would notice what a power failure took: then only a killed process is gone on from.
    const isSafe = request.expected !== null || state?.boot === boot;
    const usable = state !== null && isSafe && state.key === key && state.sizeBytes === sizeBytes;
    if (usable) {
      partBytes = state.partBytes;
    } else {
      await rm(join(folder, "done"), { force: true });
      await requireSpace(folder, sizeBytes);
      const begun = JSON.stringify({ key, sizeBytes, partBytes, boot });
      await writeDurably(join(folder, "state.json"), begun, folder);
    }
    const data = await open(join(folder, "data"), usable ? "a" : "w");
    await data.close();
    const writable = await open(join(folder, "data"), "r+");
    await writable.truncate(sizeBytes);
    const done = await open(join(folder, "done"), "a").then(async (created) => {
      await created.close();
      return await open(join(folder, "done"), "r+");
    });
    const notes = await done.readFile();
    const parts: Part[] = [];
    for (let start = 0; start < sizeBytes; start += partBytes) {
      const end = Math.min(start + partBytes, sizeBytes);
      const at = parts.length * entryBytes;
      const noted = at + entryBytes <= notes.length ? Number(notes.readBigUInt64LE(at)) : 0;
      parts.push({ start, end, completedBytes: noted <= end - start ? noted : 0 });
    }
    return new PartialFile(writable, done, parts, sizeBytes, new FileHash(join(folder, "data"), sizeBytes));
  }

  private constructor(data: FileHandle, done: FileHandle, parts: Part[], sizeBytes: number, hash: FileHash) {
    this.#hash = hash;
    this.#data = data;
    this.#done = done;
    this.parts = parts;
    this.#noted = parts.map((part) => part.completedBytes);
    this.#sizeBytes = sizeBytes;
  }

  get completedBytes(): number {
    return this.parts.reduce((sum, part) => sum + part.completedBytes, 0);
  }

  async write(index: number, pieces: Buffer[]): Promise<void> {
    const part = this.parts[index];
    if (part === undefined) return;
    part.completedBytes += await writeAll(this.#data, pieces, part.start + part.completedBytes);
    this.#hash.advance(this.#wholeBytes());
    await this.#note(index);
  }

  /** Forgets what is there; one part that spans everything. */
  async startOver(): Promise<void> {
    this.parts.splice(0, this.parts.length, { start: 0, end: this.#sizeBytes, completedBytes: 0 });
    this.#noted = [0];
    this.#hash.startOver();
    await this.#done.truncate(0);
  }

  /** Makes the file last while the rest of it is hashed. */
  async digest(signal: AbortSignal): Promise<Digest> {
    this.#hash.advance(this.#sizeBytes);
    const [digest] = await Promise.all([this.#hash.digest(signal), this.#data.sync()]);
    return digest;
  }

  async close(): Promise<void> {
    this.#hash.close();
    for (const index of this.parts.keys()) await this.#note(index);
    await this.#data.close();
    await this.#done.close();
  }

  /** Bytes from the start on without a gap. */
  #wholeBytes(): number {
    let end = 0;
    for (const part of this.parts) {
      end = part.start + part.completedBytes;
      if (end < part.end) break;
    }
    return end;
  }

  async #note(index: number): Promise<void> {
    const completed = this.parts[index]?.completedBytes ?? 0;
    if (this.#noted[index] === completed) return;
    const bytes = Buffer.alloc(entryBytes);
    bytes.writeBigUInt64LE(BigInt(completed));
    await this.#done.write(bytes, 0, entryBytes, index * entryBytes);
    this.#noted[index] = completed;
  }
}

/** Parts small enough that the hash, which needs the bytes in order, is never far behind. */
function usualPartBytes(sizeBytes: number, { parts, partMinBytes, partMaxBytes }: TransferLimits): number {
  const even = Math.ceil(sizeBytes / (8 * parts));
  return Math.max(1, Math.min(Math.max(even, partMinBytes), partMaxBytes, sizeBytes));
}

/** Returns how many bytes that were: all of them, even where the system takes fewer at once. */
async function writeAll(file: FileHandle, pieces: Buffer[], position: number): Promise<number> {
  const sizeBytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  let left = pieces;
  for (let written = 0; written < sizeBytes; ) {
    let { bytesWritten } = await file.writev(left, position + written);
    written += bytesWritten;
    if (written === sizeBytes) break;
    while (bytesWritten >= (left[0]?.length ?? Number.POSITIVE_INFINITY)) {
      bytesWritten -= left[0]?.length ?? 0;
      left = left.slice(1);
    }
    left = left.map((piece, index) => (index === 0 ? piece.subarray(bytesWritten) : piece));
  }
  return sizeBytes;
}

/** The same until the machine starts anew; elsewhere than on Linux always the same. */
async function bootMark(): Promise<string> {
  return await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
}

async function readState(folder: string) {
  try {
    const state: unknown = JSON.parse(await readFile(join(folder, "state.json"), "utf8"));
    const { key, sizeBytes, partBytes, boot } = state as Record<string, unknown>;
    if (typeof sizeBytes !== "number" || typeof partBytes !== "number" || !(partBytes >= 1)) return null;
    return { key, sizeBytes, partBytes, boot };
  } catch {
    return null;
  }
}

async function hasState(folder: string): Promise<boolean> {
  return (await stat(join(folder, "state.json")).catch(() => null)) !== null;
}

async function completedBytes(folder: string): Promise<number> {
  const notes = await readFile(join(folder, "done")).catch(() => Buffer.alloc(0));
  let sum = 0;
  for (let at = 0; at + entryBytes <= notes.length; at += entryBytes)
    sum += Number(notes.readBigUInt64LE(at));
  return sum;
}
