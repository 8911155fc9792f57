import { type Stats, statSync } from "node:fs";

/**
 * Files and folders as they were before something was read from them. `areCurrent` says whether that is still valid,
 * without reading again.
 */
export class FileStamps {
  readonly #now: () => number;
  readonly #stamps = new Map<string, string>();
  #isSettled = true;

  /** `now` is the time in milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Call it before the file or folder is read. It may be missing. */
  note(path: string): void {
    const found = statusOf(path);
    this.#stamps.set(path, stampOf(found));
    if (found !== undefined && found.ctimeMs > this.#now() - coarsestMs) this.#isSettled = false;
  }

  get areCurrent(): boolean {
    if (!this.#isSettled || this.#stamps.size > most) return false;
    for (const [path, stamp] of this.#stamps) if (stampOf(statusOf(path)) !== stamp) return false;
    return true;
  }
}

/**
 * Some file systems store times in steps of two seconds. A file that changed shortly before it was noted could
 * change again within the same step and keep its stamp.
 */
const coarsestMs = 3000;

/** A synchronous call takes a tenth of the processor time of an asynchronous one, but it must not block for long. */
const most = 256;

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // For example a folder without permission, or a file in place of a folder.
    return undefined;
  }
}

function stampOf(found: Stats | undefined): string {
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}
