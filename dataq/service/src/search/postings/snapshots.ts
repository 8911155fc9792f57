import { Failure } from "@dataq/contract";
import type { Database } from "../../database/database.ts";
import { analysisRules } from "../analysis/analyser.ts";
import { BitSet } from "./bitset.ts";
import { normsOf } from "./bm25.ts";
import type { OpenSnapshot } from "./open-segment.ts";

/**
 * Snapshots by corpus. Asks the database for the current one at most once in `lookEveryMs`, so that a refresh by
 * another process is seen soon and queries cost nothing extra.
 */
export class Snapshots {
  readonly #pool: Database["pool"];
  readonly #now: () => number;
  readonly #heads = new Map<string, { at: number; head: Promise<Head | undefined> }>();
  readonly #open = new Map<number, Promise<OpenSnapshot>>();

  constructor(pool: Database["pool"], now: () => number) {
    this.#pool = pool;
    this.#now = now;
  }

  /** The current snapshot, or the older one that was asked for. Undefined for a corpus without any. */
  async open(corpus: string, wanted?: string): Promise<OpenSnapshot | undefined> {
    const head = await this.head(corpus);
    if (head === undefined) return undefined;
    if (wanted === undefined || wanted === String(head.snapshot)) return this.#load(head.snapshot, head);
    if (!/^\d{1,15}$/.test(wanted)) throw new Failure("snapshot_expired", { snapshot: wanted.slice(0, 40) });
    const id = Number(wanted);
    const found = await this.#pool.query<{ refreshed_at: Date }>(
      "select created_at as refreshed_at from search_snapshot where id = $1 and corpus = $2",
      [id, corpus],
    );
    const row = found.rows[0];
    if (row === undefined) throw new Failure("snapshot_expired", { snapshot: wanted });
    return this.#load(id, { ...head, refreshedAt: row.refreshed_at });
  }

  /** The next question reads the database again. */
  forget(corpus: string): void {
    this.#heads.delete(corpus);
  }

  async head(corpus: string): Promise<Head | undefined> {
    const known = this.#heads.get(corpus);
    if (known !== undefined && this.#now() - known.at < lookEveryMs) return known.head;
    const head = this.#readHead(corpus);
    this.#heads.set(corpus, { at: this.#now(), head });
    head.catch(() => this.#heads.delete(corpus));
    return head;
  }

  async #readHead(corpus: string): Promise<Head | undefined> {
    const found = await this.#pool.query<{
      snapshot: number;
      refreshed_at: Date;
      next_refresh_at: Date | null;
    }>({
      name: "search-head",
      text: "select snapshot, refreshed_at, next_refresh_at from search_corpus where corpus = $1",
      values: [corpus],
    });
    const row = found.rows[0];
    if (row === undefined) return undefined;
    return {
      snapshot: row.snapshot,
      corpus,
      refreshedAt: row.refreshed_at,
      nextRefreshAt: row.next_refresh_at,
    };
  }

  async #load(id: number, head: Head): Promise<OpenSnapshot> {
    const known = this.#open.get(id);
    if (known !== undefined) {
      return { ...(await known), refreshedAt: head.refreshedAt, nextRefreshAt: head.nextRefreshAt };
    }
    const loading = this.#read(id, head);
    this.#open.set(id, loading);
    loading.catch(() => this.#open.delete(id));
    if (this.#open.size > mostOpen) this.#open.delete(this.#open.keys().next().value as number);
    return loading;
  }

  async #read(id: number, head: Head): Promise<OpenSnapshot> {
    const found = await this.#pool.query<{
      id: number;
      dataset: string;
      analysis: string;
      documents: number;
      tokens: number;
      lengths: Buffer;
      dates: Buffer;
      dead: Buffer | null;
      size: number;
    }>(
      `select s.id, s.dataset, s.analysis, s.documents, s.tokens, s.lengths, s.dates, p.dead, n.size
         from search_snapshot n
         left join search_snapshot_segment p on p.snapshot = n.id
         left join search_segment s on s.id = p.segment
        where n.id = $1 order by s.id`,
      [id],
    );
    const first = found.rows[0];
    if (first === undefined) throw new Failure("snapshot_expired", { snapshot: String(id) });
    const rows = found.rows.filter((row) => row.id !== null);
    const documents = rows.reduce((sum, row) => sum + row.documents, 0);
    const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
    const meanLength = Math.max(1, tokens / Math.max(1, documents));
    const segments = rows.map((row) => {
      const dates = new Int32Array(aligned(row.dates));
      return {
        id: row.id,
        dataset: row.dataset,
        documents: row.documents,
        norms: normsOf(new Uint32Array(aligned(row.lengths)), meanLength),
        dates,
        isDated: !dates.includes(0),
        dead: row.dead === null ? null : new BitSet(row.dead),
      };
    });
    return { ...head, id, size: first.size, segments, analysis: first.analysis ?? analysisRules };
  }
}

interface Head {
  readonly snapshot: number;
  readonly corpus: string;
  readonly refreshedAt: Date;
  readonly nextRefreshAt: Date | null;
}

const lookEveryMs = 500;
const mostOpen = 64;

/** A copy that typed arrays can view, whatever the offset of the driver's buffer. */
function aligned(buffer: Buffer): ArrayBuffer {
  const copy = new ArrayBuffer(buffer.length);
  new Uint8Array(copy).set(buffer);
  return copy;
}
