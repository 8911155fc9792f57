import type { Database } from "../../database/database.ts";
import type { Analyser } from "../analysis/analyser.ts";
import { type Engine, mostTerms, type Ranked, type RankPage } from "../engine.ts";
import type {
  Concept,
  EngineHealth,
  IndexDocument,
  MakeDocument,
  Question,
  RefreshOptions,
  RefreshReport,
} from "../search-index.ts";
import type { Building } from "../snapshots/build.ts";
import type { OpenSegment, ReadSnapshot } from "../snapshots/open-snapshot.ts";
import { shownScore } from "../wanted.ts";
import { wantedConcepts } from "./ranking/rank.ts";
import { Ranking, type RankingOptions } from "./ranking/ranking.ts";
import { lifts } from "./ranking/scores.ts";
import { rebuild, refresh } from "./segments/refresh.ts";
import { type BuildSizes, usualSizes } from "./segments/segment-writer.ts";

export interface PostingEngineOptions extends RankingOptions {
  readonly sizes?: BuildSizes;
}

/** Posting blocks in PostgreSQL: the terms of a question are read in one statement. */
export class PostingEngine implements Engine {
  readonly #pool: Database["pool"];
  readonly #reads: Database["reads"]["fixed"];
  readonly #sizes: BuildSizes;
  readonly #ranking: Ranking;

  constructor({ pool, reads }: Database, { sizes = usualSizes, ...ranking }: PostingEngineOptions = {}) {
    this.#pool = pool;
    this.#reads = reads.fixed;
    this.#sizes = sizes;
    this.#ranking = new Ranking(reads.fixed, ranking);
  }

  refresh(
    building: Building,
    documents: AsyncIterable<IndexDocument>,
    findAnalyser: () => Promise<Analyser>,
    options: RefreshOptions,
  ): Promise<RefreshReport> {
    return refresh({ ...building, sizes: this.#sizes }, documents, findAnalyser, options);
  }

  rebuild(
    building: Building,
    make: MakeDocument,
    analyser: Analyser,
    signal: AbortSignal | undefined,
  ): Promise<RefreshReport> {
    return rebuild({ ...building, sizes: this.#sizes }, make, analyser, signal);
  }

  async rank(
    read: ReadSnapshot,
    question: Question,
    { offset, limit, last, near }: RankPage,
  ): Promise<Ranked> {
    const { segments } = read;
    const parts = new Map(segments.map(({ id }, part) => [id, part]));
    const { best, ranked, unknown, ...counted } = await this.#ranking.rank(read, {
      question,
      depth: offset + limit,
      from: offset,
      last,
      near: near.map(({ segment, ordinal }) => ({ segment: parts.get(segment) as number, ordinal })),
    });
    const concepts = wantedConcepts(question);
    return {
      ...counted,
      documents: ranked.map(({ segment, ordinal, score }) => ({
        segment: (segments[segment] as OpenSegment).id,
        ordinal,
        score: shownScore(score, lifts),
      })),
      unknown: new Set(unknown.map((at) => concepts[at] as Concept)),
      isExact: best >= lifts.exact,
    };
  }

  async count(read: ReadSnapshot, terms: readonly string[]): Promise<number> {
    const question = { query: { all: terms.map((term) => ({ term })) } };
    const task = { question, depth: 0, from: 0, last: undefined, near: [] };
    return (await this.#ranking.rank(read, task)).total;
  }

  async terms({ segments }: ReadSnapshot, prefix: string): Promise<readonly string[]> {
    const found = await this.#reads.query<{ term: string }>({
      name: "search-terms",
      text: `select distinct term from search_posting
              where term >= $1 and term < $2 and segment = any($3) order by term limit $4`,
      values: [prefix, `${prefix}\u{10ffff}`, segments.map(({ id }) => id), mostTerms],
    });
    return found.rows.map(({ term }) => term);
  }

  async mostFrequent(
    { segments }: ReadSnapshot,
    words: readonly string[],
    count: number,
  ): Promise<readonly string[]> {
    const found = await this.#reads.query<{ term: string }>({
      name: "search-most-frequent",
      text: `select term from search_posting where term = any($1) and segment = any($2)
              group by term order by sum(documents) desc, term limit $3`,
      values: [words, segments.map(({ id }) => id), count],
    });
    return found.rows.map(({ term }) => term);
  }

  allow(
    read: ReadSnapshot,
    question: Pick<Question, "query" | "dates">,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    return this.#ranking.allow(read, question);
  }

  /** Starts a thread, so that the first question does not wait for it. */
  warm(largest: number): void {
    if (largest >= rankedInThreads) this.#ranking.start();
  }

  forget(snapshot: number): void {
    this.#ranking.forget(snapshot);
  }

  async health(): Promise<EngineHealth> {
    const engine = "posting blocks in PostgreSQL";
    try {
      await this.#pool.query("select 1");
      return { engine, trouble: null };
    } catch (error) {
      return { engine, trouble: (error as Error).message };
    }
  }

  /** Ends the threads that rank. */
  close(): Promise<void> {
    return this.#ranking.close();
  }
}

/** From this size on, common words are ranked in a thread. */
const rankedInThreads = 20_000;
