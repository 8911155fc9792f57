import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PrivateFile } from "./private-file.ts";

/** The name of the key that commands on this machine use. */
export const commandLineName = "command-line";

/** The file with the secret of that key. A user who can read it can also change the keys file. */
export function commandLineFile(folder: string): PrivateFile {
  return new PrivateFile(join(folder, "command-line-key"), 1024);
}

/** Null if there is none, or if others may read it. */
export function commandLineKey(folder: string): string | null {
  const { path } = commandLineFile(folder);
  try {
    if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) return null;
    return readFileSync(path, "utf8").trim() || null;
  } catch {
    return null;
  }
}
