import { rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing, readFolder } from "../library/blob.ts";
import { type Digest, digestHex } from "../library/digest.ts";
import { makeFolder } from "../library/durable.ts";
import { hostKey, isOwnerAlive, ownerName } from "../library/owner.ts";

/**
 * Unfinished downloads, one folder each: `partial/<64 hex>.<owner>/`. Only the owning process writes to it. If the
 * owner is dead, another process takes over by renaming the folder to its own name. Only one rename can succeed, so no
 * lock file is needed that could outlive its owner.
 */
export class Partials {
  readonly folder: string;
  #me: Promise<string> | null = null;

  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Returns this process's folder for the content: its existing one, one left by a dead process, or a new one.
   * Returns `busyFolder` if another living process is downloading the content.
   */
  async claim(digest: Digest): Promise<{ folder: string } | { busyFolder: string }> {
    const mine = join(this.folder, `${digestHex(digest)}.${await this.#owner()}`);
    await makeFolder(this.folder);
    await this.#removeShells();
    for (;;) {
      const others = (await readFolder(this.folder)).filter((name) =>
        name.startsWith(`${digestHex(digest)}.`),
      );
      const free: string[] = [];
      for (const name of others) {
        const path = join(this.folder, name);
        if (path === mine) return { folder: mine };
        if (await isAlive(path, name.slice(65))) return { busyFolder: path };
        free.push(path);
      }
      const left = free[0];
      if (left === undefined) {
        await makeFolder(mine);
        return { folder: mine };
      }
      try {
        await rename(left, mine);
        return { folder: mine };
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
  }

  /** Removes folders without data, which a process leaves if it is killed right after its file moved to the store. */
  async #removeShells(): Promise<void> {
    for (const name of await readFolder(this.folder)) {
      const path = join(this.folder, name);
      if (!/^[0-9a-f]{64}\./.test(name) || name.slice(65).split(".")[0] !== hostKey()) continue;
      const hasNotes = (await stat(join(path, "state.json")).catch(() => null)) !== null;
      const hasData = (await stat(join(path, "data")).catch(() => null)) !== null;
      if (hasNotes && !hasData && !(await isAlive(path, name.slice(65)))) {
        await rm(path, { recursive: true, force: true });
      }
    }
  }

  /** Removes the downloads of dead processes. Returns the freed bytes, or with `dryRun` the bytes it would free. */
  async clean({ dryRun }: { dryRun: boolean }): Promise<{ folders: number; sizeBytes: number }> {
    let folders = 0;
    let sizeBytes = 0;
    for (const name of await readFolder(this.folder)) {
      const path = join(this.folder, name);
      const isDownload = /^[0-9a-f]{64}\./.test(name);
      if (isDownload && (await isAlive(path, name.slice(65)))) continue;
      // A young file may be being written right now; an old one was left by a crash.
      if (!isDownload && (await ageMs(path)) < foreignPatienceMs) continue;
      folders += 1;
      sizeBytes += await diskBytes(path);
      if (!dryRun) await rm(path, { recursive: true, force: true });
    }
    return { folders, sizeBytes };
  }

  #owner(): Promise<string> {
    this.#me ??= ownerName();
    return this.#me;
  }
}

/** A download of another machine (in a shared folder) counts as abandoned after this time without a write. */
const foreignPatienceMs = 10 * 60_000;

async function isAlive(path: string, owner: string): Promise<boolean> {
  return (await isOwnerAlive(owner)) ?? (await ageMs(join(path, "data"))) < foreignPatienceMs;
}

async function ageMs(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found === null ? Number.POSITIVE_INFINITY : Date.now() - found.mtimeMs;
}

/** Blocks on disk, because a download's file is sparse until it is full. */
async function diskBytes(path: string): Promise<number> {
  const found = await stat(path).catch(() => null);
  if (found === null) return 0;
  if (!found.isDirectory()) return found.blocks * 512;
  let sum = 0;
  for (const name of await readFolder(path)) sum += await diskBytes(join(path, name));
  return sum;
}
