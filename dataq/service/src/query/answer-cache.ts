import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import type { Database } from "../database/database.ts";
import type { Part } from "../sources/written-record.ts";
import { Payload } from "./payload.ts";
import type { QueryRequest } from "./request/request.ts";

/** An answer that is still fresh. */
export interface Kept {
  /** The answer without the parts that differ from call to call: see envelope.ts. */
  readonly payload: Payload;
  readonly madeAt: Date;
  /** How long the answer can be used after that, in seconds. */
  readonly ttlS: number;
  /** Whether this account asked for the answer while it was fresh. Only then does a repeat cost half. */
  readonly isOwn: boolean;
}

/** Answers by question, for all accounts and all instances. */
export class AnswerCache {
  readonly #database: Database;
  readonly #readStored: ReadStored;

  constructor(database: Database, readStored: ReadStored) {
    this.#database = database;
    this.#readStored = readStored;
  }

  async find(key: Buffer, accountId: string, now: Date): Promise<Kept | undefined> {
    const found = await this.#database.pool.query<Omit<Kept, "payload"> & { payload: Buffer }>({
      name: "query-cache-find",
      text: `select payload, made_at as "madeAt",
               extract(epoch from expires_at - made_at)::int as "ttlS",
               exists (select from asked a where a.account_id = $2 and a.key = $1 and a.expires_at > $3) as "isOwn"
             from kept_answer where key = $1 and expires_at > $3`,
      values: [key, accountId, now],
    });
    const kept = found.rows[0];
    const payload = kept && (await unpacked(kept.payload, this.#readStored));
    return payload && { ...kept, payload };
  }

  /** Stores an answer and records that the account paid for it, so that a repeat costs half. */
  async keep(
    key: Buffer,
    payload: Packed,
    accountId: string,
    times: { readonly madeAt: Date; readonly ttlS: number },
  ): Promise<void> {
    await this.#database.pool.query({
      name: "query-cache-keep",
      text: `with kept as (
               insert into kept_answer (key, payload, made_at, expires_at) values ($1, $2, $3, $4)
               on conflict (key) do update set payload = excluded.payload, made_at = excluded.made_at,
                 expires_at = excluded.expires_at
             )
             insert into asked (account_id, key, expires_at) values ($5, $1, $4)
             on conflict (account_id, key) do update set expires_at = excluded.expires_at`,
      values: [key, payload, times.madeAt, new Date(times.madeAt.getTime() + times.ttlS * 1000), accountId],
    });
  }

  /** Records that the account paid the list price for an answer from the cache. */
  async note(key: Buffer, accountId: string, madeAt: Date, ttlS: number): Promise<void> {
    await this.#database.pool.query({
      name: "query-cache-note",
      text: `insert into asked (account_id, key, expires_at) values ($1, $2, $3)
             on conflict (account_id, key) do update set expires_at = excluded.expires_at`,
      values: [accountId, key, new Date(madeAt.getTime() + ttlS * 1000)],
    });
  }

  /** Deletes what has expired. */
  async sweep(now: Date): Promise<void> {
    await this.#database.pool.query("delete from kept_answer where expires_at <= $1", [now]);
    await this.#database.pool.query("delete from asked where expires_at <= $1", [now]);
  }
}

/** An answer as it is stored; see `packed`. */
export type Packed = Buffer & { readonly __packed: never };

/**
 * Records in the index are stored as references: a page of judgments has hundreds of KB, its references 2 KB. Other
 * long answers are compressed; PostgreSQL's own compression would take many times as long.
 */
export async function packed(payload: Payload): Promise<Packed> {
  if (payload.parts.some((part) => !Buffer.isBuffer(part))) return placesOf(payload) as Packed;
  const bytes = payload.bytes();
  return (bytes.length < packFromBytes ? bytes : await compress(bytes, quickly)) as Packed;
}

/** A JSON list of texts and of ranges: place, from, to. */
function placesOf({ parts }: Payload): Buffer {
  const list: (string | Range)[] = [];
  for (const part of parts) {
    const last = list.at(-1);
    if (!Buffer.isBuffer(part)) list.push([part.place, part.from, part.to]);
    else if (typeof last === "string") list[list.length - 1] = last + part.toString();
    else list.push(part.toString());
  }
  return Buffer.from(JSON.stringify(list));
}

type Range = readonly [place: string, from: number, to: number];

/** Unpacks a stored answer. Undefined if the index has deleted a part of it. */
async function unpacked(stored: Buffer, readStored: ReadStored): Promise<Payload | undefined> {
  if (stored[0] === openBracket) {
    const list = JSON.parse(stored.toString()) as (string | Range)[];
    const ranges = list.filter((part) => typeof part !== "string");
    const found = await readStored(ranges.map(([place]) => place));
    if (found.includes(undefined)) return undefined;
    let next = 0;
    return new Payload(
      list.map((part) =>
        typeof part === "string"
          ? Buffer.from(part)
          : (found[next++] as StoredPart).stretch(part[1], part[2]),
      ),
    );
  }
  const isPacked = stored.subarray(0, zstdMagic.length).equals(zstdMagic);
  return new Payload([isPacked ? await decompress(stored) : stored]);
}

/** Reads from the index; undefined for what it has deleted. */
export type ReadStored = (places: readonly string[]) => Promise<readonly (StoredPart | undefined)[]>;

interface StoredPart {
  stretch(from: number, to: number): Part;
}

/**
 * How answers are stored. Versions of the service that store them differently have different keys, because they may run
 * side by side.
 */
const storedForm = 3;

const openBracket = "[".charCodeAt(0);
const packFromBytes = 4_096;
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const quickly = { chunkSize: 1 << 16, params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** The cache key. Equal questions over equal data have equal keys. */
export class CacheKey {
  readonly bytes: Buffer;
  readonly #request: QueryRequest;

  constructor(request: QueryRequest, sourceVersion: string) {
    this.#request = request;
    this.bytes = createHash("sha256")
      .update(JSON.stringify([storedForm, sourceVersion, ...identityOf(request)]))
      .digest();
  }

  /** The key of the same question for an answer that was made from another version. */
  at(sourceVersion: string | undefined): CacheKey {
    return sourceVersion === undefined ? this : new CacheKey(this.#request, sourceVersion);
  }
}

function identityOf(request: QueryRequest): unknown[] {
  const { operation, params, page, pageSize, offset, snapshot } = request;
  const sorted = Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    operation.name,
    sorted,
    ...(operation.paged ? [page, pageSize] : []),
    snapshot ?? null,
    ...(offset === undefined ? [] : [offset]),
  ];
}
