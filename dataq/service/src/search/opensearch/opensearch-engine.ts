import { Failure } from "@dataq/contract";
import type { Database } from "../../database/database.ts";
import type { Analyser } from "../analysis/analyser.ts";
import { fuse, fusedDepth } from "../meaning/fuse.ts";
import { PostingIndex, type PostingIndexOptions } from "../postings/posting-index.ts";
import { Recent } from "../recent.ts";
import type {
  Concept,
  EngineHealth,
  Found,
  Hit,
  IndexDocument,
  MakeDocument,
  Question,
  RefreshOptions,
  RefreshReport,
  SearchIndex,
  SearchPage,
  VectorSegment,
  VectorSpace,
} from "../search-index.ts";
import { BitSet } from "../snapshots/bitset.ts";
import { placeOf, positionOf } from "../snapshots/bodies.ts";
import { type OpenSegment, readOf, stateOf } from "../snapshots/open-snapshot.ts";
import type { Place } from "../stored-body.ts";
import { enoughComplete, findingTerms, unknownConcepts } from "../wanted.ts";
import { type Building, rebuild, refresh } from "./build.ts";
import { Connection, type OpenSearchAddress, type PauseMs } from "./connection.ts";
import {
  anythingOf,
  type Body,
  completeOf,
  conditionOf,
  conditionsOf,
  exactScore,
  type Ranked,
  scoredOf,
  shownScore,
} from "./question-body.ts";
import { documentsOf, type Scope, type ScoredPlace, Searches } from "./searches.ts";

interface OpenSearchIndexOptions extends PostingIndexOptions {
  /** How long to wait before a request is repeated. */
  readonly pauseMs?: PauseMs;
}

/**
 * Words in OpenSearch, everything else in PostgreSQL: which documents are served, their bodies, data sets, dictionaries.
 * A corpus whose segments are posting blocks is still served from them, until it is built again: records that are only
 * looked up by key stay there.
 */
export class OpenSearchIndex implements SearchIndex, VectorSpace {
  readonly vectors: VectorSpace = this;
  readonly #database: Database;
  readonly #connection: Connection;
  readonly #searches: Searches;
  readonly #postings: PostingIndex;
  #databaseId: Promise<string> | undefined;
  readonly #counts = new Recent<string, number>(countBytes);
  readonly #terms = new Recent<string, readonly string[]>(termListBytes);

  constructor(database: Database, address: OpenSearchAddress, options: OpenSearchIndexOptions = {}) {
    this.#database = database;
    this.#connection = new Connection(address, options.pauseMs);
    this.#searches = new Searches(this.#connection);
    this.#postings = new PostingIndex(database, options);
  }

  get lexicons() {
    return this.#postings.lexicons;
  }

  async refresh(
    corpus: string,
    documents: AsyncIterable<IndexDocument>,
    options: RefreshOptions,
  ): Promise<RefreshReport> {
    const kept = await this.#homesOf(corpus, options.mode === "update" ? undefined : options.dataset);
    const { first, all } = await peek(documents);
    const isHere = kept.length > 0 ? kept.includes(true) : (first?.texts.length ?? 0) > 0;
    if (!isHere) return this.#postings.refresh(corpus, all, options);
    return this.#building(corpus, async (building) => {
      const analyser = () => this.#postings.analyserFor(corpus, options);
      const report = await refresh(building, all, analyser, options);
      this.forget(corpus);
      return report;
    });
  }

  async rebuild(
    corpus: string,
    document: MakeDocument | undefined,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    if (document === undefined) return this.#postings.rebuild(corpus, document, options);
    return this.#building(corpus, async (building) => {
      const analyser = await this.lexicons.newestAnalyser();
      const { size } = await rebuild(building, document, analyser, options.signal);
      this.forget(corpus);
      return size;
    });
  }

  async search(corpus: string, question: Question, page: SearchPage): Promise<Found | undefined> {
    const snapshot = await this.#postings.snapshots.open(corpus, page.snapshot);
    if (snapshot === undefined) return undefined;
    if (!snapshot.isElsewhere) return this.#postings.search(corpus, question, page);
    const { segments } = readOf(snapshot, page.datasets?.without);
    const scope: Scope = { segments, last: page.datasets?.last };
    const index = stateOf(snapshot, { segments });
    if (segments.length === 0) return { ...nothingFound, index };
    const asked = await this.#asked(scope, question);
    const near = nearOf(segments, page.near ?? []);
    const { offset, limit } = page;
    // Of a fused list, any part of the first ranks may be on the page.
    const read =
      near.length === 0 ? page : { offset: 0, limit: Math.max(fusedDepth, offset + limit + near.length) };
    const [found, looked] = await Promise.all([
      this.#found(scope, asked, read),
      this.#words(scope, asked, near),
    ]);
    const isFused = near.length > 0 && (found.places[0]?.score ?? 0) < exactScore;
    const list = isFused
      ? fuse<ScoredPlace>(found.places, near, placeOf).map(({ item, score }) => ({ ...item, score }))
      : found.places.map((place) => ({ ...place, score: shownScore(place.score) }));
    const from = near.length === 0 ? 0 : offset;
    const places = list.slice(from, from + limit);
    const bodies = await this.read(places.map(placeOf));
    const isCounted = found.isEnough ? looked.whole : looked.any;
    return {
      hits: places.map((each, at): Hit => {
        const { dataset, score } = each;
        const body = bodies[at];
        if (body === undefined) throw new Failure("snapshot_expired", { snapshot: String(snapshot.id) });
        const isWordless = isFused && looked.isNear.has(placeOf(each)) && !looked.any.has(placeOf(each));
        return { body, score, dataset, ...(isWordless && { byMeaning: true as const }) };
      }),
      total: found.total + (isFused ? near.filter((each) => !isCounted.has(placeOf(each))).length : 0),
      totalRelation: "eq",
      complete: found.complete,
      unknown: asked.ranked?.unknown ?? noConcepts,
      index,
      isFused,
    };
  }

  async count(corpus: string, terms: readonly string[], without?: string): Promise<number> {
    const snapshot = await this.#postings.snapshots.open(corpus);
    if (snapshot === undefined) return 0;
    if (!snapshot.isElsewhere) return this.#postings.count(corpus, terms, without);
    const key = JSON.stringify([snapshot.id, without, ...terms]);
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const { segments } = readOf(snapshot, without);
    const filter = terms.map((term) => conditionOf({ term }));
    const total = segments.length === 0 ? 0 : await this.#searches.count({ segments }, filter);
    this.#counts.put(key, total, 100 + 2 * key.length);
    return total;
  }

  async terms(corpus: string, prefix: string): Promise<readonly string[]> {
    const snapshot = await this.#postings.snapshots.open(corpus);
    if (snapshot === undefined) return [];
    if (!snapshot.isElsewhere) return this.#postings.terms(corpus, prefix);
    const key = `${snapshot.id} ${prefix}`;
    const known = this.#terms.get(key);
    if (known !== undefined) return known;
    const { segments } = snapshot;
    const terms = segments.length === 0 ? [] : await this.#searches.terms(segments, prefix);
    this.#terms.put(key, terms, 100 + 60 * terms.length);
    return terms;
  }

  async mostFrequent(
    corpus: string,
    words: readonly string[],
    count: number,
    wanted?: string,
  ): Promise<readonly string[]> {
    const snapshot = await this.#postings.snapshots.open(corpus, wanted);
    if (snapshot === undefined) return [];
    if (!snapshot.isElsewhere) return this.#postings.mostFrequent(corpus, words, count, wanted);
    if (snapshot.segments.length === 0) return [];
    const documents = await this.#searches.documentsWith(snapshot.segments, words);
    const order = [...documents].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
    return order.flatMap(([word, times]) => (times > 0 ? [word] : [])).slice(0, count);
  }

  async allowed(
    corpus: string,
    question: Pick<Question, "query" | "dates">,
    page: Pick<SearchPage, "snapshot" | "datasets">,
  ): Promise<(VectorSegment & { readonly allowed: Uint8Array | undefined })[]> {
    const snapshot = await this.#postings.snapshots.open(corpus, page.snapshot);
    if (snapshot === undefined) return [];
    if (!snapshot.isElsewhere) return this.#postings.allowed(corpus, question, page);
    const { segments } = readOf(snapshot, page.datasets?.without);
    const filter = conditionsOf(question);
    const isPlain = filter.length === 0;
    return Promise.all(
      segments.map(async ({ id, dataset, documents, ...rest }) => {
        const allowed =
          isPlain && rest.dead === null
            ? undefined
            : await this.#searches.matching({ id, dataset, documents, ...rest }, filter);
        return { id, dataset, documents, allowed };
      }),
    );
  }

  segments(corpus: string, snapshot?: string) {
    return this.#postings.segments(corpus, snapshot);
  }

  stored(segment: number, from: number, to: number) {
    return this.#postings.stored(segment, from, to);
  }

  place(document: { readonly segment: number; readonly ordinal: number }): Place {
    return placeOf(document);
  }

  analyser(corpus: string, snapshot?: string): Promise<Analyser | undefined> {
    return this.#postings.analyser(corpus, snapshot);
  }

  state(corpus: string) {
    return this.#postings.state(corpus);
  }

  corpora() {
    return this.#postings.corpora();
  }

  contents(corpus: string, snapshot?: string) {
    return this.#postings.contents(corpus, snapshot);
  }

  documents(corpus: string, dataset?: string) {
    return this.#postings.documents(corpus, dataset);
  }

  documentsAt(snapshot: number, dataset: string) {
    return this.#postings.documentsAt(snapshot, dataset);
  }

  read(places: readonly string[]) {
    return this.#postings.read(places);
  }

  forget(corpus: string): void {
    this.#postings.forget(corpus);
  }

  warm(): Promise<void> {
    return this.#postings.warm();
  }

  async health(): Promise<EngineHealth> {
    try {
      const { version } = await this.#connection.ask<{ version: { number: string } }>({
        method: "GET",
        path: "/",
        limitMs: healthLimitMs,
      });
      return { engine: `OpenSearch ${version.number}`, trouble: null };
    } catch (error) {
      return { engine: "OpenSearch", trouble: (error as Error).message };
    }
  }

  async close(): Promise<void> {
    this.#connection.close();
    await this.#postings.close();
  }

  async #building<Result>(corpus: string, run: (building: Building) => Promise<Result>): Promise<Result> {
    const client = await this.#database.connect();
    try {
      const databaseId = await this.#id();
      return await run({
        ...this.#postings.building(client),
        connection: this.#connection,
        databaseId,
        corpus,
      });
    } finally {
      await client.end();
    }
  }

  #id(): Promise<string> {
    const id =
      this.#databaseId ??
      this.#database.pool
        .query<{ id: string }>("select id from search_engine")
        .then(({ rows }) => rows[0]?.id ?? "");
    this.#databaseId = id;
    id.catch(() => {
      this.#databaseId = undefined;
    });
    return id;
  }

  /** For each data set that stays: whether OpenSearch has its words. */
  async #homesOf(corpus: string, without: string | undefined): Promise<boolean[]> {
    const found = await this.#database.pool.query<{ isHere: boolean }>(
      `select distinct s.home is not null as "isHere" from search_corpus c
         join search_snapshot_segment p on p.snapshot = c.snapshot join search_segment s on s.id = p.segment
        where c.corpus = $1 and s.dataset is distinct from $2`,
      [corpus, without ?? null],
    );
    return found.rows.map(({ isHere }) => isHere);
  }

  /** The question with the concepts that no document contains, and the weight of each word. */
  async #asked({ segments }: Scope, question: Question): Promise<Asked> {
    const filter = conditionsOf(question);
    const { wanted } = question;
    if (wanted === undefined) return { filter, ranked: undefined };
    const terms = wanted.alternatives.flat(2).flatMap((wording) => wording.terms);
    const documentsWithTerm = await this.#searches.documentsWith(segments, [...new Set(terms)]);
    const documents = segments.reduce((sum, segment) => sum + segment.documents, 0);
    const statistics = { documents, documentsWithTerm };
    return { filter, ranked: { wanted, unknown: unknownConcepts(wanted, statistics), statistics } };
  }

  /**
   * Documents with everything come first. If there are very many, only they count; if they fill the page, the others are
   * only counted.
   */
  async #found(
    scope: Scope,
    { filter, ranked }: Asked,
    page: Pick<SearchPage, "offset" | "limit">,
  ): Promise<FoundPlaces> {
    const searches = this.#searches;
    if (ranked === undefined) {
      const { total, places } = await searches.page(scope, { filter }, page);
      return { total, places, complete: total, isEnough: true };
    }
    const { wanted } = ranked;
    const whole = wholeOf({ filter, ranked });
    const plain = { ...ranked, wanted: { ...wanted, hints: wanted.hints.filter(({ isFlat }) => isFlat) } };
    const first =
      whole === undefined
        ? { total: 0, places: [] }
        : await searches.page(scope, { filter: whole, scored: scoredOf(plain, true) }, page);
    const complete = first.total;
    if (complete >= enoughComplete) return { ...first, complete, isEnough: true };
    if (whole !== undefined && complete >= page.offset + page.limit && findingTerms(wanted).length > 0) {
      const [hits, total] = await Promise.all([
        searches.page(scope, { filter: whole, scored: scoredOf(ranked, true) }, page, false),
        searches.count(scope, [...filter, anythingOf(ranked)]),
      ]);
      return { ...hits, total, complete, isEnough: false };
    }
    const all = await searches.page(scope, { filter, scored: scoredOf(ranked), isScoreRequired: true }, page);
    return { ...all, complete, isEnough: false };
  }

  /** Which of the documents that were found by meaning have everything that was asked for, or any of the words. */
  async #words(scope: Scope, asked: Asked, near: readonly ScoredPlace[]): Promise<NearWords> {
    const isNear = new Set(near.map(placeOf));
    if (near.length === 0) return { isNear, whole: isNear, any: isNear };
    const should = [...Map.groupBy(near, ({ segment }) => segment)].map(([id, documents]) => {
      const segment = scope.segments.find((each) => each.id === id) as OpenSegment;
      const ordinals = BitSet.ofSize(segment.documents);
      for (const { ordinal } of documents) ordinals.add(ordinal);
      return documentsOf(segment, ordinals);
    });
    const nearby = { bool: { should, minimum_should_match: 1 } };
    const matching = async (filter: readonly Body[] | undefined) => {
      if (filter === undefined) return new Set<string>();
      const page = { offset: 0, limit: near.length };
      const { places } = await this.#searches.page(scope, { filter: [nearby, ...filter] }, page, false);
      return new Set(places.map(placeOf));
    };
    const { filter, ranked } = asked;
    const [whole, any] = await Promise.all([
      matching(wholeOf(asked)),
      matching(ranked && [...filter, anythingOf(ranked)]),
    ]);
    return { isNear, whole, any: any.union(whole) };
  }
}

/** What is asked for, in a snapshot. */
interface Asked {
  readonly filter: readonly Body[];
  /** Undefined if nothing is ranked. */
  readonly ranked: Ranked | undefined;
}

interface FoundPlaces {
  readonly places: readonly ScoredPlace[];
  readonly total: number;
  readonly complete: number;
  /** Only complete documents are counted. */
  readonly isEnough: boolean;
}

/** Places of documents that were found by meaning. */
interface NearWords {
  readonly isNear: ReadonlySet<string>;
  readonly whole: ReadonlySet<string>;
  readonly any: ReadonlySet<string>;
}

/** Documents with everything that is asked for; undefined if there can be none. */
function wholeOf({ filter, ranked }: Asked): readonly Body[] | undefined {
  if (ranked === undefined) return filter;
  const complete = completeOf(ranked);
  return complete && [...filter, complete];
}

/** Documents by the data sets of their segments. Those of other segments are left out. */
function nearOf(segments: readonly OpenSegment[], places: readonly Place[]): ScoredPlace[] {
  const datasets = new Map(segments.map(({ id, dataset }) => [id, dataset]));
  return places.flatMap((place) => {
    const position = positionOf(place);
    const dataset = position && datasets.get(position.segment);
    return dataset === undefined ? [] : [{ ...position!, dataset, score: 0 }];
  });
}

/** The first document, and all of them. */
async function peek(documents: AsyncIterable<IndexDocument>) {
  const iterator = documents[Symbol.asyncIterator]();
  const first = await iterator.next();
  const all = async function* (): AsyncGenerator<IndexDocument> {
    try {
      if (!first.done) yield first.value;
      for (let next = first; !next.done; ) {
        next = await iterator.next();
        if (!next.done) yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  };
  return { first: first.done ? undefined : first.value, all: all() };
}

const noConcepts: ReadonlySet<Concept> = new Set();
const nothingFound = {
  hits: [],
  total: 0,
  totalRelation: "eq",
  complete: 0,
  unknown: noConcepts,
  isFused: false,
} as const;
const countBytes = 4 << 20;
const termListBytes = 4 << 20;
const healthLimitMs = 2_000;
