import { Failure } from "@dataq/contract";
import type { Database, Queries } from "../../database/database.ts";
import type { Reads } from "../../database/replica.ts";
import { analysisRules } from "../analysis/analyser.ts";
import { normPerLengthOf } from "../bm25.ts";
import { BitSet } from "./bitset.ts";
import type { OpenSnapshot, SegmentTable } from "./open-snapshot.ts";

/**
 * Snapshots by corpus. Asks the database for the current one at most once in `lookEveryMs`, so that a refresh by
 * another process is seen soon and queries cost nothing extra.
 */
export class Snapshots {
  readonly #pool: Queries;
  readonly #reads: Reads;
  readonly #pinned = new Set<number>();
  readonly #now: () => number;
  readonly #heads = new Map<string, { at: number; head: Promise<Head | undefined> }>();
  readonly #open = new Map<number, Promise<OpenSnapshot>>();
  /** The segments of all open snapshots, each once. */
  readonly #tables = new Map<number, SegmentTable>();
  readonly #onClose: (snapshot: number) => void;

  constructor(
    { pool, reads }: Pick<Database, "pool" | "reads">,
    now: () => number,
    onClose: (snapshot: number) => void,
  ) {
    this.#pool = pool;
    this.#reads = reads;
    this.#now = now;
    this.#onClose = onClose;
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
    await this.#pin(id);
    return this.#load(id, { ...head, refreshedAt: row.refreshed_at });
  }

  /** The next question of the corpus, or of any, reads the database again. */
  forget(corpus?: string): void {
    if (corpus === undefined) this.#heads.clear();
    else this.#heads.delete(corpus);
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
    await this.#pin(row.snapshot);
    return {
      snapshot: row.snapshot,
      corpus,
      refreshedAt: row.refreshed_at,
      nextRefreshAt: row.next_refresh_at,
    };
  }

  /** A replica answers from a snapshot only when it has replayed its switch. */
  async #pin(snapshot: number): Promise<void> {
    if (this.#pinned.has(snapshot)) return;
    await this.#reads.pin();
    if (this.#pinned.size >= mostPinned) this.#pinned.clear();
    this.#pinned.add(snapshot);
  }

  async #load(id: number, head: Head): Promise<OpenSnapshot> {
    const known = this.#open.get(id);
    if (known !== undefined) {
      return { ...(await known), refreshedAt: head.refreshedAt, nextRefreshAt: head.nextRefreshAt };
    }
    const loading = this.#read(id, head);
    this.#open.set(id, loading);
    loading.catch(() => this.#open.delete(id));
    if (this.#open.size > mostOpen) await this.#close(this.#open.keys().next().value as number);
    return loading;
  }

  /** Closes the snapshot that was opened first, and forgets segments that no other one has. */
  async #close(id: number): Promise<void> {
    this.#open.delete(id);
    this.#onClose(id);
    const open = await Promise.allSettled(this.#open.values());
    const isOpen = new Set(
      open.flatMap((each) => (each.status === "fulfilled" ? each.value.segments.map(({ id }) => id) : [])),
    );
    for (const segment of this.#tables.keys()) if (!isOpen.has(segment)) this.#tables.delete(segment);
  }

  async #read(id: number, head: Head): Promise<OpenSnapshot> {
    const found = await this.#reads.fixed.query<{
      id: number;
      analysis: string;
      dead: Buffer | null;
      size: number;
    }>(
      `select s.id, s.analysis, p.dead, n.size
         from search_snapshot n
         left join search_snapshot_segment p on p.snapshot = n.id
         left join search_segment s on s.id = p.segment
        where n.id = $1 order by s.id`,
      [id],
    );
    const first = found.rows[0];
    if (first === undefined) throw new Failure("snapshot_expired", { snapshot: String(id) });
    const rows = found.rows.filter((row) => row.id !== null);
    const tables = await this.#tablesOf(rows.map((row) => row.id));
    const documents = tables.reduce((sum, table) => sum + table.documents, 0);
    const tokens = tables.reduce((sum, table) => sum + table.tokens, 0);
    const normPerLength = normPerLengthOf(tokens, documents);
    const segments = tables.map((table, place) => {
      const dead = rows[place]?.dead ?? null;
      return { ...table, normPerLength, dead: dead === null ? null : new BitSet(shared(dead)) };
    });
    return {
      ...head,
      id,
      size: first.size,
      segments,
      isElsewhere: segments.some(({ home }) => home !== null),
      analysis: first.analysis ?? analysisRules,
    };
  }

  async #tablesOf(ids: readonly number[]): Promise<SegmentTable[]> {
    const tables = new Map(ids.map((id) => [id, this.#tables.get(id)]));
    const missing = ids.filter((id) => tables.get(id) === undefined);
    if (missing.length > 0) {
      const found = await this.#reads.fixed.query<
        Pick<SegmentTable, "id" | "dataset" | "documents" | "tokens" | "home"> & {
          lengths: Buffer;
          dates: Buffer;
        }
      >(
        "select id, dataset, documents, tokens, lengths, dates, home from search_segment where id = any($1)",
        [missing],
      );
      for (const row of found.rows) {
        const lengths = new Uint32Array(shared(row.lengths).buffer);
        const dates = new Int32Array(shared(row.dates).buffer);
        const table = { ...row, lengths, dates, isDated: !dates.includes(0) };
        tables.set(row.id, table);
        this.#tables.set(row.id, table);
      }
    }
    return ids.map((id) => tables.get(id) as SegmentTable);
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
/** Snapshots of different corpora are not committed in the order of their numbers, so each is pinned. */
const mostPinned = 1_000;

/** A copy in memory that threads share, which typed arrays can view whatever the offset of the driver's buffer. */
function shared(buffer: Buffer): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(buffer.length));
  copy.set(buffer);
  return copy;
}
