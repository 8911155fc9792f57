import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync } from "node:fs";
import { basename } from "node:path";
import { release } from "../engine/libllama/release.ts";
import type { Conversations, Shelf } from "../runner/handle.ts";
import type { KeptEntry } from "../wire/inference/kept-state.ts";
import type { LoadRequest } from "../wire/inference/load.ts";
import type { StateFile, StateFiles } from "./state-files.ts";

export interface ConversationLimits {
  /** The memory limit. 0 means that nothing is kept. */
  readonly memoryBytes: number;
  /** Returns the memory that this process can still allocate. */
  readonly availableBytes: () => number;
}

/** Figures for `ps` and metrics. */
export interface ConversationsView {
  readonly memory: { readonly count: number; readonly bytes: number; readonly limitBytes: number };
  /** Null if states are not written to disk. */
  readonly disk: { readonly count: number; readonly bytes: number; readonly limitBytes: number } | null;
}

type Moved = (id: number, entry: KeptEntry | null) => void;

/** The state of one conversation: in memory, on disk, or both. */
interface Kept {
  readonly id: number;
  readonly group: string;
  readonly bytes: number;
  /** Our descriptor of the state's memory. `reserved` means that a runner is writing to it. */
  memory: number | "reserved" | null;
  file: StateFile | null;
}

/** The maximum number of states in memory, because each needs a descriptor. */
const mostInMemory = 512;
/** The largest share of the available memory that one state may use. */
const availableShare = 0.5;

/**
 * The states of conversations whose slot was given to another conversation. Runners write them into shared
 * memory. This process holds its descriptors, so the states outlive the runner but not this process. If
 * memory exceeds its limit, the least recently used state is dropped first. With `StateFiles`, each state is
 * also written to disk.
 */
export class KeptConversations implements Conversations {
  readonly #limits: ConversationLimits;
  readonly #files: StateFiles | null;
  readonly #shelves = new Map<Moved, string>();
  /** The states by number, least recently used first. */
  readonly #kept = new Map<number, Kept>();
  #ids = 0;
  #memoryBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #isClosing = false;

  constructor(limits: ConversationLimits, files: StateFiles | null = null) {
    this.#limits = limits;
    this.#files = files;
    for (const file of files?.found ?? [])
      this.#add({ id: ++this.#ids, group: file.group, bytes: file.bytes, memory: null, file });
  }

  open(load: LoadRequest, moved: Moved): Shelf | null {
    const group = groupOf(load);
    if (group === null || this.#limits.memoryBytes === 0) return null;
    this.#shelves.set(moved, group);
    const reserved = new Set<number>();
    return {
      group,
      entries: () =>
        [...this.#kept.values()]
          .filter((kept) => kept.group === group)
          .map(entryOf)
          .filter((entry) => entry !== null),
      reserve: (bytes) => {
        const id = this.#reserve(group, bytes);
        if (id !== null) reserved.add(id);
        return id;
      },
      keep: (id, path, replaced) => {
        if (reserved.delete(id)) this.#keep(id, path, replaced);
      },
      used: (id) => this.#used(id),
      release: (id) => {
        reserved.delete(id);
        this.#used(id);
        this.#leaveMemory(id);
      },
      damaged: (id) => this.#drop(id),
      close: () => {
        this.#shelves.delete(moved);
        for (const id of reserved) this.#drop(id);
      },
    };
  }

  /** Discards states until this many bytes are available, or no state is left in memory. */
  makeRoom(bytes: number): void {
    for (const { id, memory } of [...this.#kept.values()]) {
      if (this.#limits.availableBytes() >= bytes) return;
      if (typeof memory === "number") this.#leaveMemory(id);
    }
  }

  /** The memory that `makeRoom` can release. */
  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  view(): ConversationsView {
    const all = [...this.#kept.values()];
    const inMemory = all.filter(({ memory }) => typeof memory === "number");
    return {
      memory: {
        count: inMemory.length,
        bytes: this.#memoryBytes,
        limitBytes: this.#limits.memoryBytes,
      },
      disk:
        this.#files === null
          ? null
          : {
              count: all.filter(({ file }) => file !== null).length,
              bytes: this.#files.bytes,
              limitBytes: this.#files.limitBytes,
            },
    };
  }

  /**
   * Called before the server stops. From then on, ending runners save nothing that would stay only in memory.
   */
  closing(): void {
    this.#isClosing = true;
  }

  /** Resolves when everything is written, then releases the memory. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#files?.close();
    for (const { memory } of this.#kept.values()) if (typeof memory === "number") closeSync(memory);
    this.#kept.clear();
    this.#memoryBytes = 0;
  }

  #reserve(group: string, bytes: number): number | null {
    const { memoryBytes, availableBytes } = this.#limits;
    if (this.#isClosing && this.#files === null) return null;
    if (bytes > memoryBytes || bytes > availableBytes() * availableShare) return null;
    while (this.#memoryBytes + bytes > memoryBytes || this.#countInMemory() >= mostInMemory) {
      const oldest = [...this.#kept.values()].find(({ memory }) => typeof memory === "number");
      // Other runners are writing the rest.
      if (oldest === undefined) return null;
      this.#leaveMemory(oldest.id);
    }
    const id = ++this.#ids;
    this.#add({ id, group, bytes, memory: "reserved", file: null });
    this.#memoryBytes += bytes;
    return id;
  }

  #countInMemory(): number {
    let count = 0;
    for (const { memory } of this.#kept.values()) if (memory !== null) count++;
    return count;
  }

  #keep(id: number, path: string, replaced: readonly number[]): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    let fd: number | null = null;
    try {
      fd = openSync(path, "r");
      if (fstatSync(fd).size !== kept.bytes) throw new Error("another size");
      kept.memory = fd;
    } catch {
      if (fd !== null) closeSync(fd);
      this.#drop(id);
      return;
    }
    this.#tell(kept);
    const older = replaced.filter((each) => this.#kept.get(each)?.group === kept.group);
    for (const each of older) this.#leaveMemory(each);
    if (this.#files === null) return;
    this.#writing = this.#writing.then(async () => {
      await this.#write(kept);
      // The new version must exist before the old one is removed.
      if (kept.file !== null) for (const each of older) this.#drop(each);
    });
  }

  async #write(kept: Kept): Promise<void> {
    const files = this.#files!;
    if (typeof kept.memory !== "number" || !this.#kept.has(kept.id)) return;
    for (const old of this.#kept.values()) {
      if (files.bytes + kept.bytes <= files.limitBytes) break;
      if (old.file !== null) this.#leaveDisk(old);
    }
    const file = await files.write(kept.memory, kept.bytes, () => this.#kept.has(kept.id));
    if (file === null) return;
    // A state of the same tokens has the same path, so this file replaced that state's file.
    for (const same of this.#kept.values()) {
      if (same.file?.path !== file.path) continue;
      same.file = null;
      if (same.memory === null) this.#drop(same.id);
    }
    if (this.#kept.has(kept.id)) kept.file = file;
    else files.remove(file);
  }

  #used(id: number): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    if (kept.file !== null) this.#files?.used(kept.file);
  }

  /** Releases the state's memory. A copy on disk stays. */
  #leaveMemory(id: number): void {
    const kept = this.#kept.get(id);
    if (kept === undefined || kept.memory === null) return;
    if (kept.file === null) {
      this.#drop(id);
      return;
    }
    this.#freeMemory(kept);
    this.#tell(kept);
  }

  #leaveDisk(kept: Kept): void {
    this.#files!.remove(kept.file!);
    kept.file = null;
    if (kept.memory === null) this.#drop(kept.id);
  }

  #drop(id: number): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    this.#freeMemory(kept);
    if (kept.file !== null) this.#files?.remove(kept.file);
    kept.file = null;
    this.#tell(kept);
  }

  #freeMemory(kept: Kept): void {
    if (kept.memory === null) return;
    if (typeof kept.memory === "number") closeSync(kept.memory);
    kept.memory = null;
    this.#memoryBytes -= kept.bytes;
  }

  #add(kept: Kept): void {
    this.#kept.set(kept.id, kept);
  }

  #tell(kept: Kept): void {
    for (const [moved, group] of this.#shelves) if (group === kept.group) moved(kept.id, entryOf(kept));
  }
}

function entryOf({ id, memory, file }: Kept): KeptEntry | null {
  if (typeof memory === "number") return { id, path: `/proc/${process.pid}/fd/${memory}`, isOnDisk: false };
  return file === null ? null : { id, path: file.path, isOnDisk: true };
}

/**
 * Identifies what two loads must have in common so that one can restore the other's states: weights and
 * adapters, the type of the cache, and the engine's way of computing it. Returns null if a file is not named
 * by its digest, because its content could then differ.
 */
export function groupOf(load: LoadRequest): string | null {
  const files = [load.modelPath, ...(load.furtherPaths ?? []), ...load.adapters.map(({ path }) => path)];
  const digests = files.map((path) => basename(path));
  if (!digests.every((name) => /^sha256-[0-9a-f]{64}$/.test(name))) return null;
  const scales = load.adapters.map(({ scale }) => scale);
  const { kvCacheType, flashAttention } = load;
  // A state also records how many caches the context had.
  const slots = load.cells === undefined ? load.slots : { shared: load.slots };
  return createHash("sha256")
    .update(JSON.stringify([digests, scales, kvCacheType, flashAttention, slots, release]))
    .digest("hex");
}
