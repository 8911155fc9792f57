import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import type { Database } from "../database/database.ts";
import type { QueryRequest } from "./request.ts";

/** An answer that is still fresh. */
export interface Kept {
  /** The answer without what belongs to one call: see envelope.ts. */
  readonly payload: Buffer;
  readonly madeAt: Date;
  /** Whether this very account asked for it within its time: only then is it half the price. */
  readonly isOwn: boolean;
}

/** Answers by question, for all accounts and all instances. */
export class AnswerCache {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(key: Buffer, accountId: string, now: Date): Promise<Kept | undefined> {
    const found = await this.#database.pool.query<Kept>({
      name: "query-cache-find",
      text: `select payload, made_at as "madeAt",
               exists (select from asked a where a.account_id = $2 and a.key = $1 and a.expires_at > $3) as "isOwn"
             from kept_answer where key = $1 and expires_at > $3`,
      values: [key, accountId, now],
    });
    const kept = found.rows[0];
    return kept && { ...kept, payload: await unpacked(kept.payload) };
  }

  /** Keeps an answer, and notes that the account paid the list price for it, so that a repeat is half of it. */
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

  /** Notes that the account paid the list price for an answer that was there. */
  async note(key: Buffer, accountId: string, madeAt: Date, ttlS: number): Promise<void> {
    await this.#database.pool.query({
      name: "query-cache-note",
      text: `insert into asked (account_id, key, expires_at) values ($1, $2, $3)
             on conflict (account_id, key) do update set expires_at = excluded.expires_at`,
      values: [accountId, key, new Date(madeAt.getTime() + ttlS * 1000)],
    });
  }

  /** Forgets what is over. */
  async sweep(now: Date): Promise<void> {
    await this.#database.pool.query("delete from kept_answer where expires_at <= $1", [now]);
    await this.#database.pool.query("delete from asked where expires_at <= $1", [now]);
  }
}

/** An answer as it is stored; see `packed`. */
export type Packed = Buffer & { readonly __packed: never };

/** A page of judgments is 300 KB; PostgreSQL's own compression would take many times as long. */
export async function packed(payload: Buffer): Promise<Packed> {
  return (payload.length < packFromBytes ? payload : await compress(payload, quickly)) as Packed;
}

async function unpacked(stored: Buffer): Promise<Buffer> {
  return stored.subarray(0, zstdMagic.length).equals(zstdMagic) ? decompress(stored) : stored;
}

const packFromBytes = 4_096;
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const quickly = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Equal questions over equal data have equal keys, however they were written. */
export function cacheKeyOf(request: QueryRequest, sourceVersion: string): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([sourceVersion, ...identityOf(request)]))
    .digest();
}

/** What a retry under the same Idempotency-Key must ask again. */
export function fingerprintOf(request: QueryRequest): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([request.cache, ...identityOf(request)]))
    .digest();
}

function identityOf(request: QueryRequest): unknown[] {
  const { operation, params, page, pageSize, offset, fields, snapshot } = request;
  const sorted = Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    operation.name,
    sorted,
    ...(operation.paged ? [page, pageSize] : []),
    fields ?? null,
    snapshot ?? null,
    ...(offset === undefined ? [] : [offset]),
  ];
}
