import { say } from "../message.ts";
import type { Row } from "./row.ts";

/**
 * CSV as in RFC 4180, with a header row; comma, semicolon or tab, whichever the header has most of. A row with
 * another number of cells than the header is reported and passed over.
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  let header: string[] | undefined;
  for await (const { line, cells } of records(decoded(chunks))) {
    if (cells.length === 1 && cells[0] === "") continue;
    if (header === undefined) {
      header = cells.map((cell) => cell.trim());
      continue;
    }
    if (cells.length !== header.length) {
      yield { line, problem: say("row_cells", { cells: cells.length, header: header.length }) };
      continue;
    }
    yield { line, fields: Object.fromEntries(header.map((name, index) => [name, cells[index] as string])) };
  }
}

async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  // Drops a byte order mark; replaces what is not UTF-8, so that the row is seen and judged.
  const decoder = new TextDecoder("utf-8");
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

async function* records(texts: AsyncIterable<string>): AsyncGenerator<{ line: number; cells: string[] }> {
  let separator: string | undefined;
  let cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  let wasQuote = false;
  let line = 1;
  let start = 1;
  let pending = "";
  for await (const text of texts) {
    let input = text;
    if (separator === undefined) {
      pending += text;
      const end = pending.indexOf("\n");
      if (end === -1 && pending.length < 1 << 20) continue;
      separator = separatorOf(end === -1 ? pending : pending.slice(0, end));
      input = pending;
    }
    for (const character of input) {
      if (character === "\n") line++;
      if (isQuoted) {
        if (wasQuote && character === '"') {
          cell += '"';
          wasQuote = false;
          continue;
        }
        if (character === '"') {
          wasQuote = true;
          continue;
        }
        if (!wasQuote) {
          cell += character;
          continue;
        }
        isQuoted = false;
        wasQuote = false;
      }
      if (character === '"' && cell === "") isQuoted = true;
      else if (character === separator) {
        cells.push(cell);
        cell = "";
      } else if (character === "\n") {
        cells.push(cell);
        yield { line: start, cells };
        cells = [];
        cell = "";
        start = line;
      } else if (character !== "\r") cell += character;
    }
  }
  if (separator === undefined) {
    yield* records(once(`${pending}\n`));
    return;
  }
  if (cell !== "" || cells.length > 0) yield { line: start, cells: [...cells, cell] };
}

async function* once(text: string): AsyncGenerator<string> {
  if (text.trim() !== "") yield text;
}

function separatorOf(header: string): string {
  const count = (separator: string) => header.split(separator).length;
  return [",", "\t", ";"].sort((a, b) => count(b) - count(a))[0] as string;
}
