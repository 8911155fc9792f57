import { zstdDecompressSync } from "node:zlib";
import type { Database } from "../../database/database.ts";
import { StoredBody } from "../stored-body.ts";
import { Recent } from "./recent.ts";

/** Where a document stands; what stands there never changes. */
export interface DocumentPlace {
  readonly segment: number;
  readonly ordinal: number;
}

/** The bodies of documents. Those read last stay in memory: taking them from the database is the dearest step. */
export class Bodies {
  readonly #pool: Database["pool"];
  readonly #known = new Recent<string, StoredBody>(keptBytes);

  constructor(pool: Database["pool"]) {
    this.#pool = pool;
  }

  /** In the order of the places. */
  async read(places: readonly DocumentPlace[]): Promise<StoredBody[]> {
    const found = places.map((place) => this.#known.get(keyOf(place)));
    const missing = places.filter((_, at) => found[at] === undefined);
    const fetched = missing.length === 0 ? [] : await this.#fetch(missing);
    return found.map((body) => body ?? (fetched.shift() as StoredBody));
  }

  async #fetch(places: readonly DocumentPlace[]): Promise<StoredBody[]> {
    const rows = await this.#pool.query<{ place: number; body: Buffer }>({
      name: "search-documents",
      text: `select w.place::int as place, d.body
               from unnest($1::bigint[], $2::int[]) with ordinality as w(segment, ordinal, place)
               join search_document d on d.segment = w.segment and d.ordinal = w.ordinal`,
      values: [places.map(({ segment }) => segment), places.map(({ ordinal }) => ordinal)],
    });
    const bodies: StoredBody[] = [];
    for (const { place, body } of rows.rows) bodies[place - 1] = unpackBody(body);
    for (const [at, place] of places.entries()) {
      const body = bodies[at] as StoredBody;
      this.#known.put(keyOf(place), body, perBodyBytes + body.json.length * withText);
    }
    return bodies;
  }
}

/** In this thread: a body takes less time than handing it to another would. */
export function unpackBody(packed: Buffer): StoredBody {
  return new StoredBody(zstdDecompressSync(packed, inOneChunk));
}

const inOneChunk = { chunkSize: 1 << 15 };
/** Some thousands of judgments. */
const keptBytes = 96 << 20;
const perBodyBytes = 300;
/** A body keeps the text that highlights are taken from as well. */
const withText = 1.5;

function keyOf({ segment, ordinal }: DocumentPlace): string {
  return `${segment} ${ordinal}`;
}
