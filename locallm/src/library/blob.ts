import { createHash, randomBytes } from "node:crypto";
import { constants, copyFile, link, open, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { LocallmError } from "../wire/errors.ts";
import { type Digest, digestFromHex, digestHex, digestOf, parseDigest } from "./digest.ts";
import { asWriteError, requireSpace } from "./disk-space.ts";
import { makeFolder, moveDurably, syncFile, writeDurably } from "./durable.ts";

/** How an import put a file into the store: by sharing its blocks, by sharing its inode, or by copying its bytes. */
export type ImportMethod = "reflink" | "hard link" | "copy";

/**
 * Content-addressed files `blobs/sha256-<64 hex>` in Ollama's layout. Blobs appear atomically. Unfinished
 * files are kept in `partial/`, which Ollama ignores.
 */
export class Blobs {
  readonly folder: string;
  readonly partialFolder: string;

  constructor(root: string) {
    this.folder = join(root, "blobs");
    this.partialFolder = join(root, "partial");
  }

  path(digest: Digest): string {
    return join(this.folder, `sha256-${digestHex(digest)}`);
  }

  /**
   * Identifies this models folder on this running system: a hash of the folder's device and inode and of the boot ID.
   * Two processes get the same value only if they use the same folder. Null if the folder does not exist yet.
   */
  async identity(): Promise<string | null> {
    const found = await stat(dirname(this.folder), { bigint: true }).catch(() => null);
    if (!found?.isDirectory()) return null;
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => hostname());
    return digestHex(digestOf([boot.trim(), found.dev, found.ino].join("\n")));
  }

  /** Creates the folder for unfinished files, on the same disk as the blobs, and returns it. */
  async preparedFolder(): Promise<string> {
    try {
      await makeFolder(this.partialFolder);
    } catch (error) {
      throw await asWriteError(error, this.folder, 0);
    }
    return this.partialFolder;
  }

  /** Null if the blob is not in the store. */
  async size(digest: Digest): Promise<number | null> {
    try {
      const found = await stat(this.path(digest));
      return found.isFile() ? found.size : null;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Reads a small blob (configuration, template, licence) as text. Throws `blob_missing` or `blob_too_large`. */
  async readText(digest: Digest, limitBytes = 8 * 1024 * 1024): Promise<string> {
    const size = await this.size(digest);
    if (size === null) throw new LocallmError("blob_missing", { digest });
    if (size > limitBytes) throw new LocallmError("blob_too_large", { digest, limitBytes });
    return await readFile(this.path(digest), "utf8");
  }

  /** Stores a small blob; `isNew` is false if the store already had it. */
  async writeBytes(
    bytes: string | Uint8Array,
  ): Promise<{ digest: Digest; sizeBytes: number; isNew: boolean }> {
    const buffer = Buffer.from(bytes as Uint8Array);
    const digest = digestOf(buffer);
    const isNew = (await this.size(digest)) !== buffer.length;
    if (!isNew) await this.renewAge(digest);
    else await writeDurably(this.path(digest), buffer, this.partialFolder);
    return { digest, sizeBytes: buffer.length, isNew };
  }

  /**
   * Stores a stream and hashes it while writing. Throws `digest_mismatch` if the content differs from `expected` and
   * `disk_full` if `announcedBytes` do not fit on the disk. A failure leaves no files behind.
   */
  async writeStream(
    source: AsyncIterable<Uint8Array>,
    { expected, announcedBytes = 0 }: { expected?: Digest; announcedBytes?: number } = {},
  ): Promise<{ digest: Digest; sizeBytes: number }> {
    await requireSpace(await this.preparedFolder(), announcedBytes);
    const temporary = join(this.partialFolder, `new-${randomBytes(8).toString("hex")}`);
    const hash = createHash("sha256");
    let sizeBytes = 0;
    try {
      const file = await open(temporary, "wx", 0o644);
      try {
        for await (const chunk of source) {
          hash.update(chunk);
          sizeBytes += chunk.length;
          await file.appendFile(chunk);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      const digest = digestFromHex(hash.digest("hex"));
      if (expected !== undefined && digest !== expected) {
        throw new LocallmError("digest_mismatch", { expected, found: digest });
      }
      await moveDurably(temporary, this.path(digest));
      return { digest, sizeBytes };
    } catch (error) {
      throw await asWriteError(error, this.partialFolder, announcedBytes);
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Moves a finished, synced file of the same file system into the store. Its content must have this digest. */
  async adopt(path: string, digest: Digest): Promise<void> {
    await moveDurably(path, this.path(digest));
  }

  /** Imports a file, without copying its bytes if the file system allows. Its content must have this digest. */
  async importFile(path: string, digest: Digest): Promise<ImportMethod> {
    await makeFolder(this.partialFolder);
    const temporary = join(this.partialFolder, `new-${randomBytes(8).toString("hex")}`);
    try {
      const method = await cloneLinkOrCopy(path, temporary);
      await syncFile(temporary);
      await moveDurably(temporary, this.path(digest));
      return method;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Resets the age of an unused blob, so that it is not pruned before a manifest names it. */
  async renewAge(digest: Digest): Promise<void> {
    const path = this.path(digest);
    const found = await stat(path).catch(() => null);
    // Fails harmlessly if the file belongs to another user.
    if (found !== null) await utimes(path, found.atime, found.mtime).catch(() => {});
  }

  async remove(digest: Digest): Promise<void> {
    await rm(this.path(digest), { force: true });
  }

  /** All blobs of the store, unordered. Skips files that are not blobs. */
  async list(): Promise<Digest[]> {
    return (await readFolder(this.folder)).map(parseDigest).filter((digest) => digest !== null);
  }

  /** Reads the whole blob and returns whether its content matches its digest. */
  async verify(digest: Digest, signal?: AbortSignal): Promise<boolean> {
    return (await hashFile(this.path(digest), signal)) === digest;
  }
}

/** sha256 of a file's content. */
export async function hashFile(
  path: string,
  signal?: AbortSignal,
  onProgress?: (readBytes: number) => void,
): Promise<Digest> {
  const hash = createHash("sha256");
  const file = await open(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(1024 * 1024);
    let readBytes = 0;
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return digestFromHex(hash.digest("hex"));
      hash.update(chunk.subarray(0, bytesRead));
      readBytes += bytesRead;
      onProgress?.(readBytes);
    }
  } finally {
    await file.close();
  }
}

export async function readFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOENT" || code === "ENOTDIR";
}

async function cloneLinkOrCopy(from: string, to: string): Promise<ImportMethod> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    return "reflink";
  } catch {}
  await rm(to, { force: true });
  try {
    await link(from, to);
    return "hard link";
  } catch {}
  await copyFile(from, to, constants.COPYFILE_EXCL);
  return "copy";
}
