/** Output of a command: tables on a terminal, JSON in a pipe. */
export interface Terminal {
  readonly isTTY: boolean;
  /** Width of the terminal in columns. */
  readonly columns: number;
  out(text: string): void;
  /** Writes what is not part of the result: the cost, the page, a warning. */
  note(text: string): void;
}

export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  // The reader has closed the pipe, as in `dataq paginate … | head`.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  return {
    isTTY: stdout.isTTY === true,
    columns: stdout.columns ?? 80,
    out: (text) => void stdout.write(`${text}\n`),
    note: (text) => void stderr.write(`${text}\n`),
  };
}
