import type { ClientBase } from "pg";
import type { Fill, RefreshOptions, RefreshReport } from "../search-index.ts";
import { BitSet } from "./bitset.ts";

export interface ServedSegment {
  readonly id: number;
  readonly dataset: string;
  readonly documents: number;
  readonly dead: BitSet | null;
}

/** A switch of one data set, or of all of them if the dead documents are already known. */
export type Switch =
  | Omit<RefreshOptions, "signal" | "progress" | "resumeKey">
  | { readonly replacesAll: true; readonly dead: ReadonlyMap<number, BitSet> };

/** Makes a snapshot of what stays and what was added, and serves from it, in one transaction. */
export async function switchTo(
  client: ClientBase,
  corpus: string,
  added: readonly number[],
  change: Switch,
): Promise<RefreshReport> {
  await client.query("begin");
  try {
    const before = await served(client, corpus);
    const isGone = ({ dataset }: ServedSegment) =>
      "replacesAll" in change || (change.mode === "replace" && dataset === change.dataset);
    const kept = before.filter((segment) => !isGone(segment));
    const news = await client.query<{ id: number; dataset: string; documents: number }>(
      "select id, dataset, documents from search_segment where id = any($1) order by id",
      [added],
    );
    const parts = [...kept, ...news.rows.map((row) => ({ ...row, dead: null }))];
    const gone = before.filter(isGone).map(({ id }) => id);
    const dead =
      "replacesAll" in change
        ? new Map(change.dead)
        : await deadAfter(client, parts, [...added, ...gone], change.fill);
    const size = sizeOf(parts, dead);
    const previous = await client.query<{ id: number }>(
      "update search_snapshot set retired_at = now() where corpus = $1 and retired_at is null returning id",
      [corpus],
    );
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
    // An empty corpus counts as one that was never filled, so nobody pays for an answer from it.
    if (parts.length === 0) await client.query("delete from search_corpus where corpus = $1", [corpus]);
    else await serve(client, corpus, snapshot, "replacesAll" in change);
    if (!("replacesAll" in change))
      await change.atSwitch?.({
        client,
        previous: previous.rows.at(-1)?.id ?? null,
        before: sizeOf(before.filter(({ dataset }) => dataset === change.dataset)),
        after: sizeOf(
          parts.filter(({ dataset }) => dataset === change.dataset),
          dead,
        ),
        hiddenIds: (most) => hiddenIds(client, added, most),
        keepPrevious: (until) => keepSnapshot(client, previous.rows.at(-1)?.id ?? null, until),
      });
    await client.query("commit");
    return { snapshot: String(snapshot), size };
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** From the specification: the index is refreshed every 30 days. */
const refreshEveryDays = 30;

/** Only a rebuild restarts the 30 days: a daily import must not postpone the refresh forever. */
async function serve(
  client: ClientBase,
  corpus: string,
  snapshot: number,
  isRebuilt: boolean,
): Promise<void> {
  await client.query(
    `insert into search_corpus (corpus, snapshot, refreshed_at, next_refresh_at)
     values ($1, $2, now(), now() + make_interval(days => $3))
     on conflict (corpus) do update set snapshot = excluded.snapshot, refreshed_at = excluded.refreshed_at,
       next_refresh_at = case when $4 then excluded.next_refresh_at
         else coalesce(search_corpus.next_refresh_at, excluded.next_refresh_at) end`,
    [corpus, snapshot, refreshEveryDays, isRebuilt],
  );
}

/**
 * The dead documents after the switch. For each ID only the last document counts. If it is removed, the
 * previous one counts again.
 */
async function deadAfter(
  client: ClientBase,
  parts: readonly ServedSegment[],
  changed: readonly number[],
  fill: Fill | undefined,
): Promise<Map<number, BitSet>> {
  const dead = new Map<number, BitSet>();
  for (const part of parts)
    if (part.dead !== null && part.dataset !== fill?.dataset) dead.set(part.id, copy(part.dead));
  const found = await client.query<{ segment: number; ordinal: number; place: number }>(
    `select segment, ordinal, place::int from (
       select segment, ordinal, row_number() over (partition by id order by segment desc, ordinal desc) as place
         from search_document
        where segment = any($1) and id in (select id from search_document where segment = any($2))
     ) as d where place > 1 or segment = any($3)`,
    [parts.map(({ id }) => id), changed, [...dead.keys()]],
  );
  for (const { segment, ordinal, place } of found.rows) {
    const bits = dead.get(segment) ?? BitSet.ofSize(0);
    if (place === 1) bits.remove(ordinal);
    dead.set(segment, place > 1 ? bits.with(ordinal) : bits);
  }
  if (fill !== undefined) makeWay(parts, dead, fill);
  return dead;
}

/** Marks enough of the last generated documents dead that the corpus is no larger than its fill size. */
function makeWay(parts: readonly ServedSegment[], dead: Map<number, BitSet>, { dataset, upTo }: Fill): void {
  let excess = sizeOf(parts, dead) - upTo;
  for (const part of parts.filter((each) => each.dataset === dataset).reverse()) {
    if (excess <= 0) return;
    let bits = dead.get(part.id) ?? BitSet.ofSize(part.documents);
    for (let ordinal = part.documents - 1; ordinal >= 0 && excess > 0; ordinal--) {
      if (bits.has(ordinal)) continue;
      bits = bits.with(ordinal);
      excess--;
    }
    dead.set(part.id, bits);
  }
}

/** Number of live documents. `dead` replaces the dead documents stored in the segments. */
function sizeOf(parts: readonly ServedSegment[], dead?: ReadonlyMap<number, BitSet>): number {
  return parts.reduce((sum, part) => {
    const bits = dead === undefined ? part.dead : dead.get(part.id);
    return sum + part.documents - (bits?.count() ?? 0);
  }, 0);
}

export async function served(client: ClientBase, corpus: string): Promise<ServedSegment[]> {
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

/** Documents that are the last of their ID within their data set, but hidden by another data set's. */
export async function covered(
  client: ClientBase,
  own: readonly ServedSegment[],
  all: readonly ServedSegment[],
): Promise<Set<string>> {
  const found = await client.query<{ segment: number; ordinal: number }>(
    `select segment, ordinal from (
       select segment, ordinal,
              row_number() over (partition by id order by segment = any($1) desc, segment desc, ordinal desc) as own,
              row_number() over (partition by id order by segment desc, ordinal desc) as place
         from search_document
        where segment = any($2) and id in (select id from search_document where segment = any($1))
     ) as d where own = 1 and place > 1`,
    [own.map(({ id }) => id), all.map(({ id }) => id)],
  );
  return new Set(found.rows.map(({ segment, ordinal }) => `${segment} ${ordinal}`));
}

/** The first IDs of these segments' documents that the current snapshot does not serve. */
async function hiddenIds(client: ClientBase, segments: readonly number[], most: number): Promise<string[]> {
  const found = await client.query<{ id: string }>(
    `select distinct d.id from search_corpus c
       join search_snapshot_segment p on p.snapshot = c.snapshot
       join search_document d on d.segment = p.segment
      where p.segment = any($1) and p.dead is not null
        and case when d.ordinal < 8 * length(p.dead) then get_bit(p.dead, d.ordinal) = 1 else false end
      order by d.id limit $2`,
    [segments, most],
  );
  return found.rows.map(({ id }) => id);
}

async function keepSnapshot(client: ClientBase, snapshot: number | null, until: Date): Promise<void> {
  await client.query("update search_snapshot set kept_until = greatest(kept_until, $2) where id = $1", [
    snapshot,
    until,
  ]);
}

function copy(bits: BitSet): BitSet {
  return new BitSet(Uint8Array.from(bits.bytes));
}
