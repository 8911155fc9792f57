import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ImportError } from "../import-error.ts";
import { type Message, say } from "../message.ts";
import { containerOf, contentOf } from "./bytes.ts";
import { readCsv } from "./csv.ts";
import { type Encoding, utf8Of, wideEncodingOf } from "./encoding.ts";
import { readJsonArray } from "./json-array.ts";
import { readJsonLines } from "./jsonl.ts";
import type { Row } from "./row.ts";
import { readSqlite } from "./sqlite.ts";
import { extractFromZip } from "./zip.ts";

export interface ReadOptions {
  /** The table of an SQLite file. */
  readonly table?: string | undefined;
  /** The names of the columns of a CSV file that has no row of names. */
  readonly header?: readonly string[];
  /** Receives the share of the file that was read, from 0 to 1. Not called for SQLite. */
  readonly onShare?: (share: number) => void;
  /** Receives the encoding of a text file. */
  readonly onEncoding?: (encoding: Encoding) => void;
}

/**
 * Rows of a file in any supported format: JSON Lines, a JSON array, CSV or SQLite; plain, gzip, zstd or in a zip.
 * PostgreSQL cannot store NUL, so a row that contains one is rejected, and so is one that is nested too deeply.
 */
export async function* readRows(path: string, options: ReadOptions = {}): AsyncGenerator<Row> {
  for await (const row of rowsOf(path, options)) {
    const problem = "fields" in row ? problemIn(row.fields) : undefined;
    yield problem === undefined ? row : { line: row.line, problem };
  }
}

function problemIn(fields: Readonly<Record<string, unknown>>): Message | undefined {
  for (const [field, value] of Object.entries(fields)) {
    const code = faultIn(value, mostLevels);
    if (code !== undefined) return say(code, { field });
  }
  return undefined;
}

function faultIn(value: unknown, levels: number): "row_nul" | "row_too_deep" | undefined {
  if (typeof value === "string") return value.includes("\0") ? "row_nul" : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return "row_too_deep";
  for (const inner of Object.values(value)) {
    const fault = faultIn(inner, levels - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Maximum nesting. Deeper values would exhaust the stack of code that traverses them. */
const mostLevels = 100;

async function* rowsOf(path: string, options: ReadOptions): AsyncGenerator<Row> {
  const container = await containerOf(path);
  if (container === "sqlite") {
    yield* readSqlite(path, options.table);
    return;
  }
  if (container === "zip") {
    const folder = await mkdtemp(join(tmpdir(), "dataq-import-"));
    try {
      const target = join(folder, "data");
      const isData = (name: string) => /\.(?:jsonl|ndjson|csv|tsv|db|sqlite3?)(?:\.gz|\.zst)?$/.test(name);
      if ((await extractFromZip(path, isData, target)) === undefined) {
        throw new ImportError("no_data_in_archive");
      }
      yield* rowsOf(target, options);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return;
  }
  const content = contentOf(path, container, options.onShare)[Symbol.asyncIterator]();
  try {
    const first = await content.next();
    if (first.done) return;
    const { onEncoding } = options;
    const chunks = rest(first.value, content);
    const listener = onEncoding && { onEncoding };
    const start = beginningOf(first.value);
    if (/^\{\s*\n/.test(start)) throw new ImportError("not_json_lines");
    // In JSON Lines, only the bad lines are rejected. CSV in an unknown encoding would be wrong as a whole.
    if (start.startsWith("{")) yield* readJsonLines(utf8Of(chunks, { unknown: "keep", ...listener }));
    else if (start.startsWith("["))
      yield* readJsonArray(utf8Of(chunks, listener), basename(path).replace(/\.[^/]*$/, ""));
    else yield* readCsv(utf8Of(chunks, listener), {}, options.header);
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError("unreadable", { reason: (error as Error).message }, error);
  } finally {
    await content.return(undefined);
  }
}

async function* rest(first: Uint8Array, others: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await others.next(); !next.done; next = await others.next()) yield next.value;
}

/** The first characters of a text after any byte order mark, spaces and empty lines. */
function beginningOf(bytes: Uint8Array): string {
  return new TextDecoder(wideEncodingOf(bytes) ?? "utf-8").decode(bytes.subarray(0, 1024)).trimStart();
}
