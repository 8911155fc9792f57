import { Failure } from "@dataq/contract";
import type { Database } from "../../database/database.ts";
import type { Analyser } from "../analysis/analyser.ts";
import { idfOf } from "../postings/bm25.ts";
import type { OpenSegment, OpenSnapshot } from "../postings/open-segment.ts";
import { PostingIndex, type PostingIndexOptions, readOf, stateOf } from "../postings/posting-index.ts";
import { Recent } from "../postings/recent.ts";
import { enoughComplete, findingTerms, unknownConcepts } from "../postings/wanted.ts";
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
} from "../search-index.ts";
import { bitmapOf } from "./bitmap.ts";
import { type Building, rebuild, refresh } from "./build.ts";
import { Connection, type OpenSearchAddress, OpenSearchError } from "./connection.ts";
import { fieldOf } from "./document-fields.ts";
import {
  anythingOf,
  type Body,
  completeOf,
  conditionOf,
  datesOf,
  type Ranked,
  scoredOf,
  shownScore,
} from "./question-body.ts";

/**
 * Words in OpenSearch, everything else in PostgreSQL: which documents are served, their bodies, data sets, dictionaries.
 * A corpus whose segments are posting blocks is still served from them, until it is built again: records that are only
 * looked up by key stay there.
 */
export class OpenSearchIndex implements SearchIndex {
  readonly vectors = undefined;
  readonly #database: Database;
  readonly #connection: Connection;
  readonly #postings: PostingIndex;
  #databaseId: Promise<string> | undefined;
  /** Numbers of documents by snapshot and term. */
  readonly #counts = new Recent<string, number>(countBytes);
  readonly #terms = new Recent<string, readonly string[]>(termListBytes);
  /** Conditions that leave out dead documents, by snapshot. */
  readonly #dead = new Recent<string, readonly Body[]>(deadBytes);

  constructor(database: Database, address: OpenSearchAddress, options: PostingIndexOptions = {}) {
    this.#database = database;
    this.#connection = new Connection(address);
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
    const { wanted } = question;
    const scope: Scope = { snapshot, segments, last: page.datasets?.last };
    const filter = [conditionOf(question.query), ...datesOf(question.dates)];
    const found =
      wanted === undefined
        ? { ...(await this.#page(scope, { filter }, page)), unknown: new Set<Concept>(), complete: undefined }
        : await this.#ranked(scope, filter, { wanted, ...(await this.#statistics(snapshot, wanted)) }, page);
    const bodies = await this.read(found.places.map(({ place }) => place));
    const hits = found.places.map(({ score, dataset }, at): Hit => {
      const body = bodies[at];
      if (body === undefined) throw new Failure("snapshot_expired", { snapshot: String(snapshot.id) });
      return { body, score: shownScore(score), dataset };
    });
    const index = stateOf(snapshot, { segments });
    const { total, unknown, complete = total } = found;
    return { hits, total, totalRelation: "eq", complete, unknown, index, isFused: false };
  }

  async count(corpus: string, terms: readonly string[], without?: string): Promise<number> {
    const snapshot = await this.#postings.snapshots.open(corpus);
    if (snapshot === undefined) return 0;
    if (!snapshot.isElsewhere) return this.#postings.count(corpus, terms, without);
    const key = JSON.stringify([snapshot.id, without, ...terms]);
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const { segments } = readOf(snapshot, without);
    const query = conditionOf({ all: terms.map((term) => ({ term })) });
    const { total } = await this.#page({ snapshot, segments, last: undefined }, { filter: [query] }, nothing);
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
    const include = `${prefix.replace(/[.?+*|{}[\]()"\\#@&<>~]/g, "\\$&")}.*`;
    const [answer] = await this.#ask(snapshot, [
      {
        size: 0,
        query: { bool: { filter: [segmentsOf(snapshot.segments)] } },
        aggs: { terms: { terms: { field: "terms", include, size: mostTerms, order: { _key: "asc" } } } },
      },
    ]);
    const terms = (answer?.aggregations?.terms.buckets ?? []).map((bucket) => bucket.key);
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
    const documents = await this.#documentsWith(snapshot, words);
    const order = [...documents].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
    return order.flatMap(([word, times]) => (times > 0 ? [word] : [])).slice(0, count);
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

  /** The concepts that no document contains, and the weight of each word. */
  async #statistics(
    snapshot: OpenSnapshot,
    wanted: NonNullable<Question["wanted"]>,
  ): Promise<Pick<Ranked, "unknown" | "idf">> {
    const terms = wanted.alternatives.flat(2).flatMap((wording) => wording.terms);
    const documentsWithTerm = await this.#documentsWith(snapshot, [...new Set(terms)]);
    const documents = snapshot.segments.reduce((sum, segment) => sum + segment.documents, 0);
    const statistics = { documents, documentsWithTerm };
    return { unknown: unknownConcepts(wanted, statistics), idf: (term) => idfOf(term, statistics) };
  }

  async #documentsWith(snapshot: OpenSnapshot, terms: readonly string[]): Promise<Map<string, number>> {
    const keyOf = (term: string) => `${snapshot.id} ${term}`;
    const found = new Map(terms.map((term) => [term, this.#counts.get(keyOf(term))]));
    const missing = terms.filter((term) => found.get(term) === undefined);
    const answers = await this.#ask(
      snapshot,
      missing.map((term) => ({
        size: 0,
        track_total_hits: true,
        query: { term: { [fieldOf(term)]: term } },
      })),
    );
    for (const [place, term] of missing.entries()) {
      const count = answers[place]?.hits.total.value ?? 0;
      found.set(term, count);
      this.#counts.put(keyOf(term), count, 100 + 2 * term.length);
    }
    return found as Map<string, number>;
  }

  /**
   * Documents with everything come first. If there are very many, only they count; if they fill the page, the others are
   * only counted.
   */
  async #ranked(scope: Scope, filter: readonly Body[], ranked: Ranked, page: SearchPage) {
    const { wanted, unknown } = ranked;
    const complete = completeOf(ranked);
    const plain = { ...ranked, wanted: { ...wanted, hints: wanted.hints.filter(({ isFlat }) => isFlat) } };
    const whole = { filter: [...filter, complete ?? { match_none: {} }] };
    const first = await this.#page(scope, { ...whole, scored: orNothing(scoredOf(plain)) }, page);
    if (first.total >= enoughComplete) return { ...first, unknown, complete: first.total };
    const depth = page.offset + page.limit;
    if (first.total >= depth && findingTerms(wanted).length > 0) {
      const [hits, all] = await Promise.all([
        this.#page(scope, { ...whole, scored: orNothing(scoredOf(ranked)) }, page),
        this.#page(scope, { filter: [...filter, anythingOf(ranked)] }, nothing),
      ]);
      return { ...hits, total: all.total, unknown, complete: first.total };
    }
    const all = await this.#page(scope, { filter, scored: scoredOf(ranked) }, page);
    return { ...all, unknown, complete: first.total };
  }

  /** A page of documents, best first, with their number. */
  async #page(
    { snapshot, segments, last }: Scope,
    { filter, scored }: { readonly filter: readonly Body[]; readonly scored?: Body },
    { offset, limit }: Pick<SearchPage, "offset" | "limit">,
  ): Promise<{ readonly total: number; readonly places: readonly ScoredPlace[] }> {
    if (segments.length === 0) return { total: 0, places: [] };
    const others = segments.filter(({ dataset }) => dataset !== last);
    const isSplit = others.length > 0 && others.length < segments.length;
    const first = isSplit ? [{ constant_score: { filter: segmentsOf(others), boost: firstScore } }] : [];
    const isScored = scored !== undefined || isSplit;
    const [answer] = await this.#ask(snapshot, [
      {
        from: offset,
        size: limit,
        track_total_hits: true,
        _source: false,
        stored_fields: "_none_",
        timeout: `${searchLimitMs}ms`,
        query: {
          bool: {
            filter: [segmentsOf(segments), ...filter],
            must_not: this.#deadOf(snapshot),
            ...(scored && { must: [scored] }),
            ...(first.length > 0 && { should: first }),
          },
        },
        sort: [
          ...(isScored ? [{ _score: "desc" }] : []),
          { date: "desc" },
          { segment: "asc" },
          { ordinal: "asc" },
        ],
      },
    ]);
    const datasets = new Map(segments.map((segment) => [segment.id, segment.dataset]));
    const { total, hits } = (answer as SearchAnswer).hits;
    return {
      total: total.value,
      places: hits.map(({ sort }) => placeOf(sort, isScored, isSplit ? last : undefined, datasets)),
    };
  }

  #deadOf(snapshot: OpenSnapshot): readonly Body[] {
    const key = String(snapshot.id);
    const known = this.#dead.get(key);
    if (known !== undefined) return known;
    const dead = snapshot.segments.flatMap(({ id, dead }): Body[] =>
      dead === null || dead.count() === 0
        ? []
        : [
            {
              bool: {
                filter: [
                  { term: { segment: id } },
                  { terms: { ordinal: [bitmapOf(dead)], value_type: "bitmap" } },
                ],
              },
            },
          ],
    );
    this.#dead.put(key, dead, 200 + JSON.stringify(dead).length);
    return dead;
  }

  /** Sends questions together. An answer that is not whole is none. */
  async #ask(snapshot: OpenSnapshot, questions: readonly Body[]): Promise<SearchAnswer[]> {
    if (questions.length === 0) return [];
    const index = [...new Set(snapshot.segments.flatMap(({ home }) => home ?? []))];
    const isSpread = index.length > 1;
    const head = JSON.stringify({ index, ...(isSpread && { search_type: "dfs_query_then_fetch" }) });
    try {
      const { responses } = await this.#connection.ask<{ responses: SearchAnswer[] }>({
        method: "POST",
        path: "/_msearch?max_concurrent_searches=8",
        body: questions.map((question) => `${head}\n${JSON.stringify(question)}\n`).join(""),
        limitMs: searchLimitMs + answerLimitMs,
      });
      for (const answer of responses) assertWhole(answer);
      return responses;
    } catch (error) {
      if (
        error instanceof OpenSearchError &&
        (error.isTemporary || error.status === 401 || error.status === 403)
      )
        throw new Failure("unavailable", { retry_after: 5 }, error);
      // The index was deleted after the snapshot was opened, or by somebody else.
      if (error instanceof OpenSearchError && error.status === 404)
        throw new Failure("unavailable", { retry_after: 30 }, error);
      throw error;
    }
  }
}

interface Scope {
  readonly snapshot: OpenSnapshot;
  /** The segments that the question reads. */
  readonly segments: readonly OpenSegment[];
  readonly last: string | undefined;
}

interface ScoredPlace {
  readonly place: string;
  readonly score: number;
  readonly dataset: string;
}

interface SearchHits {
  readonly total: { readonly value: number };
  readonly hits: readonly { readonly sort: readonly number[] }[];
}

interface SearchAnswer {
  readonly status: number;
  readonly error?: { readonly type: string; readonly reason: string };
  readonly timed_out: boolean;
  readonly _shards: { readonly failed: number };
  readonly hits: SearchHits;
  readonly aggregations?: { readonly terms: { readonly buckets: readonly { readonly key: string }[] } };
}

function assertWhole({ status, error, timed_out, _shards }: SearchAnswer): void {
  if (error !== undefined)
    throw new OpenSearchError(status, `OpenSearch answered ${status}: ${error.type}, ${error.reason}`);
  if (timed_out || _shards.failed > 0)
    throw new OpenSearchError(
      0,
      timed_out ? "OpenSearch did not search in time." : "A part of OpenSearch failed.",
    );
}

function segmentsOf(segments: readonly OpenSegment[]): Body {
  return { terms: { segment: segments.map(({ id }) => id) } };
}

function placeOf(
  sort: readonly number[],
  isScored: boolean,
  last: string | undefined,
  datasets: ReadonlyMap<number, string>,
): ScoredPlace {
  const [segment, ordinal] = sort.slice(-2) as [number, number];
  const dataset = datasets.get(segment) as string;
  const raised = last !== undefined && dataset !== last ? firstScore : 0;
  return {
    place: `${segment}.${ordinal}`,
    dataset,
    // OpenSearch's 32 bits are exact to a thousandth here.
    score: isScored ? Math.round(1_000 * ((sort[0] as number) - raised)) / 1_000 : 0,
  };
}

function orNothing(scored: Body): Body {
  return { bool: { should: [scored, { match_all: { boost: 0 } }], minimum_should_match: 1 } };
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

const nothing = { offset: 0, limit: 0 };
/**
 * Raises documents that rank before those of another data set at equal scores. It is far smaller than the differences
 * between scores that matter.
 */
const firstScore = 0.001;
const mostTerms = 10_000;
const countBytes = 8 << 20;
const termListBytes = 4 << 20;
const deadBytes = 16 << 20;
/** How long OpenSearch may search; then the call is free. */
const searchLimitMs = 5_000;
const answerLimitMs = 1_000;
const healthLimitMs = 2_000;
