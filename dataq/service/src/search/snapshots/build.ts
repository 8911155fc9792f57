import type { ClientBase } from "pg";
import { lock, unlock } from "../../database/locks.ts";
import type { IndexDocument, MakeDocument, RefreshOptions, RefreshReport } from "../search-index.ts";
import { BitSet } from "./bitset.ts";
import { type Position, unpackBody } from "./bodies.ts";
import { type AsOwner, abandonedTables, dropOwnTables, ownTables } from "./own-tables.ts";
import { covered, type ServedSegment, served, switchTo } from "./switch.ts";

/** What a build works with. */
export interface Building {
  /** A separate connection, because the lock that keeps two builds of a corpus apart belongs to the session. */
  readonly client: ClientBase;
  readonly asOwner: AsOwner;
  readonly corpus: string;
}

/** Writes the documents of a data set as segments. */
export interface Writer {
  readonly segments: readonly number[];
  /** The position of the document. */
  add(document: IndexDocument): Promise<Position>;
  /** Writes what is still in memory. Afterwards a snapshot may name the segments. */
  finish(): Promise<void>;
  /** Nothing is written afterwards, even if the build has failed. */
  close(): Promise<void>;
}

/** Runs one build of a corpus at a time and then removes what nobody can read. An engine has its own to remove. */
export async function alone<Result>(
  building: Building,
  run: () => Promise<Result>,
  removeOwn: () => Promise<void> = async () => {},
): Promise<Result> {
  const { client, corpus } = building;
  await lock(client, "corpus", corpus);
  try {
    const result = await run();
    await sweep(building);
    await removeOwn();
    return result;
  } finally {
    await unlock(client, "corpus", corpus);
  }
}

/** Passes each document and its position to `take`, then switches to the writer's segments and those that are `kept`. */
export async function buildNew(
  { client, corpus }: Building,
  documents: AsyncIterable<IndexDocument>,
  { writer, kept, take }: NewSegments,
  options: RefreshOptions,
): Promise<RefreshReport> {
  let count = 0;
  try {
    for await (const document of documents) {
      options.signal?.throwIfAborted();
      await take(document, count);
      count++;
      if (count % progressEvery === 0) options.progress?.(count);
    }
    await writer.finish();
  } finally {
    await writer.close();
  }
  options.progress?.(count);
  await analyse(client);
  return switchTo(client, corpus, [...kept, ...writer.segments], options);
}

interface NewSegments {
  readonly writer: Writer;
  /** Complete segments of the same refresh, written before it was interrupted. */
  readonly kept: readonly number[];
  /** Writes a document that an interrupted refresh has not written. */
  take(document: IndexDocument, at: number): Promise<unknown>;
}

/**
 * Merges the segments of every data set into new ones, split with another dictionary, and switches to all of them at
 * once: a process that is killed leaves no snapshot whose segments use two dictionaries.
 */
export async function buildAgain(
  building: Building,
  make: MakeDocument,
  writerOf: (dataset: string) => Writer,
  signal: AbortSignal | undefined,
): Promise<RefreshReport> {
  const { client, corpus } = building;
  await removeUnfinished(building, []);
  const before = await served(client, corpus);
  const added: number[] = [];
  const dead = new Map<number, BitSet>();
  for (const dataset of new Set(before.map((segment) => segment.dataset))) {
    const own = before.filter((segment) => segment.dataset === dataset);
    const writer = writerOf(dataset);
    try {
      for await (const { body, isDead } of keptBodies(client, own, before)) {
        signal?.throwIfAborted();
        const { segment, ordinal } = await writer.add(make(body as never));
        if (!isDead) continue;
        const bits = dead.get(segment) ?? BitSet.ofSize(0);
        dead.set(segment, bits.with(ordinal));
      }
      await writer.finish();
    } finally {
      await writer.close();
    }
    added.push(...writer.segments);
  }
  await analyse(client);
  return switchTo(client, corpus, added, { replacesAll: true, dead });
}

/**
 * Without statistics of a new segment, the planner reads it row by row, in the switch and in every query. Tables of their
 * own have theirs already.
 */
async function analyse(client: ClientBase): Promise<void> {
  await client.query("analyze search_posting_shared, search_document_shared, search_segment");
}

/**
 * Documents that a data set must keep: those being served, and those that are hidden only by a document of another
 * data set.
 */
async function* keptBodies(
  client: ClientBase,
  own: readonly ServedSegment[],
  all: readonly ServedSegment[],
): AsyncGenerator<{ body: object; isDead: boolean }> {
  const hidden = own.some(({ dead }) => dead !== null) ? await covered(client, own, all) : new Set();
  for (const segment of own) {
    for await (const { ordinal, body } of bodiesOf(client, segment)) {
      const isDead = segment.dead?.has(ordinal) ?? false;
      if (!isDead || hidden.has(`${segment.id} ${ordinal}`)) yield { body, isDead };
    }
  }
}

/** The bodies of a segment by their ordinals, those of hidden documents too. */
export async function* bodiesOf(
  client: Pick<ClientBase, "query">,
  { id, documents }: Pick<ServedSegment, "id" | "documents">,
): AsyncGenerator<{ ordinal: number; body: object }> {
  for (let from = 0; from < documents; from += scanRows) {
    const rows = await client.query<{ ordinal: number; body: Buffer }>(
      "select ordinal, body from search_document where segment = $1 and ordinal >= $2 and ordinal < $3 order by ordinal",
      [id, from, from + scanRows],
    );
    for (const { ordinal, body } of rows.rows)
      yield { ordinal, body: JSON.parse(unpackBody(body).toString()) as object };
  }
}

/** The bodies of a data set in an older snapshot, in the order of their import. */
export async function* bodiesAt(
  client: Pick<ClientBase, "query">,
  snapshot: number,
  dataset: string,
): AsyncGenerator<object> {
  const found = await client.query<{ id: number; documents: number }>(
    `select s.id, s.documents from search_snapshot_segment p join search_segment s on s.id = p.segment
      where p.snapshot = $1 and s.dataset = $2 order by s.id`,
    [snapshot, dataset],
  );
  for (const segment of found.rows) for await (const { body } of bodiesOf(client, segment)) yield body;
}

/** Removes the segments that an interrupted build left, except those that this one continues. */
export async function removeUnfinished(building: Building, except: readonly number[]): Promise<void> {
  const found = await building.client.query<{ id: number }>(
    `select s.id from search_segment s
      where s.corpus = $1 and not s.id = any($2)
        and not exists (select from search_snapshot_segment p where p.segment = s.id)`,
    [building.corpus, except],
  );
  await removeSegments(
    building,
    found.rows.map(({ id }) => id),
  );
}

/**
 * Deletes snapshots of a corpus that no page can name and nobody can restore, and its segments without a snapshot.
 * Those of other corpora may belong to a running build, whose lock we do not hold.
 */
async function sweep(building: Building): Promise<void> {
  const { client, asOwner, corpus } = building;
  await client.query(
    `delete from search_snapshot where corpus = $2 and retired_at < now() - make_interval(hours => $1)
      and (kept_until is null or kept_until < now())`,
    [keepHours, corpus],
  );
  const found = await client.query<{ id: number }>(
    `select s.id from search_segment s
      where s.corpus = $2 and s.is_ready and s.created_at < now() - make_interval(hours => $1)
        and not exists (select from search_snapshot_segment p where p.segment = s.id)`,
    [keepHours, corpus],
  );
  await removeSegments(
    building,
    found.rows.map(({ id }) => id),
  );
  await dropOwnTables(asOwner, await abandonedTables(client));
}

/** Tables go as a whole when none of their segments is left. Segments that share a table are deleted row by row. */
async function removeSegments({ client, asOwner }: Building, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  const found = await client.query<{ own_tables: number | null; removed: number[]; is_whole: boolean }>(
    `select own_tables, array_agg(id) filter (where id = any($1)) as removed, bool_and(id = any($1)) as is_whole
       from search_segment
      where id = any($1) or own_tables in (select own_tables from search_segment where id = any($1))
      group by own_tables`,
    [ids],
  );
  const whole: number[] = [];
  for (const { own_tables: own, removed, is_whole } of found.rows) {
    if (own !== null && is_whole) {
      whole.push(own);
      continue;
    }
    const [postings, documents] =
      own === null
        ? ["search_posting_shared", "search_document_shared"]
        : [ownTables(own).postings, ownTables(own).documents];
    await client.query(`delete from ${postings} where segment = any($1)`, [removed]);
    await client.query(`delete from ${documents} where segment = any($1)`, [removed]);
  }
  await dropOwnTables(asOwner, whole);
  await client.query("delete from search_segment where id = any($1)", [ids]);
}

/** How long pages of an older snapshot can still be read. */
const keepHours = 24;
const progressEvery = 500;
const scanRows = 500;
