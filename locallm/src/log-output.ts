import pino from "pino";

/** Receives the log, one JSON line per call. */
export interface LogDestination {
  write(json: string): void;
}

/** If nothing can be written, lines are kept up to this length and written later. Further lines are lost. */
const mostKept = 16 * 2 ** 20;

/**
 * Writes the log to an open file. The lines of one turn of the event loop are written together, because a write takes
 * longer than all else that a small request needs for its line.
 */
export function logOutput(fd: number): LogDestination {
  const file = pino.destination({ dest: fd, sync: true, maxLength: mostKept });
  // The server keeps running when the disk with its log is full.
  file.on("error", () => {});
  let lines = "";
  const flush = () => {
    const text = lines;
    lines = "";
    if (text !== "") file.write(text);
  };
  process.on("exit", flush);
  return {
    write(json) {
      if (lines === "") setImmediate(flush);
      lines += json;
    },
  };
}
