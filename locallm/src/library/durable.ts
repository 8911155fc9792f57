import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asWriteError } from "./disk-space.ts";

/**
 * Writes a whole file so that after a crash either the old content stands or the new one, never a mix:
 * temporary file in `temporaryFolder` (same file system), fsync, rename, fsync of the folder. Throws `disk_full` and
 * `models_unwritable`.
 */
export async function writeDurably(
  path: string,
  bytes: string | Uint8Array,
  temporaryFolder: string,
): Promise<void> {
  const temporary = join(temporaryFolder, `new-${randomBytes(8).toString("hex")}`);
  try {
    await makeFolder(temporaryFolder);
    const file = await open(temporary, "wx", 0o644);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await moveDurably(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw await asWriteError(error, temporaryFolder, Buffer.byteLength(bytes));
  }
}

/** Moves a finished, already synced file into place and makes the move itself last. */
export async function moveDurably(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await makeFolder(dirname(to));
    try {
      await rename(from, to);
      break;
    } catch (error) {
      // Another process may remove the empty folder between the two steps (see removeEmptyFolders).
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === 5) throw error;
    }
  }
  await syncFolder(dirname(to));
}

/**
 * A folder and those above it. Node's own recursive way never ends where the system says of a new folder that its
 * parent is missing and the parent is there, as below /proc.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && dirname(folder) !== folder) {
      await makeFolder(dirname(folder));
      await mkdir(folder).catch((again) => acceptFolder(folder, again));
    } else {
      await acceptFolder(folder, error);
    }
  }
}

/** It may stand already, or be the root, of which systems say many things. */
async function acceptFolder(folder: string, error: unknown): Promise<void> {
  const there = await stat(folder).catch(() => null);
  if (there?.isDirectory() !== true) throw error;
}

/** Windows cannot open folders and needs no sync of them. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes `folder` and its parents below `root` as long as they are empty. */
export async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  for (let current = folder; current.startsWith(root) && current !== root; current = dirname(current)) {
    try {
      await rmdir(current);
    } catch {
      return;
    }
  }
}
