import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Database } from "../../database/database.ts";
import { type DocumentPlace, StoredBody } from "../stored-body.ts";
import { Recent } from "./recent.ts";

/**
 * The bodies of documents. Recently read ones stay in memory, because reading them from the database is the most
 * expensive step.
 */
export class Bodies {
  readonly #pool: Database["pool"];
  readonly #known = new Recent<string, StoredBody>(keptBytes);

  constructor(pool: Database["pool"]) {
    this.#pool = pool;
  }

  /** Reads bodies in the order of `places`; undefined if the segment was deleted. */
  async read(places: readonly DocumentPlace[]): Promise<(StoredBody | undefined)[]> {
    const found = places.map((place) => this.#known.get(keyOf(place)));
    const missing = places.filter((_, at) => found[at] === undefined);
    if (missing.length === 0) return found;
    const fetched = await this.#fetch(missing);
    let next = 0;
    return found.map((body) => body ?? fetched[next++]);
  }

  async #fetch(places: readonly DocumentPlace[]): Promise<readonly (StoredBody | undefined)[]> {
    const rows = await this.#pool.query<{ place: number; body: Buffer }>({
      name: "search-documents",
      text: `select w.place::int as place, d.body
               from unnest($1::bigint[], $2::int[]) with ordinality as w(segment, ordinal, place)
               join search_document d on d.segment = w.segment and d.ordinal = w.ordinal`,
      values: [places.map(({ segment }) => segment), places.map(({ ordinal }) => ordinal)],
    });
    const bodies = new Array<StoredBody | undefined>(places.length);
    for (const row of rows.rows) {
      const place = places[row.place - 1] as DocumentPlace;
      const body = new StoredBody(place, unpackBody(row.body));
      bodies[row.place - 1] = body;
      this.#known.put(keyOf(place), body, perBodyBytes + body.json.length * withText);
    }
    return bodies;
  }
}

/**
 * Packs a body for the table. Short bodies are not compressed: setting up the compression costs more than it
 * saves.
 */
export function packBody(body: object): Uint8Array {
  const json = Buffer.from(JSON.stringify(body));
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

function keyOf({ segment, ordinal }: DocumentPlace): string {
  return `${segment} ${ordinal}`;
}
