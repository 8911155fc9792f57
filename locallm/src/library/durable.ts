import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asWriteError } from "./disk-space.ts";

/**
 * Writes a file atomically and durably: writes a temporary file in `temporaryFolder` (on the same file
 * system), syncs it, renames it, and syncs the folder. After a crash the file has either its old or its new
 * content. Throws `disk_full` and `models_unwritable`.
 */
export async function writeDurably(
  path: string,
  bytes: string | Uint8Array,
  temporaryFolder: string,
  mode = 0o644,
): Promise<void> {
  const temporary = join(temporaryFolder, `new-${randomBytes(8).toString("hex")}`);
  try {
    await makeFolder(temporaryFolder);
    const file = await open(temporary, "wx", mode);
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

/** Moves a synced file into place and syncs the folder, so that the move survives a crash. */
export async function moveDurably(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await makeFolder(dirname(to));
    try {
      await rename(from, to);
      break;
    } catch (error) {
      // Another process may have removed the empty folder in between (see removeEmptyFolders).
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === 5) throw error;
    }
  }
  await syncFolder(dirname(to));
}

/**
 * Creates a folder and its parents. Node's recursive `mkdir` loops forever if the system reports ENOENT although the
 * parent exists, as under /proc.
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

/**
 * Ignores the error if the folder exists. The error code alone is not enough, because systems report
 * different codes for the root folder.
 */
async function acceptFolder(folder: string, error: unknown): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true) throw error;
}

/** Windows syncs only files that are open for writing. Elsewhere the file may be read-only, and need not be ours. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, process.platform === "win32" ? "r+" : "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Does nothing on Windows, which cannot open folders and does not need to sync them. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes `folder` and its parents below `root` while they are empty. */
export async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  for (let current = folder; current.startsWith(root) && current !== root; current = dirname(current)) {
    try {
      await rmdir(current);
    } catch {
      return;
    }
  }
}
