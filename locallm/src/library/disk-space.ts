import { statfs } from "node:fs/promises";
import { LocallmError } from "../wire/errors.ts";

/** Free disk space for this user, in bytes. The folder must exist. */
export async function freeBytes(folder: string): Promise<number> {
  const found = await statfs(folder);
  return found.bavail * found.bsize;
}

/** Throws `disk_full` if less than `needBytes` is free. */
export async function requireSpace(folder: string, needBytes: number): Promise<void> {
  const haveBytes = await freeBytes(folder);
  if (haveBytes < needBytes) throw new LocallmError("disk_full", { needBytes, haveBytes });
}

/** Converts a write error in the models folder to `disk_full` or `models_unwritable`. Returns other errors unchanged. */
export async function asWriteError(error: unknown, folder: string, needBytes: number): Promise<unknown> {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (["EROFS", "EACCES", "EPERM"].includes(code))
    return new LocallmError("models_unwritable", { reason: code }, { cause: error });
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  const haveBytes = await freeBytes(folder).catch(() => 0);
  return new LocallmError("disk_full", { needBytes, haveBytes }, { cause: error });
}
