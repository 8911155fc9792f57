import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Digest } from "../library/digest.ts";
import { asWriteError } from "../library/disk-space.ts";
import { LocallmError } from "../wire/errors.ts";
import { unlessAborted } from "../wire/unless-aborted.ts";
import type { Partials } from "./partial.ts";
import { completedBytes, hasState, PartialFile } from "./partial-file.ts";
import { Transfer } from "./transfer.ts";
import type { TransferLimits, TransferRequest } from "./transfer-request.ts";

const usualLimits: TransferLimits = {
  parts: 8,
  partMinBytes: 8 * 1024 * 1024,
  partMaxBytes: 64 * 1024 * 1024,
  stallMs: 30_000,
  tries: 6,
  retryDelayMs: 1000,
  waitMs: 250,
};

/** A transfer that several requests share. */
interface SharedTransfer {
  promise: Promise<void>;
  stop: AbortController;
  listeners: Set<(completedBytes: number) => void>;
  waiters: number;
}

/**
 * Downloads into `partial/` in several parallel ranges and hashes the bytes as they arrive. Resumes the
 * download of a killed process. Requests for the same content share one download, which stops when the last
 * of them is cancelled. If a file is damaged after a resume, it is downloaded once more from the start.
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
    // All requests of this download were cancelled. It is stopping but still uses its folder.
    while (shared?.stop.signal.aborted) {
      await shared.promise.catch(() => {});
      request.signal.throwIfAborted();
      shared = this.#running.get(request.key);
    }
    shared ??= this.#start(request);
    const listener = (completedBytes: number) => request.onProgress?.(completedBytes);
    shared.listeners.add(listener);
    shared.waiters += 1;
    try {
      await unlessAborted(shared.promise, request.signal);
    } finally {
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
    let folder = await this.#claim(request);
    if (folder === null) return;
    let resumed = await hasState(folder);
    for (;;) {
      const state = await PartialFile.open(folder, request, this.#limits);
      let found: Digest;
      try {
        found = await new Transfer(request, state, this.#limits).run();
      } catch (error) {
        // Do not resume if the source reports a different size.
        const isWrongSize = error instanceof LocallmError && error.code === "size_mismatch";
        if (isWrongSize) await rm(folder, { recursive: true, force: true });
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
        // Keep the complete file if it is not the cause, for example if the disk is too full to unpack it.
        if (!(error instanceof LocallmError) || error.code === "disk_full") throw error;
        await rm(folder, { recursive: true, force: true });
        if (!resumed || error.code !== "download_damaged") throw error;
        resumed = false;
        folder = await this.#claim(request);
        if (folder === null) return;
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
