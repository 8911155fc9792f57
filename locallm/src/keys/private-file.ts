import { open, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { makeFolder, writeDurably } from "../library/durable.ts";
import { LocallmError } from "../wire/errors.ts";

/** A file that only its owner may read and write. It is always replaced as a whole. */
export class PrivateFile {
  readonly path: string;
  readonly #limitBytes: number;

  constructor(path: string, limitBytes: number) {
    this.path = path;
    this.#limitBytes = limitBytes;
  }

  /** A text that changes whenever the file changes. Null if the file does not exist. Throws `keys_unusable`. */
  async stamp(): Promise<string | null> {
    try {
      const { ino, mode, size, mtimeMs } = await stat(this.path);
      return `${ino} ${mode} ${size} ${mtimeMs}`;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      throw this.unusable(`it cannot be read (${codeOf(error)})`, error);
    }
  }

  /** Null if the file does not exist. Throws `keys_unusable`. */
  async read(): Promise<string | null> {
    try {
      await using file = await open(this.path, "r");
      const { size, mode } = await file.stat();
      // Windows has no permission bits.
      if (process.platform !== "win32" && (mode & 0o077) !== 0)
        throw this.unusable("other users may read it; run chmod 600 on it");
      if (size > this.#limitBytes) throw this.unusable(`it is larger than ${this.#limitBytes} bytes`);
      return await file.readFile("utf8");
    } catch (error) {
      if (error instanceof LocallmError) throw error;
      if (codeOf(error) === "ENOENT") return null;
      throw this.unusable(`it cannot be read (${codeOf(error)})`, error);
    }
  }

  /** Throws `keys_unusable` for a text over the size limit, which `read` would reject. */
  async write(text: string): Promise<void> {
    if (Buffer.byteLength(text) > this.#limitBytes)
      throw this.unusable(`it would be larger than ${this.#limitBytes} bytes; revoke some keys`);
    await makeFolder(dirname(this.path));
    await writeDurably(this.path, text, dirname(this.path), 0o600);
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }

  /** Runs changes of several processes one after the other. */
  async locked<Result>(change: () => Promise<Result>): Promise<Result> {
    const lock = `${this.path}.lock`;
    await makeFolder(dirname(this.path));
    for (let attempt = 0; ; attempt++) {
      try {
        await (await open(lock, "wx", 0o600)).close();
        break;
      } catch (error) {
        if (codeOf(error) !== "EEXIST")
          throw this.unusable(`its folder is not writable (${codeOf(error)})`, error);
      }
      if (attempt === 200)
        throw this.unusable(`another command is changing it; if none is running, delete ${lock}`);
      const found = await stat(lock).catch(() => null);
      // A change takes milliseconds, so the process that held an old lock was killed.
      if (found !== null && Date.now() - found.mtimeMs > abandonedMs) await rm(lock, { force: true });
      else await pause(lockPauseMs);
    }
    try {
      return await change();
    } finally {
      await rm(lock, { force: true });
    }
  }

  unusable(reason: string, cause?: unknown): LocallmError {
    return new LocallmError("keys_unusable", { file: basename(this.path), reason }, { cause });
  }
}

const abandonedMs = 30_000;
const lockPauseMs = 50;

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
