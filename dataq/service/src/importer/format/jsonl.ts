import { lines } from "./lines.ts";
import type { Row } from "./row.ts";

/** JSON Lines: one object a line; empty lines are passed over. */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 0;
  for await (const bytes of lines(chunks)) {
    line++;
    if (bytes === null) {
      yield { line, problem: "the line is longer than 16 MiB" };
      continue;
    }
    let text: string;
    try {
      text = decoder.decode(bytes).trim();
    } catch {
      yield { line, problem: "the line is not UTF-8" };
      continue;
    }
    if (text === "") continue;
    yield { line, ...objectIn(text) };
  }
}

function objectIn(text: string): { fields: Record<string, unknown> } | { problem: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { fields: value as Record<string, unknown> };
    }
    return { problem: "the line is JSON, but not an object" };
  } catch (error) {
    return { problem: `the line is not JSON: ${(error as Error).message}` };
  }
}
