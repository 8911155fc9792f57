import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Database, Queries } from "../../database/database.ts";
import { Recent } from "../recent.ts";
import { type Place, StoredBody } from "../stored-body.ts";

/**
 * The bodies of documents. Recently read ones stay in memory, because reading them from the database is the most
 * expensive step.
 */
export class Bodies {
  readonly #reads: Queries;
  readonly #primary: Queries;
  readonly #known = new Recent<string, StoredBody>(keptBytes);

  constructor({ reads, pool }: Pick<Database, "reads" | "pool">) {
    this.#reads = reads.fixed;
    this.#primary = pool;
  }

  /** Reads bodies in the order of `places`; undefined if the segment was deleted. */
  async read(places: readonly Place[]): Promise<(StoredBody | undefined)[]> {
    const found = places.map((place) => this.#known.get(place));
    const missing = places.filter((_, at) => found[at] === undefined);
    if (missing.length === 0) return found;
    let fetched = await this.#fetch(this.#reads, missing);
    // Another service may have stored a place that is newer than what this one has pinned.
    if (this.#reads !== this.#primary && fetched.includes(undefined))
      fetched = await this.#fetch(this.#primary, missing);
    let next = 0;
    return found.map((body) => body ?? fetched[next++]);
  }

  async #fetch(queries: Queries, places: readonly Place[]): Promise<readonly (StoredBody | undefined)[]> {
    const positions = places.map((place) => positionOf(place) ?? { segment: 0, ordinal: 0 });
    const rows = await queries.query<{ place: number; body: Buffer }>({
      name: "search-documents",
      text: `select w.place::int as place, d.body
               from unnest($1::bigint[], $2::int[]) with ordinality as w(segment, ordinal, place)
               join search_document d on d.segment = w.segment and d.ordinal = w.ordinal
              -- Only the partitions of these segments are read.
              where d.segment = any($1)`,
      values: [positions.map(({ segment }) => segment), positions.map(({ ordinal }) => ordinal)],
    });
    const bodies = new Array<StoredBody | undefined>(places.length);
    for (const row of rows.rows) {
      const place = places[row.place - 1] as Place;
      const body = new StoredBody(place, unpackBody(row.body));
      bodies[row.place - 1] = body;
      this.#known.put(place, body, perBodyBytes + body.json.length * withText);
    }
    return bodies;
  }
}

/**
 * Packs a body for the table. Short bodies are not compressed: setting up the compression costs more than it
 * saves.
 */
export function packJson(text: string): Uint8Array {
  const json = Buffer.from(text);
  return json.length < shortBytes ? json : zstdCompressSync(json);
}

/** Unpacks a body in this thread, because passing it to another thread takes longer than unpacking it. */
export function unpackBody(packed: Buffer): Buffer {
  return packed[0] === openingBrace ? packed : zstdDecompressSync(packed, inOneChunk);
}

const shortBytes = 1_024;
/** The first byte of JSON, which never starts a zstd frame. */
const openingBrace = 0x7b;

const inOneChunk = { chunkSize: 1 << 15 };
/** Size of the cache: a few thousand judgments. */
const keptBytes = 96 << 20;
const perBodyBytes = 300;
/** Factor for the memory of a body together with its highlight text. */
const withText = 1.5;

/** The position of a document. */
export interface Position {
  readonly segment: number;
  readonly ordinal: number;
}

export function placeOf({ segment, ordinal }: Position): Place {
  return `${segment}.${ordinal}`;
}

/** Undefined for a place that another engine made. */
export function positionOf(place: Place): Position | undefined {
  const [, segment, ordinal] = /^(\d{1,15})\.(\d{1,9})$/.exec(place) ?? [];
  return segment === undefined ? undefined : { segment: Number(segment), ordinal: Number(ordinal) };
}
