import { statfs } from "node:fs/promises";
import { LocallmError } from "../wire/errors.ts";

/** Bytes that this process may still write below an existing folder. */
export async function freeBytes(folder: string): Promise<number> {
  const found = await statfs(folder);
  return found.bavail * found.bsize;
}

/** Throws `disk_full` where less than `needBytes` is free. */
export async function requireSpace(folder: string, needBytes: number): Promise<void> {
  const haveBytes = await freeBytes(folder);
  if (haveBytes < needBytes) throw new LocallmError("disk_full", { needBytes, haveBytes });
}

/** An error of a write below the models folder as ours: a full disk, or no right to write. Anything else is handed on. */
export async function asWriteError(error: unknown, folder: string, needBytes: number): Promise<unknown> {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (["EROFS", "EACCES", "EPERM"].includes(code))
    return new LocallmError("models_unwritable", { reason: code }, { cause: error });
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  const haveBytes = await freeBytes(folder).catch(() => 0);
  return new LocallmError("disk_full", { needBytes, haveBytes }, { cause: error });
}
