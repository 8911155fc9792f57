/** Where a command writes. Tables are for people at a terminal, JSON for programs behind a pipe. */
export interface Terminal {
  readonly isTTY: boolean;
  /** Width of the terminal in columns. */
  readonly columns: number;
  out(text: string): void;
  /** What is said beside the result: the cost, the place, a warning. */
  note(text: string): void;
}

export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  // `dataq paginate … | head`: the reader has enough.
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
