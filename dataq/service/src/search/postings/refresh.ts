import type { ClientBase } from "pg";
import { lock, unlock } from "../../database/locks.ts";
import type { Analyser } from "../analysis/analyser.ts";
import type { Fill, IndexDocument, RefreshOptions, RefreshReport } from "../search-index.ts";
import { BitSet } from "./bitset.ts";
import { SegmentWriter } from "./segment-writer.ts";

/**
 * Builds segments from the documents beside what is served, then switches to a snapshot with them in one
 * transaction. Whoever is killed before the switch leaves the old data serving; its rows go with the next refresh.
 * The client must be a connection of its own: the lock that keeps two refreshes of a corpus apart is the session's.
 */
export async function refresh(
  client: ClientBase,
  corpus: string,
  documents: AsyncIterable<IndexDocument>,
  analyser: Analyser,
  options: RefreshOptions,
): Promise<RefreshReport> {
  await lock(client, "corpus", corpus);
  try {
    const left = await leftByCutOff(client, corpus, analyser.version, options);
    await removeUnfinished(client, corpus, left.segments);
    const writer = new SegmentWriter(client, corpus, options.dataset, analyser, options.resumeKey);
    let count = 0;
    for await (const document of documents) {
      options.signal?.throwIfAborted();
      if (count >= left.documents) await writer.add(document);
      count++;
      if (count % progressEvery === 0) options.progress?.(count);
    }
    await writer.finish();
    options.progress?.(count);
    // Without statistics of the new segment the planner reads it row by row, in the switch and in every query.
    await client.query("analyze search_posting, search_document, search_segment");
    const report = await switchTo(client, corpus, [...left.segments, ...writer.segments], options);
    await sweep(client);
    return report;
  } finally {
    await unlock(client, "corpus", corpus);
  }
}

const progressEvery = 500;
/** The specification's: the index is refreshed every 30 days. */
const refreshEveryDays = 30;
/** How long pages of an older snapshot can still be read. */
const keepHours = 24;

async function switchTo(
  client: ClientBase,
  corpus: string,
  added: readonly number[],
  options: RefreshOptions,
): Promise<RefreshReport> {
  await client.query("begin");
  try {
    const isGone = ({ dataset }: ServedSegment) => options.mode === "replace" && dataset === options.dataset;
    const kept = (await served(client, corpus)).filter((segment) => !isGone(segment));
    const news = await client.query<{ id: number; dataset: string; documents: number }>(
      "select id, dataset, documents from search_segment where id = any($1) order by id",
      [added],
    );
    const parts = [...kept, ...news.rows.map((row) => ({ ...row, dead: null }))];
    const dead = new Map(parts.map((part) => [part.id, part.dead === null ? null : copy(part.dead)]));
    for (const { segment, ordinal } of await replaced(
      client,
      parts.map((part) => part.id),
      added,
    )) {
      const part = parts.find(({ id }) => id === segment);
      const bits = dead.get(segment) ?? BitSet.ofSize(part?.documents ?? 0);
      bits.add(ordinal);
      dead.set(segment, bits);
    }
    if (options.fill !== undefined) makeWay(parts, dead, options.fill);
    const size = sizeOf(parts, dead);
    const made = await client.query<{ id: number }>(
      "insert into search_snapshot (corpus, size) values ($1, $2) returning id",
      [corpus, size],
    );
    const snapshot = (made.rows[0] as { id: number }).id;
    for (const part of parts) {
      const bits = dead.get(part.id)?.bytes;
      await client.query(
        "insert into search_snapshot_segment (snapshot, segment, dead) values ($1, $2, $3)",
        [snapshot, part.id, bits === undefined ? null : Buffer.from(bits)],
      );
    }
    await client.query(
      "update search_snapshot set retired_at = now() where corpus = $1 and id <> $2 and retired_at is null",
      [corpus, snapshot],
    );
    await client.query(
      `insert into search_corpus (corpus, snapshot, refreshed_at, next_refresh_at)
       values ($1, $2, now(), now() + make_interval(days => $3))
       on conflict (corpus) do update set snapshot = excluded.snapshot, refreshed_at = excluded.refreshed_at,
         next_refresh_at = excluded.next_refresh_at`,
      [corpus, snapshot, refreshEveryDays],
    );
    await client.query("commit");
    return { snapshot: String(snapshot), size };
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** Marks so many of the fill's last documents dead that the corpus is no larger than the fill makes it. */
function makeWay(
  parts: readonly ServedSegment[],
  dead: Map<number, BitSet | null>,
  { dataset, upTo }: Fill,
): void {
  let excess = sizeOf(parts, dead) - upTo;
  for (const part of parts.filter((each) => each.dataset === dataset).reverse()) {
    if (excess <= 0) return;
    const bits = dead.get(part.id) ?? BitSet.ofSize(part.documents);
    for (let ordinal = part.documents - 1; ordinal >= 0 && excess > 0; ordinal--) {
      if (bits.has(ordinal)) continue;
      bits.add(ordinal);
      excess--;
    }
    dead.set(part.id, bits);
  }
}

function sizeOf(parts: readonly ServedSegment[], dead: ReadonlyMap<number, BitSet | null>): number {
  return parts.reduce((sum, part) => sum + part.documents - (dead.get(part.id)?.count() ?? 0), 0);
}

interface ServedSegment {
  readonly id: number;
  readonly dataset: string;
  readonly documents: number;
  readonly dead: BitSet | null;
}

async function served(client: ClientBase, corpus: string): Promise<ServedSegment[]> {
  const found = await client.query<{ id: number; dataset: string; documents: number; dead: Buffer | null }>(
    `select s.id, s.dataset, s.documents, p.dead
       from search_corpus c
       join search_snapshot_segment p on p.snapshot = c.snapshot
       join search_segment s on s.id = p.segment
      where c.corpus = $1 order by s.id`,
    [corpus],
  );
  return found.rows.map((row) => ({ ...row, dead: row.dead === null ? null : new BitSet(row.dead) }));
}

/** Documents whose id stands again, later: of one id only the last counts. */
async function replaced(client: ClientBase, all: readonly number[], added: readonly number[]) {
  const found = await client.query<{ segment: number; ordinal: number }>(
    `select segment, ordinal from (
       select segment, ordinal, row_number() over (partition by id order by segment desc, ordinal desc) as place
         from search_document
        where segment = any($1) and id in (select id from search_document where segment = any($2))
     ) as d where place > 1`,
    [all, added],
  );
  return found.rows;
}

/** Whole segments that the same refresh wrote before it was cut off. */
async function leftByCutOff(client: ClientBase, corpus: string, analysis: string, options: RefreshOptions) {
  if (options.resumeKey === undefined) return { segments: [], documents: 0 };
  const found = await client.query<{ id: number; documents: number }>(
    `select s.id, s.documents from search_segment s
      where s.corpus = $1 and s.dataset = $2 and s.resume_key = $3 and s.analysis = $4 and s.is_ready
        and not exists (select from search_snapshot_segment p where p.segment = s.id) order by s.id`,
    [corpus, options.dataset, options.resumeKey, analysis],
  );
  return {
    segments: found.rows.map(({ id }) => id),
    documents: found.rows.reduce((sum, row) => sum + row.documents, 0),
  };
}

async function removeUnfinished(
  client: ClientBase,
  corpus: string,
  except: readonly number[],
): Promise<void> {
  const found = await client.query<{ id: number }>(
    `select s.id from search_segment s
      where s.corpus = $1 and not s.id = any($2)
        and not exists (select from search_snapshot_segment p where p.segment = s.id)`,
    [corpus, except],
  );
  await removeSegments(
    client,
    found.rows.map(({ id }) => id),
  );
}

/** Forgets snapshots that no page can name any more, and segments that no snapshot names. */
async function sweep(client: ClientBase): Promise<void> {
  await client.query("delete from search_snapshot where retired_at < now() - make_interval(hours => $1)", [
    keepHours,
  ]);
  const found = await client.query<{ id: number }>(
    `select s.id from search_segment s
      where s.is_ready and s.created_at < now() - make_interval(hours => $1)
        and not exists (select from search_snapshot_segment p where p.segment = s.id)`,
    [keepHours],
  );
  await removeSegments(
    client,
    found.rows.map(({ id }) => id),
  );
}

async function removeSegments(client: ClientBase, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await client.query("delete from search_posting where segment = any($1)", [ids]);
  await client.query("delete from search_document where segment = any($1)", [ids]);
  await client.query("delete from search_segment where id = any($1)", [ids]);
}

function copy(bits: BitSet): BitSet {
  return new BitSet(Uint8Array.from(bits.bytes));
}
