import { writeSync } from "node:fs";

/** Receives the log, one JSON line per call. */
interface LogDestination {
  write(json: string): void;
}

/** What could not be written is tried again after this time. */
const againMs = 10;
const gatheredBytes = 64 * 1024;
/**
 * While a disk or a pipe is full, lines are kept up to this length and written later. Further lines are lost, and so is
 * a line that may be longer than this.
 */
const mostKept = 4 * 2 ** 20;
/** Errors after which a later write may succeed: a pipe whose reader is slow, and a disk, quota or file that is full. */
const passing: ReadonlySet<string | undefined> = new Set(["EAGAIN", "ENOSPC", "EDQUOT", "EFBIG"]);

/**
 * Standard output and standard error are streams, and a stream that cannot write ends the program: when the disk is full,
 * or when nobody reads a pipe any more. A server goes on without its words.
 */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/**
 * Writes the log to an open file. The lines of `waitMs` milliseconds are written together, because a write takes longer
 * than all else that a small request needs for its line; with 0, each is written at once. They wait outside of V8's
 * heap: its collector would move them to the old heap, which then has to be collected more often.
 */
export function logOutput(fd: number, { waitMs = 10 } = {}): LogDestination {
  // The system provides this memory when it is first used.
  const gathered = Buffer.alloc(mostKept);
  let length = 0;
  let isFull = false;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const written = writeAll(fd, gathered.subarray(0, length));
    gathered.copyWithin(0, written, length);
    length -= written;
    isFull = length > 0;
    if (isFull) timer = setTimeout(flush, againMs).unref();
  };
  process.on("exit", flush);
  return {
    write(json) {
      // A character takes up to three bytes for each of its units in UTF-16.
      const most = json.length * 3;
      if (length + most > gatheredBytes && !isFull) flush();
      if (length + most > mostKept) return;
      length += gathered.write(json, length);
      if (waitMs === 0 && !isFull) return flush();
      timer ??= setTimeout(flush, waitMs).unref();
    },
  };
}

/** Returns how many bytes are done with: fewer than all if the others may be written later. */
function writeAll(fd: number, bytes: Buffer): number {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      // The server keeps running without its log.
      return passing.has((error as NodeJS.ErrnoException).code) ? written : bytes.length;
    }
  }
  return written;
}
