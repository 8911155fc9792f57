import { type Message, say } from "../message.ts";
import { lines } from "./lines.ts";
import type { Row } from "./row.ts";

/** JSON Lines: one object per line. Empty lines are skipped. */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 0;
  for await (const bytes of lines(chunks)) {
    line++;
    if (bytes === null) {
      yield { line, problem: say("row_too_long") };
      continue;
    }
    let text: string;
    try {
      text = decoder.decode(bytes).trim();
    } catch {
      yield { line, problem: say("row_not_utf8") };
      continue;
    }
    if (text === "") continue;
    yield { line, ...objectIn(text) };
  }
}

function objectIn(text: string): { fields: Record<string, unknown> } | { problem: Message } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { fields: value as Record<string, unknown> };
    }
    return { problem: say("row_not_object") };
  } catch (error) {
    return { problem: say("row_not_json", { reason: (error as Error).message }) };
  }
}
