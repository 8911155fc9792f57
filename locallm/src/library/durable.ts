import { randomBytes } from "node:crypto";
import { mkdir, open, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Writes a whole file so that after a crash either the old content stands or the new one, never a mix:
 * temporary file in `temporaryFolder` (same file system), fsync, rename, fsync of the folder.
 */
export async function writeDurably(
  path: string,
  bytes: string | Uint8Array,
  temporaryFolder: string,
): Promise<void> {
  await mkdir(temporaryFolder, { recursive: true });
  const temporary = join(temporaryFolder, `new-${randomBytes(8).toString("hex")}`);
  try {
    const file = await open(temporary, "wx", 0o644);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await moveDurably(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Moves a finished, already synced file into place and makes the move itself last. */
export async function moveDurably(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await mkdir(dirname(to), { recursive: true });
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
