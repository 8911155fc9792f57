import { closeSync, openSync, readSync } from "node:fs";
import { open } from "node:fs/promises";
import {
  checksumAt,
  checksumEnd,
  decodeHead,
  encodeHead,
  headBytes,
  headerBytes,
  type KeptEntry,
  type KeptState,
  layOut,
  stateName,
} from "../../wire/inference/kept-state.ts";
import type { Checkpoint } from "../checkpoints.ts";
import type { Context } from "../context.ts";
import type { Pictures } from "../pictures.ts";
import { commonLength } from "../prefix.ts";
import type { Slot } from "../slot.ts";
import { SharedMemory } from "./shared-memory.ts";

/** The server's side: it decides how much is kept, and holds the states after this process has ended. */
export interface StateKeeper {
  /** Returns the number of a reserved place of this size, or null if there is none. */
  reserve(bytes: number): Promise<number | null>;
  /** Reports that the place is filled. `replaced` are older versions of the same conversation. */
  kept(id: number, fd: number, replaced: readonly number[]): void;
  /** Reports that the state was restored and is still kept. */
  used(id: number): void;
  /** Reports that the place is not needed: nothing was written, or a slot holds the conversation again. */
  release(id: number): void;
  /** Reports that the state cannot be restored. */
  damaged(id: number): void;
}

/** A state that this process can restore. */
interface Known {
  readonly id: number;
  readonly state: KeptState;
  /** The state's tokens with the pictures' numbers in this process. */
  readonly cells: Int32Array;
  path: string;
  isOnDisk: boolean;
  /** Our own descriptor. Null once the keeper has one. */
  fd: number | null;
}

/** A state that contains the beginning of a prompt. */
export interface Found {
  readonly known: Known;
  /** How many of the prompt's first tokens it contains. */
  readonly common: number;
  /** Prompt tokens that need not be computed. */
  readonly tokens: number;
}

/**
 * A state must save at least this share of the tokens: restoring it and saving the slot's cache take about
 * 1/100 of the time that it takes to compute the same tokens.
 */
const worthwhileShare = 1 / 64;
/** Shorter beginnings are computed again, because restoring them takes just as long. */
const leastTokens = 32;
const chunkBytes = 4 * 2 ** 20;

export interface KeptStatesRequest {
  readonly context: Context;
  readonly pictures: Pictures;
  readonly keeper: StateKeeper;
  /** What states and this load must have in common. */
  readonly group: string;
  /** The window that states must match, or 0 if states of all windows fit. */
  readonly window: number;
}

/**
 * An index, by cells, of the cached states of conversations that lost their slot. The keeper owns the
 * states, which are in shared memory or on disk.
 */
export class KeptStates {
  readonly #context: Context;
  readonly #pictures: Pictures;
  readonly #keeper: StateKeeper;
  readonly #group: string;
  readonly #window: number;
  readonly #known = new Map<number, Known>();

  constructor({ context, pictures, keeper, group, window }: KeptStatesRequest) {
    this.#context = context;
    this.#pictures = pictures;
    this.#keeper = keeper;
    this.#group = group;
    this.#window = window;
  }

  /** Records where a state is now. Null means that it no longer exists. */
  place(id: number, entry: KeptEntry | null): void {
    const known = this.#known.get(id);
    if (known?.fd != null) {
      closeSync(known.fd);
      known.fd = null;
    }
    if (entry === null) {
      this.#known.delete(id);
    } else if (known !== undefined) {
      known.path = entry.path;
      known.isOnDisk = entry.isOnDisk;
    } else {
      const state = readState(entry.path);
      const fits = state?.group === this.#group && (state.window === 0 || state.window === this.#window);
      if (state !== null && fits && state.tokens.length <= this.#context.contextPerSequence)
        this.#known.set(id, { ...entry, state, cells: this.#cellsOf(state), fd: null });
    }
  }

  #cellsOf({ tokens, pictures }: KeptState): Int32Array {
    return this.#pictures.numbered(tokens, pictures);
  }

  /** The cells of all states. */
  *cells(): Iterable<Int32Array> {
    for (const { cells } of this.#known.values()) yield cells;
  }

  /**
   * Returns the state that contains most of a prompt, if restoring it saves enough compared to the `had`
   * tokens that a slot already holds.
   */
  find(prompt: readonly number[], had: number): Found | null {
    let best: Found | null = null;
    for (const known of this.#known.values()) {
      const common = commonLength(known.cells, prompt);
      const tokens = this.#usable(known, Math.min(common, prompt.length - 1));
      const least = Math.max(leastTokens, known.state.tokens.length * worthwhileShare);
      if (tokens >= had + least && tokens > (best?.tokens ?? 0)) best = { known, common, tokens };
    }
    return best;
  }

  /** How many of a state's first tokens can be restored, at most `most`. */
  #usable({ cells, state: { parts } }: Known, most: number): number {
    if (this.#context.cutsAnywhere(cells.length)) return this.#pictures.borderBefore(cells, most);
    return Math.max(0, ...parts.map((part) => part.tokens).filter((length) => length <= most));
  }

  /** Returns how many of a prompt's first tokens any state contains. */
  longestCommon(prompt: readonly number[]): number {
    let longest = 0;
    for (const { cells } of this.#known.values()) longest = Math.max(longest, commonLength(cells, prompt));
    return longest;
  }

  /**
   * Whether a slot's cache should be kept before a prompt takes it that has its first `common` tokens. It is not kept
   * if only its last answer is dropped: clients render answers in their own way, so most continued conversations drop
   * it.
   */
  isWorthKeeping(slot: Slot, common: number): boolean {
    const { cached } = slot;
    if (slot.isShifted || slot.isTuned || common >= Math.min(slot.promptTokens, cached.length)) return false;
    return cached.length - common >= Math.max(leastTokens, cached.length * worthwhileShare);
  }

  /**
   * Keeps the content of a slot's cache. Never throws, because a state that was not kept is computed again.
   */
  async keep(slot: Slot): Promise<void> {
    const context = this.#context;
    const same = this.#holding(slot.cached);
    if (same !== null) {
      this.#keeper.used(same.id);
      return;
    }
    const bytes = context.stateBytes(slot.index);
    const checkpoints = slot.checkpoints.within(bytes);
    const { cells: tokens, pictures } = this.#pictures.listed(slot.cached);
    const { parts, totalBytes } = layOut(tokens.length, pictures.length, [
      { tokens: slot.cached.length, bytes },
      ...checkpoints.map((one) => ({ tokens: one.tokens, bytes: one.bytes.length })),
    ]);
    const id = await this.#keeper.reserve(totalBytes);
    if (id === null) return;
    const content = { group: this.#group, window: this.#window, tokens, pictures };
    const state: KeptState = {
      ...content,
      name: await stateName(content),
      promptTokens: Math.min(slot.promptTokens, tokens.length),
      parts,
    };
    const cells = this.#cellsOf(state);
    const memory = await this.#write(state, slot.index, checkpoints);
    if (memory === null) {
      this.#keeper.release(id);
      return;
    }
    const replaced = [...this.#known.values()].filter(
      (known) => known.id === slot.restoredFrom || isBeginning(known.cells, cells),
    );
    for (const known of replaced) this.place(known.id, null);
    this.#known.set(id, {
      id,
      state,
      cells,
      path: `/proc/self/fd/${memory.fd}`,
      isOnDisk: false,
      fd: memory.fd,
    });
    this.#keeper.kept(
      id,
      memory.fd,
      replaced.map((known) => known.id),
    );
  }

  async #write(
    state: KeptState,
    sequence: number,
    checkpoints: readonly Checkpoint[],
  ): Promise<SharedMemory | null> {
    let memory: SharedMemory;
    try {
      memory = SharedMemory.create(
        layOut(state.tokens.length, state.pictures.length, state.parts).totalBytes,
      );
    } catch {
      return null;
    }
    const head = encodeHead(state);
    memory.view(0, head.length).set(head);
    const [whole, ...others] = state.parts;
    for (const [index, part] of others.entries())
      memory.view(part.offset, part.bytes).set(checkpoints[index]!.bytes);
    const isWritten = await this.#context.saveState(sequence, memory, whole!).catch(() => false);
    if (isWritten) memory.unmap();
    else memory.close();
    return isWritten ? memory : null;
  }

  #holding(cached: readonly number[]): Known | null {
    for (const known of this.#known.values()) {
      if (commonLength(cached, known.cells) === cached.length) return known;
    }
    return null;
  }

  /** Fills a slot's cache. Returns false if the state could not be restored; the slot is then empty. */
  async restore({ known, common }: Found, slot: Slot): Promise<boolean> {
    const { state, cells, id } = known;
    const memory = known.isOnDisk ? await verifiedCopy(known) : openKept(known);
    const isRestored = memory !== null && (await this.#load(state, cells, memory, slot).catch(() => false));
    memory?.close();
    if (!isRestored) {
      this.place(id, null);
      this.#keeper.damaged(id);
      return false;
    }
    slot.restoredFrom = id;
    // The conversation continues in the slot, so the state is released. If a prompt shares only its
    // beginning, the state stays.
    if (common < state.promptTokens - 1) {
      this.#keeper.used(id);
    } else {
      if (!known.isOnDisk) this.place(id, null);
      this.#keeper.release(id);
    }
    return true;
  }

  async #load(state: KeptState, cells: Int32Array, memory: SharedMemory, slot: Slot): Promise<boolean> {
    const context = this.#context;
    const [whole, ...others] = state.parts;
    if (!(await context.loadState(slot.index, memory, whole!))) return false;
    if (context.lastPosition(slot.index) !== this.#pictures.positionAt(cells, cells.length - 1)) return false;
    slot.holds(cells, state.promptTokens);
    slot.checkpoints.cut(0);
    for (const { tokens: held, offset, bytes } of others)
      slot.checkpoints.addCopy({ tokens: held, bytes: memory.view(offset, bytes) });
    return true;
  }
}

/**
 * Opens the state's memory. Returns null if the path leads to another state: its descriptor may have been
 * closed and its number reused.
 */
function openKept({ path, state }: Known): SharedMemory | null {
  try {
    const memory = SharedMemory.open(path);
    const head = encodeHead(state);
    if (memory.bytes >= head.length && isSameHead(memory.view(0, head.length), head)) return memory;
    memory.close();
  } catch {}
  return null;
}

/** Whether header and tokens are equal. Ignores the checksum. */
function isSameHead(bytes: Uint8Array, head: Buffer): boolean {
  const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (
    found.subarray(0, checksumAt).equals(head.subarray(0, checksumAt)) &&
    found.subarray(checksumEnd).equals(head.subarray(checksumEnd))
  );
}

/** Copies a file into our own memory, where nothing can change it, and compares its checksum. */
async function verifiedCopy({ path, state }: Known): Promise<SharedMemory | null> {
  const { createHash } = await import("node:crypto");
  const { totalBytes } = layOut(state.tokens.length, state.pictures.length, state.parts);
  const head = encodeHead(state);
  let memory: SharedMemory | null = null;
  try {
    memory = SharedMemory.create(totalBytes);
    const file = await open(path, "r");
    try {
      for (let at = 0; at < totalBytes; at += chunkBytes) {
        const length = Math.min(chunkBytes, totalBytes - at);
        const { bytesRead } = await file.read(memory.view(at, length), 0, length, at);
        if (bytesRead !== length) throw new Error("too short");
      }
    } finally {
      await file.close();
    }
    const hash = createHash("sha256").update(memory.view(0, checksumAt));
    for (let at = checksumEnd; at < totalBytes; at += chunkBytes) {
      hash.update(memory.view(at, Math.min(chunkBytes, totalBytes - at)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const expected = memory.view(checksumAt, checksumEnd - checksumAt);
    if (hash.digest().equals(expected) && isSameHead(memory.view(0, head.length), head)) return memory;
  } catch {}
  memory?.close();
  return null;
}

/** Reads a state's header and tokens. Returns null if the file is gone or damaged. */
function readState(path: string): KeptState | null {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return null;
  }
  try {
    const header = Buffer.alloc(headerBytes);
    if (readSync(fd, header, 0, headerBytes, 0) !== headerBytes) return null;
    const length = headBytes(header);
    if (length === null) return null;
    const head = Buffer.alloc(length);
    if (readSync(fd, head, 0, length, 0) !== length) return null;
    return decodeHead(head);
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

function isBeginning(beginning: Int32Array, tokens: Int32Array): boolean {
  return beginning.length <= tokens.length && commonLength(beginning, tokens) === beginning.length;
}
