import { createHash } from "node:crypto";
import { type FileHandle, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import {
  checksumAt,
  checksumEnd,
  decodeHead,
  headBytes,
  headerBytes,
  layOut,
  stateName,
} from "../wire/inference/kept-state.ts";

export interface StateFile {
  readonly path: string;
  readonly group: string;
  readonly bytes: number;
}

export interface StateFilesRequest {
  readonly folder: string;
  readonly limitBytes: number;
  readonly now: () => Date;
  /** Called once for each failure; the conversation is then kept in memory only. */
  readonly onProblem: (problem: string, error: unknown) => void;
}

const chunkBytes = 2 ** 20;
const stateFile = /^[0-9a-f]{64}\.state$/;
const partialFile = /^[0-9a-f]{64}\.(\d+)\.partial$/;

/**
 * The states on disk. Each state has one private file, whose name is the hash of the model, window and tokens
 * it belongs to. A checksum lets the runner verify it before restoring it. A file gets its final name only
 * when it is complete and synced.
 */
export class StateFiles {
  readonly limitBytes: number;
  /** The files found at the start, least recently used first. */
  readonly found: readonly StateFile[];
  readonly #request: StateFilesRequest;
  #bytes = 0;
  #removing: Promise<unknown> = Promise.resolve();

  private constructor(request: StateFilesRequest, found: readonly StateFile[]) {
    this.#request = request;
    this.limitBytes = request.limitBytes;
    this.found = found;
    this.#bytes = found.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Removes what a killed server left over, damaged files, and the oldest ones beyond the limit. The folder must exist. */
  static async open(request: StateFilesRequest): Promise<StateFiles> {
    const { folder, limitBytes } = request;
    const whole: { file: StateFile; usedMs: number }[] = [];
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const writer = partialFile.exec(name)?.[1];
      if (writer !== undefined && !isRunning(Number(writer))) await rm(path, { force: true });
      if (!stateFile.test(name)) continue;
      const found = await look(path, name.slice(0, 64)).catch(() => null);
      if (found === null) await rm(path, { force: true });
      else whole.push(found);
    }
    whole.sort((a, b) => b.usedMs - a.usedMs);
    const kept: StateFile[] = [];
    let bytes = 0;
    for (const { file } of whole) {
      if (bytes + file.bytes <= limitBytes) {
        bytes += file.bytes;
        kept.unshift(file);
      } else await rm(file.path, { force: true });
    }
    return new StateFiles(request, kept);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Copies a state from memory. Returns null if it does not fit, could not be written, or is no longer needed. */
  async write(memory: number, bytes: number, isWanted: () => boolean): Promise<StateFile | null> {
    if (this.#bytes + bytes > this.limitBytes) return null;
    let temporary: string | null = null;
    // A separate descriptor, because the memory's own may be closed meanwhile.
    const from = await open(`/proc/self/fd/${memory}`, "r").catch(() => null);
    if (from === null) return null;
    try {
      const state = await readHead(from);
      if (state === null) return null;
      const path = join(this.#request.folder, `${state.name}.state`);
      temporary = join(this.#request.folder, `${state.name}.${process.pid}.partial`);
      const to = await open(temporary, "w", 0o600);
      try {
        if (!(await copyWithChecksum(from, to, bytes, isWanted))) return null;
        await to.datasync();
      } finally {
        await to.close();
      }
      const replacedBytes = await stat(path).then(
        ({ size }) => size,
        () => 0,
      );
      await rename(temporary, path);
      temporary = null;
      this.#bytes += bytes - replacedBytes;
      return { path, group: state.group, bytes };
    } catch (error) {
      this.#request.onProblem("cannot write a conversation to disk", error);
      return null;
    } finally {
      await from.close();
      if (temporary !== null) await rm(temporary, { force: true }).catch(() => {});
    }
  }

  /** Records the last use on disk, so that the order in which files are removed survives a restart. */
  used({ path }: StateFile): void {
    const now = this.#request.now();
    utimes(path, now, now).catch(() => {});
  }

  remove({ path, bytes }: StateFile): void {
    this.#bytes -= bytes;
    const removal = rm(path, { force: true }).catch((error) =>
      this.#request.onProblem("cannot remove a conversation from disk", error),
    );
    this.#removing = Promise.all([this.#removing, removal]);
  }

  /** Resolves once all removed files are gone. */
  async close(): Promise<void> {
    await this.#removing;
  }
}

/** Returns false if the state is no longer needed. */
async function copyWithChecksum(
  from: FileHandle,
  to: FileHandle,
  bytes: number,
  isWanted: () => boolean,
): Promise<boolean> {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(chunkBytes);
  for (let at = 0; at < bytes; at += chunkBytes) {
    if (!isWanted()) return false;
    const length = Math.min(chunkBytes, bytes - at);
    const { bytesRead } = await from.read(chunk, 0, length, at);
    if (bytesRead !== length) throw new Error("the memory is shorter than the state");
    const part = chunk.subarray(0, length);
    if (at === 0) hash.update(part.subarray(0, checksumAt)).update(part.subarray(checksumEnd));
    else hash.update(part);
    await to.write(part, 0, length, at);
  }
  await to.write(hash.digest(), 0, checksumEnd - checksumAt, checksumAt);
  return true;
}

async function look(path: string, name: string): Promise<{ file: StateFile; usedMs: number } | null> {
  const handle = await open(path, "r");
  try {
    const { size, mtimeMs } = await handle.stat();
    const state = await readHead(handle);
    if (
      state?.name !== name ||
      layOut(state.tokens.length, state.pictures.length, state.parts).totalBytes !== size
    )
      return null;
    if ((await stateName(state)) !== name) return null;
    return { file: { path, group: state.group, bytes: size }, usedMs: mtimeMs };
  } finally {
    await handle.close();
  }
}

async function readHead(handle: FileHandle) {
  const header = Buffer.alloc(headerBytes);
  if ((await handle.read(header, 0, headerBytes, 0)).bytesRead !== headerBytes) return null;
  const length = headBytes(header);
  if (length === null) return null;
  const head = Buffer.alloc(length);
  const { bytesRead } = await handle.read(head, 0, length, 0);
  return bytesRead === length ? decodeHead(head) : null;
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
