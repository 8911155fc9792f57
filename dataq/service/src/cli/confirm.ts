import { createInterface } from "node:readline/promises";

/** Asks the user at the terminal; false if there is no terminal. */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } catch (error) {
    // Ctrl+C and Ctrl+D mean no.
    if ((error as Error).name !== "AbortError") throw error;
    process.stderr.write("\n");
    return false;
  } finally {
    terminal.close();
  }
}
