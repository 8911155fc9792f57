import { writeSync } from "node:fs";

/** Receives the log, one JSON line per call. */
export interface LogDestination {
  write(json: string): void;
}

/** A line waits this long at most for others. */
const waitMs = 10;
const gatheredBytes = 64 * 1024;
/** If nothing can be written, lines are kept up to this length and written later. Further lines are lost. */
const mostKept = 2 ** 20;

/**
 * Writes the log to an open file. The lines of a few milliseconds are written together, because a write takes longer
 * than all else that a small request needs for its line. They wait outside of V8's heap: its collector would move them
 * to the old heap, which then has to be collected more often.
 */
export function logOutput(fd: number): LogDestination {
  // The system provides this memory when it is first used.
  const gathered = Buffer.alloc(mostKept);
  let length = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const written = writeAll(fd, gathered.subarray(0, length));
    gathered.copyWithin(0, written, length);
    length -= written;
    if (length > 0) timer = setTimeout(flush, waitMs).unref();
  };
  process.on("exit", flush);
  return {
    write(json) {
      // A character takes up to three bytes for each of its units in UTF-16.
      const most = json.length * 3;
      if (length + most > gatheredBytes) flush();
      if (length === 0 && most > mostKept) return void writeAll(fd, Buffer.from(json));
      if (length + most > mostKept) return;
      length += gathered.write(json, length);
      timer ??= setTimeout(flush, waitMs).unref();
    },
  };
}

/** Returns how many bytes need not be written again: fewer than all if a reader is so slow that its pipe is full. */
function writeAll(fd: number, bytes: Buffer): number {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return written;
      // The server keeps running when the disk with its log is full.
      return bytes.length;
    }
  }
  return written;
}
