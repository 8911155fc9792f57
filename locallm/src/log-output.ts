import pino from "pino";

/** Receives the log, one JSON line per call. */
export interface LogDestination {
  write(json: string): void;
}

/** If nothing can be written, lines are kept up to this length and written later. Further lines are lost. */
const mostKept = 16 * 2 ** 20;

/** A line waits this long at most for others. */
const waitMs = 10;
const gatheredBytes = 64 * 1024;

/**
 * Writes the log to an open file. The lines of a few milliseconds are written together, because a write takes longer
 * than all else that a small request needs for its line. They wait outside of V8's heap: its collector would move them
 * to the old heap, which then has to be collected more often.
 */
export function logOutput(fd: number): LogDestination {
  const file = pino.destination({ dest: fd, sync: true, maxLength: mostKept });
  // The server keeps running when the disk with its log is full.
  file.on("error", () => {});
  const gathered = Buffer.alloc(gatheredBytes);
  let length = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    if (length > 0) file.write(gathered.toString("utf8", 0, length));
    length = 0;
  };
  process.on("exit", flush);
  return {
    write(json) {
      // A character takes up to three bytes for each of its units in UTF-16.
      if (length + json.length * 3 > gatheredBytes) flush();
      if (json.length * 3 > gatheredBytes) return void file.write(json);
      if (length === 0) timer = setTimeout(flush, waitMs);
      length += gathered.write(json, length);
    },
  };
}
