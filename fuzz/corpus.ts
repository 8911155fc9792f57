import { existsSync, readFileSync, writeFileSync } from "node:fs";

/**
 * A corpus is a text file with one input a line, so that a change of it can be read: a JSON string, or `base64:…` for what
 * is not text. A line that begins with `#` says what the next input once broke; such inputs are never dropped.
 */
export interface CorpusEntry {
  readonly input: Buffer;
  readonly found: string | undefined;
}

export function readCorpus(path: string): CorpusEntry[] {
  if (!existsSync(path)) return [];
  const entries: CorpusEntry[] = [];
  let found: string | undefined;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line.startsWith("#")) found = line.slice(1).trim();
    else if (line !== "") {
      entries.push({ input: inputOf(line), found });
      found = undefined;
    }
  }
  return entries;
}

export function writeCorpus(path: string, entries: readonly CorpusEntry[]): void {
  const lines = entries.flatMap(({ input, found }) => [
    ...(found === undefined ? [] : [`# ${found}`]),
    lineOf(input),
  ]);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
}

export function lineOf(input: Buffer): string {
  const text = input.toString("utf8");
  // Control characters and lone marks of direction would make the line unreadable, so JSON writes them as escapes.
  const line = JSON.stringify(text).replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const bytes = `base64:${input.toString("base64")}`;
  return Buffer.from(text).equals(input) && line.length < 2 * bytes.length ? line : bytes;
}

export function inputOf(line: string): Buffer {
  return line.startsWith("base64:")
    ? Buffer.from(line.slice("base64:".length), "base64")
    : Buffer.from(JSON.parse(line) as string);
}
