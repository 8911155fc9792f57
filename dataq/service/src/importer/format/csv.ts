import { type Message, say } from "../message.ts";
import type { Row } from "./row.ts";

export interface CsvLimits {
  /**
   * Maximum number of characters in a row. A longer row, or a quote that stays open for longer, is rejected.
   */
  readonly longestRow: number;
  /** Maximum number of characters in a cell. */
  readonly longestCell: number;
}

const plainLimits: CsvLimits = { longestRow: 16 << 20, longestCell: 4 << 20 };

/**
 * CSV as in RFC 4180, with a header row. The separator is whichever of comma, semicolon and tab occurs most in the
 * header. What cannot be read is rejected with its line, and reading continues with the next line. The bytes are
 * UTF-8. `named` are the columns of a file without a header.
 */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  limits: Partial<CsvLimits> = {},
  named?: readonly string[],
): AsyncGenerator<Row> {
  let header = named;
  for await (const record of records(chunks, { ...plainLimits, ...limits })) {
    if ("problem" in record) {
      yield { line: record.line, problem: withColumn(record.problem, header) };
      // Without a header no row can be read, because the next row would be taken for the header.
      if (header === undefined) return;
      continue;
    }
    const { line, cells } = record;
    if (cells.length === 1 && cells[0]?.trim() === "") continue;
    if (header === undefined) {
      header = cells.map((cell) => cell.trim());
      continue;
    }
    if (cells.length !== header.length) {
      yield { line, problem: say("row_cells", { cells: cells.length, header: header.length }) };
      continue;
    }
    if (cells.some((cell) => cell.includes("\ufffd"))) {
      yield { line, problem: say("row_not_utf8") };
      continue;
    }
    yield { line, fields: Object.fromEntries(header.map((name, index) => [name, cells[index] as string])) };
  }
}

/** Adds the cell's column to a message. */
function withColumn({ code, values }: Message, header: readonly string[] | undefined): Message {
  const { cell } = values;
  const column = typeof cell === "number" ? header?.[cell - 1] : undefined;
  return column === undefined ? { code, values } : say(code, { ...values, cell: `${cell} (${column})` });
}

type Record =
  | { readonly line: number; readonly cells: string[] }
  | { readonly line: number; readonly problem: Message };

async function* records(chunks: AsyncIterable<Uint8Array>, limits: CsvLimits): AsyncGenerator<Record> {
  const text = new TextWindow(chunks);
  // The first line decides. Of a very long line, only the beginning is examined.
  while (!text.isEnded && text.rest().indexOf("\n") === -1 && text.rest().length < 1 << 20) await text.grow();
  const separator = separatorOf(text.rest().split("\n", 1)[0] ?? "");
  for (let line = 1; ; ) {
    const read = readRecord(text.rest(), separator, text.isEnded, limits);
    if (read === "more") {
      await text.grow();
      continue;
    }
    if (read === "end") return;
    yield "cells" in read ? { line, cells: read.cells } : { line, problem: read.problem };
    line += text.pass(read.length);
  }
}

type Read =
  /** `length`: characters up to the next record. */
  | { readonly cells: string[]; readonly length: number }
  | { readonly problem: Message; readonly length: number }
  | "more"
  | "end";

/** One record from the start of the text. */
function readRecord(text: string, separator: string, isEnded: boolean, limits: CsvLimits): Read {
  if (text === "") return isEnded ? "end" : "more";
  const { longestRow, longestCell } = limits;
  const cells: string[] = [];
  let tooLong: Message | undefined;
  const plain = separator === "\t" ? /[^\t\n]*/y : separator === ";" ? /[^;\n]*/y : /[^,\n]*/y;
  /**
   * Returns the problem of an unfinished record. It is an error at the end of the file, or if the row is
   * already too long.
   */
  const unfinished = (problem: Message): Read =>
    isEnded || text.length > longestRow ? { problem, length: lineLength(text) } : "more";
  for (let at = 0; ; ) {
    let end: number;
    if (text[at] === '"') {
      const cell = readQuoted(text, at);
      if (cell === undefined) return unfinished(say("row_quote_open", { cell: cells.length + 1 }));
      end = cell.end;
      if (end === text.length && !isEnded) return "more";
      while (text[end] === " " || text[end] === "\r") end++;
      if (end < text.length && text[end] !== separator && text[end] !== "\n")
        return { problem: say("row_quote_inside", { cell: cells.length + 1 }), length: lineLength(text) };
      cells.push(cell.value);
    } else {
      plain.lastIndex = at;
      const value = (plain.exec(text) as RegExpExecArray)[0];
      end = at + value.length;
      if (end === text.length && !isEnded) return unfinished(say("row_too_long"));
      cells.push(value.endsWith("\r") ? value.slice(0, -1) : value);
    }
    if (end > longestRow) return { problem: say("row_too_long"), length: lineLength(text) };
    if (cells.at(-1)!.length > longestCell)
      tooLong ??= say("row_cell_too_long", { cell: cells.length, limit: longestCell });
    if (text[end] !== separator) {
      const length = Math.min(end + 1, text.length);
      // Skips the whole record: lines inside a quoted cell are not rows.
      return tooLong === undefined ? { cells, length } : { problem: tooLong, length };
    }
    at = end + 1;
  }
}

/** The cell whose opening quote is at `at`; undefined if no quote closes it. */
function readQuoted(text: string, at: number): { readonly value: string; readonly end: number } | undefined {
  let value = "";
  for (let from = at + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return undefined;
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    from = quote + 2;
  }
}

/** Skips to the next line. */
function lineLength(text: string): number {
  const end = text.indexOf("\n");
  return end === -1 ? text.length : end + 1;
}

/**
 * The text that has not been read yet. It grows by doubling, so that a long row is scanned only a few times.
 */
class TextWindow {
  isEnded = false;
  readonly #chunks: AsyncIterator<Uint8Array>;
  // Drops a byte order mark.
  readonly #decoder = new TextDecoder("utf-8");
  #text = "";
  #from = 0;
  #rest: string | undefined;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  rest(): string {
    this.#rest ??= this.#text.slice(this.#from);
    return this.#rest;
  }

  async grow(): Promise<void> {
    const parts = [this.rest()];
    let length = parts[0]!.length;
    const wanted = 2 * length;
    do {
      const next = await this.#chunks.next();
      this.isEnded = next.done === true;
      const part = next.done ? this.#decoder.decode() : this.#decoder.decode(next.value, { stream: true });
      parts.push(part);
      length += part.length;
    } while (!this.isEnded && length <= wanted);
    this.#text = parts.join("");
    this.#from = 0;
    this.#rest = undefined;
  }

  /** Drops this many characters. Returns the number of line ends in them. */
  pass(length: number): number {
    const passed = this.rest().slice(0, length);
    this.#from += length;
    this.#rest = undefined;
    return passed.split("\n").length - 1;
  }
}

function separatorOf(header: string): string {
  const count = (separator: string) => header.split(separator).length;
  return [",", "\t", ";"].sort((a, b) => count(b) - count(a))[0] as string;
}
