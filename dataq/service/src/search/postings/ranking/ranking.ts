import type { Queries } from "../../../database/database.ts";
import { Recent } from "../../recent.ts";
import type { Question } from "../../search-index.ts";
import type { OpenSegment, ReadSnapshot } from "../../snapshots/open-snapshot.ts";
import { blockFields, decode, type Postings, postingsAt } from "../blocks/codec.ts";
import { BlockMemory, type KeptBlock, Reading } from "./block-memory.ts";
import { phraseTermsOf, termsOf } from "./evaluate.ts";
import {
  allow,
  lateAfter,
  type RankAnswer,
  RankLate,
  type RankTask,
  type ReadSegment,
  rank,
  rankedTerms,
} from "./rank.ts";
import { failed, RankThreads, type RankThreadsOptions } from "./rank-threads.ts";
import { Scratch } from "./scratch.ts";

export interface RankingOptions extends RankThreadsOptions {
  /** Questions with fewer postings are ranked at once, because a message to a thread would take longer. */
  readonly leastForThread?: number;
  /** The most memory for decoded blocks; by default enough for the common words of the largest corpus. */
  readonly mostBlockBytes?: number;
}

/** A block that a question needs; `stored` if the question decodes it. */
interface NeededBlock {
  readonly part: number;
  readonly term: number;
  readonly block: KeptBlock;
  readonly stored: Buffer | undefined;
}

/** A question with all that it reads. */
interface Prepared {
  readonly task: RankTask;
  readonly terms: readonly string[];
  readonly blocks: readonly NeededBlock[];
  readonly places: readonly Map<string, Uint8Array<ArrayBuffer>>[];
}

/** Reads the blocks of a question, keeps them decoded, and has the question ranked. */
export class Ranking {
  readonly #pool: Queries;
  readonly #threads: RankThreads;
  readonly #memory: BlockMemory;
  /** Segments and terms without a block. */
  readonly #absent = new Recent<string, true>(absentBytes);
  readonly #mostBlockBytes: number;
  readonly #leastForThread: number;
  readonly #scratch = new Scratch();

  constructor(pool: Queries, options: RankingOptions = {}) {
    this.#pool = pool;
    this.#threads = new RankThreads(options);
    this.#mostBlockBytes = options.mostBlockBytes ?? mostBlockBytes;
    this.#memory = new BlockMemory(Math.min(leastBlockBytes, this.#mostBlockBytes));
    this.#leastForThread = options.leastForThread ?? leastForThread;
  }

  /** Ranks the documents of a question. */
  async rank(read: ReadSnapshot, task: RankTask): Promise<RankAnswer> {
    return (await this.#run("rank", read, task)) as RankAnswer;
  }

  /** For each segment a bit for each document that a question allows; undefined if it allows all. */
  async allow(
    read: ReadSnapshot,
    question: Pick<Question, "query" | "dates">,
  ): Promise<(Uint8Array | undefined)[]> {
    const task = { question, depth: 0, from: 0, last: undefined, near: [] };
    return (await this.#run("allow", read, task)) as (Uint8Array | undefined)[];
  }

  /** Starts a thread, so that the first question does not wait for it. */
  start(): void {
    this.#threads.start();
  }

  /** Nobody reads the snapshot any more. */
  forget(snapshot: number): void {
    this.#threads.forget(snapshot);
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  async #run(what: "rank" | "allow", read: ReadSnapshot, task: RankTask) {
    const { segments } = read;
    this.#memory.allow(Math.min(this.#mostBlockBytes, read.snapshot.size * bytesPerDocument));
    const terms = [...new Set([...termsOf(task.question.query), ...rankedTerms(task.question)])];
    const reading = new Reading();
    try {
      const [blocks, places] = await Promise.all([
        this.#blocks(segments, terms, reading),
        this.#places(segments, [...new Set(phraseTermsOf(task.question.query))]),
      ]);
      const prepared = { task, terms, blocks, places };
      const answer =
        workOf(segments, prepared) < this.#leastForThread
          ? this.#runHere(what, segments, prepared)
          : await this.#runInThread(what, read, prepared, reading);
      for (const { block, stored } of blocks) if (stored !== undefined) this.#memory.keep(block);
      return answer;
    } finally {
      reading.release();
    }
  }

  #runHere(
    what: "rank" | "allow",
    segments: readonly OpenSegment[],
    { task, terms, blocks, places }: Prepared,
  ) {
    const postings = segments.map(() => new Map<string, Postings>());
    for (const { part, term, block, stored } of blocks) {
      const segment = segments[part] as OpenSegment;
      const view = postingsAt(block.chunk.memory, block.offset, block.documents, segment.documents);
      if (stored !== undefined) decode(stored, view, segment);
      postings[part]?.set(terms[term] as string, view);
    }
    const parts = segments.map(
      (segment, part): ReadSegment => ({
        segment,
        terms: { postings: postings[part]!, places: places[part]! },
      }),
    );
    const isLate = lateAfter(this.#threads.limitMs);
    try {
      return what === "rank"
        ? rank(task, parts, this.#scratch, isLate)
        : allow(task, parts, this.#scratch, isLate);
    } catch (error) {
      throw error instanceof RankLate ? failed(error.message) : error;
    }
  }

  #runInThread(
    what: "rank" | "allow",
    { snapshot, segments }: ReadSnapshot,
    { task, terms, blocks, places }: Prepared,
    { chunks }: Reading,
  ) {
    const stored = new Uint8Array(blocks.reduce((sum, block) => sum + (block.stored?.length ?? 0), 0));
    const fields = new Int32Array(blocks.length * blockFields);
    let end = 0;
    for (const [at, { part, term, block, stored: bytes }] of blocks.entries()) {
      const { chunk, offset, documents } = block;
      const range = bytes === undefined ? [-1, 0] : [end, bytes.length];
      fields.set([part, term, chunk.id, offset, documents, ...range], at * blockFields);
      if (bytes === undefined) continue;
      stored.set(bytes, end);
      end += bytes.length;
    }
    const parts = segments.map((segment) => snapshot.segments.indexOf(segment));
    return this.#threads.run({
      message: { what, task, parts, terms, blocks: fields, stored, places },
      snapshot,
      chunks,
    });
  }

  async #blocks(
    segments: readonly OpenSegment[],
    terms: readonly string[],
    reading: Reading,
  ): Promise<NeededBlock[]> {
    const blocks: NeededBlock[] = [];
    const missing = new Map<string, { readonly part: number; readonly term: number }>();
    for (const [part, { id }] of segments.entries()) {
      for (const [term, text] of terms.entries()) {
        const key = `${id} ${text}`;
        const block = this.#memory.get(key);
        if (block !== undefined) {
          reading.add(block);
          blocks.push({ part, term, block, stored: undefined });
        } else if (this.#absent.get(key) === undefined) missing.set(key, { part, term });
      }
    }
    if (missing.size === 0) return blocks;
    const needed = [...missing.values()];
    const rows = await this.#pool.query<{ term: string; segment: number; documents: number; data: Buffer }>({
      name: "search-postings",
      text: "select term, segment, documents, data from search_posting where term = any($1) and segment = any($2)",
      values: [
        [...new Set(needed.map(({ term }) => terms[term]))],
        [...new Set(needed.map(({ part }) => segments[part]?.id))],
      ],
    });
    for (const { term: text, segment, documents, data } of rows.rows) {
      const key = `${segment} ${text}`;
      const place = missing.get(key);
      if (place === undefined) continue;
      missing.delete(key);
      const limit = (segments[place.part] as OpenSegment).documents;
      const block = this.#memory.reserve(key, documents, limit, reading);
      blocks.push({ ...place, block, stored: data });
    }
    for (const key of missing.keys()) this.#absent.put(key, true, 100 + 2 * key.length);
    return blocks;
  }

  /**
   * Reads positions of terms. They are not cached, because phrases are rare and positions take more memory
   * than postings.
   */
  async #places(
    segments: readonly OpenSegment[],
    terms: readonly string[],
  ): Promise<Map<string, Uint8Array<ArrayBuffer>>[]> {
    const found = segments.map(() => new Map<string, Uint8Array<ArrayBuffer>>());
    if (terms.length === 0) return found;
    const order = new Map(segments.map((segment, place) => [segment.id, place]));
    const rows = await this.#pool.query<{ term: string; segment: number; places: Buffer | null }>({
      name: "search-places",
      text: "select term, segment, places from search_posting where term = any($1) and segment = any($2)",
      values: [terms, [...order.keys()]],
    });
    // Copies, because the driver's buffers share memory and cannot be handed to a thread.
    for (const { term, segment, places } of rows.rows)
      if (places !== null) found[order.get(segment) as number]?.set(term, Uint8Array.from(places));
    return found;
  }
}

/** Roughly how many postings a question reads. */
function workOf(segments: readonly OpenSegment[], { blocks, places }: Prepared): number {
  const documents = segments.reduce((sum, segment) => sum + segment.documents, 0);
  const postings = blocks.reduce((sum, { block }) => sum + block.documents, 0);
  const positions = places.reduce(
    (sum, each) => sum + [...each.values()].reduce((bytes, { length }) => bytes + length, 0),
    0,
  );
  return documents / 4 + postings + positions;
}

const leastForThread = 40_000;
const leastBlockBytes = 64 << 20;
const mostBlockBytes = 512 << 20;
/** A common word takes two bytes of memory for each document of a corpus, so this is enough for 200 of them. */
const bytesPerDocument = 400;
const absentBytes = 8 << 20;
