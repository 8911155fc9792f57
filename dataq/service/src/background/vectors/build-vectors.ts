import { createHash } from "node:crypto";
import type { Database } from "../../database/database.ts";
import { tryLock } from "../../database/locks.ts";
import { type Embedder, RejectedText } from "../../search/meaning/embedder.ts";
import { packedBytes, packVector } from "../../search/meaning/vector.ts";
import { blockDocuments, blocksOf, digestBytes } from "../../search/meaning/vector-blocks.ts";
import type { MakeDocument, VectorSegment, VectorSpace } from "../../search/search-index.ts";

export interface VectorTask {
  readonly database: Database;
  readonly space: VectorSpace;
  readonly embedder: Embedder;
  /** The model as `Embedder.identity` names it. */
  readonly model: string;
  readonly corpus: string;
  readonly document: MakeDocument;
  readonly withoutDataset: string;
  readonly signal: AbortSignal;
  readonly progress: (counts: VectorCounts) => void;
  /** A record that the model rejects gets no vector, so that it does not hold up the others. */
  readonly onRejected: (id: string) => void;
}

/** Numbers of records: those that need a vector, those that have one, and those whose vector this build made. */
export interface VectorCounts {
  readonly done: number;
  readonly total: number;
  readonly made: number;
}

/**
 * Makes the vectors that the served snapshot of a corpus lacks, block by block, and stores each block when it is whole.
 * Of several services on one database, one builds; for the others this does nothing.
 */
export async function buildVectors(task: VectorTask): Promise<VectorCounts> {
  const { database, space, model, corpus } = task;
  const found = await space.segments(corpus);
  const segments = found?.segments.filter(({ dataset }) => dataset !== task.withoutDataset) ?? [];
  const total = segments.reduce((sum, { documents }) => sum + documents, 0);
  const missing = await missingBlocks(database, model, segments);
  let done = total - missing.reduce((sum, each) => sum + each.to - each.from, 0);
  let made = 0;
  task.progress({ done, total, made });
  if (missing.length === 0) return { done, total, made };
  // For the connection of the lock. The next look tries again.
  const takeBack = await database.lend(1);
  if (takeBack === undefined) return { done, total, made };
  const client = await database.connect();
  try {
    if (!(await tryLock(client, "vectors", corpus))) return { done, total, made };
    // Another service may have built some of them before it released the lock.
    const still = new Set((await missingBlocks(database, model, segments)).map(nameOf));
    for (const block of missing) {
      task.signal.throwIfAborted();
      if (still.has(nameOf(block))) made += await buildBlock(task, block);
      done += block.to - block.from;
      task.progress({ done, total, made });
    }
    return { done, total, made };
  } finally {
    await client.end();
    takeBack();
  }
}

/** Documents of a segment from one ordinal (included) to another (excluded). */
interface Block {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
}

function nameOf({ segment, from }: Block): string {
  return `${segment} ${from}`;
}

async function missingBlocks(
  { pool }: Database,
  model: string,
  segments: readonly VectorSegment[],
): Promise<Block[]> {
  const rows = await pool.query<{ segment: number; block: number }>(
    "select segment, block from search_vector_block where segment = any($1) and model = $2",
    [segments.map(({ id }) => id), model],
  );
  const held = new Set(rows.rows.map(({ segment, block }) => `${segment} ${block}`));
  return segments.flatMap((segment) =>
    Array.from({ length: blocksOf(segment) }, (_, block) => block)
      .filter((block) => !held.has(`${segment.id} ${block}`))
      .map((block) => ({
        segment: segment.id,
        from: block * blockDocuments,
        to: Math.min((block + 1) * blockDocuments, segment.documents),
      })),
  );
}

/** Returns how many vectors were made; the others were taken from earlier segments. */
async function buildBlock(task: VectorTask, { segment, from, to }: Block): Promise<number> {
  const { database, space, model, document } = task;
  const records = (await space.stored(segment, from, to)).map(({ id, body }) => {
    const text = (document(body as never).meaning ?? "").slice(0, mostCharacters);
    return { id, text, digest: createHash("sha256").update(text).digest().subarray(0, digestBytes) };
  });
  const known = await earlierVectors(database, model, records);
  const lacking = [...new Map(records.map((each) => [each.digest.toString("hex"), each])).values()].filter(
    ({ digest }) => !known.has(digest.toString("hex")),
  );
  for (let at = 0; at < lacking.length; at += textsAtOnce) {
    const batch = lacking.slice(at, at + textsAtOnce);
    for (const [place, vector] of (await embedAll(task, batch)).entries())
      known.set(batch[place]!.digest.toString("hex"), vector);
  }
  const vectors = records.map(({ digest }) => known.get(digest.toString("hex")) as Uint8Array);
  const bytes = Math.max(packedBytes(0), ...vectors.map(({ length }) => length));
  // A rejected text has an empty vector, which is not similar to anything.
  const whole = vectors.map((vector) => (vector.length === bytes ? vector : new Uint8Array(bytes)));
  await database.pool.query(
    `insert into search_vector_block (model, segment, block, dimension, digests, vectors)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [
      model,
      segment,
      from / blockDocuments,
      bytes - packedBytes(0),
      Buffer.concat(records.map(({ digest }) => digest)),
      Buffer.concat(whole),
    ],
  );
  return lacking.length;
}

/** Vectors of the same texts in other segments, by digest: a refresh writes every record of a data set again. */
async function earlierVectors(
  { pool }: Database,
  model: string,
  records: readonly { readonly id: string; readonly digest: Buffer }[],
): Promise<Map<string, Uint8Array>> {
  const rows = await pool.query<{ digest: Buffer; vector: Buffer }>(
    `select w.digest, substr(b.vectors, 1 + (d.ordinal % $4) * ($6 + b.dimension), $6 + b.dimension) as vector
       from unnest($2::text[], $3::bytea[]) as w(id, digest)
       join search_document d on d.id = w.id
       join search_vector_block b on b.segment = d.segment and b.model = $1 and b.block = d.ordinal / $4
      where substr(b.digests, 1 + (d.ordinal % $4) * $5, $5) = w.digest`,
    [
      model,
      records.map(({ id }) => id),
      records.map(({ digest }) => digest),
      blockDocuments,
      digestBytes,
      packedBytes(0),
    ],
  );
  return new Map(rows.rows.map(({ digest, vector }) => [digest.toString("hex"), vector]));
}

async function embedAll(
  task: VectorTask,
  batch: readonly { readonly id: string; readonly text: string }[],
): Promise<Uint8Array[]> {
  const signal = AbortSignal.any([task.signal, AbortSignal.timeout(batchLimitMs)]);
  try {
    const texts = batch.map(({ text }) => text);
    return (await task.embedder.embed(texts, signal)).map(packVector);
  } catch (error) {
    if (!(error instanceof RejectedText)) throw error;
    if (batch.length === 1) {
      task.onRejected(batch[0]!.id);
      return [new Uint8Array(0)];
    }
  }
  const each: Uint8Array[] = [];
  for (const one of batch) each.push(...(await embedAll(task, [one])));
  return each;
}

/** Most small models were trained on no more than 256 tokens. A longer text costs time and changes its vector little. */
const mostCharacters = 1_200;
const textsAtOnce = 32;
const batchLimitMs = 120_000;
