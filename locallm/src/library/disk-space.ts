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

/** An error of a write as ours: a full disk says so, anything else is handed on. */
export async function asDiskError(error: unknown, folder: string, needBytes: number): Promise<unknown> {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new LocallmError("disk_full", { needBytes, haveBytes: await freeBytes(folder) }, { cause: error });
}
