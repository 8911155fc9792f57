import type { Database } from "../../database/database.ts";
import type { Analyser } from "../analysis/analyser.ts";
import type { Engine, Ranked, RankPage } from "../engine.ts";
import type {
  Concept,
  EngineHealth,
  IndexDocument,
  MakeDocument,
  Question,
  RefreshOptions,
  RefreshReport,
} from "../search-index.ts";
import { BitSet } from "../snapshots/bitset.ts";
import { type Position, placeOf } from "../snapshots/bodies.ts";
import type { Building } from "../snapshots/build.ts";
import type { OpenSegment, ReadSnapshot } from "../snapshots/open-snapshot.ts";
import { enoughComplete, findingTerms, shownScore, unknownConcepts } from "../wanted.ts";
import { rebuild, refresh } from "./build.ts";
import { Connection, type OpenSearchAddress, type PauseMs } from "./connection.ts";
import { type IndexBuilding, usualSizes, type WriteSizes } from "./document-writer.ts";
import {
  anythingOf,
  type Body,
  completeOf,
  conditionOf,
  conditionsOf,
  lifts,
  ownOf,
  type Prepared,
  scoredOf,
  scoringOf,
} from "./question-body.ts";
import { documentsOf, type Scope, type ScoredPlace, Searches } from "./searches.ts";

export interface OpenSearchOptions {
  /** How long to wait before a request is repeated. */
  readonly pauseMs?: PauseMs;
  readonly sizes?: WriteSizes;
}

/** Words in OpenSearch: an index for each segment. */
export class OpenSearchEngine implements Engine {
  readonly #database: Database;
  readonly #connection: Connection;
  readonly #searches: Searches;
  readonly #sizes: WriteSizes;
  #databaseId: Promise<string> | undefined;

  constructor(
    database: Database,
    address: OpenSearchAddress,
    { pauseMs, sizes = usualSizes }: OpenSearchOptions = {},
  ) {
    this.#database = database;
    this.#connection = new Connection(address, pauseMs);
    this.#searches = new Searches(this.#connection);
    this.#sizes = sizes;
  }

  async refresh(
    building: Building,
    documents: AsyncIterable<IndexDocument>,
    findAnalyser: () => Promise<Analyser>,
    options: RefreshOptions,
  ): Promise<RefreshReport> {
    return refresh(await this.#withIndices(building), documents, findAnalyser, options);
  }

  async rebuild(
    building: Building,
    make: MakeDocument,
    analyser: Analyser,
    signal: AbortSignal | undefined,
  ): Promise<RefreshReport> {
    return rebuild(await this.#withIndices(building), make, analyser, signal);
  }

  async rank({ segments }: ReadSnapshot, question: Question, page: RankPage): Promise<Ranked> {
    if (segments.length === 0) return nothingFound;
    const scope: Scope = { segments, last: page.last };
    const asked = await this.#asked(scope, question);
    const { near } = page;
    const [found, looked] = await Promise.all([
      this.#found(scope, asked, page),
      this.#words(scope, asked, near),
    ]);
    const isCounted = found.isEnough ? looked.whole : looked.any;
    const lacking = (places: ReadonlySet<string>) =>
      near.flatMap((each, at) => (places.has(placeOf(each)) ? [] : [at]));
    return {
      documents: found.places.map((place) => ({ ...place, score: shownScore(place.score, lifts) })),
      total: found.total,
      complete: found.complete,
      unknown: asked.ranked?.unknown ?? noConcepts,
      isExact: (found.places[0]?.score ?? 0) >= lifts.exact,
      wordless: lacking(looked.any),
      uncounted: lacking(isCounted).length,
    };
  }

  async count({ segments }: ReadSnapshot, terms: readonly string[]): Promise<number> {
    const filter = terms.map((term) => conditionOf({ term }));
    return segments.length === 0 ? 0 : this.#searches.count({ segments }, filter);
  }

  async terms({ segments }: ReadSnapshot, prefix: string): Promise<readonly string[]> {
    return segments.length === 0 ? [] : this.#searches.terms(segments, prefix);
  }

  async mostFrequent(
    { segments }: ReadSnapshot,
    words: readonly string[],
    count: number,
  ): Promise<readonly string[]> {
    if (segments.length === 0) return [];
    const documents = await this.#searches.documentsWith(segments, words);
    const order = [...documents].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1));
    return order.flatMap(([word, times]) => (times > 0 ? [word] : [])).slice(0, count);
  }

  allow(
    { segments }: ReadSnapshot,
    question: Pick<Question, "query" | "dates">,
  ): Promise<readonly (Uint8Array | undefined)[]> {
    const filter = conditionsOf(question);
    return Promise.all(
      segments.map(async (segment) =>
        filter.length === 0 && segment.dead === null ? undefined : this.#searches.matching(segment, filter),
      ),
    );
  }

  async health(): Promise<EngineHealth> {
    try {
      const answer = await this.#connection.ask<{ version?: { number?: string } } | null>({
        method: "GET",
        path: "/",
        limitMs: healthLimitMs,
      });
      const version = answer?.version?.number ?? "";
      const trouble =
        Number.parseInt(version, 10) >= oldestVersion
          ? null
          : version === ""
            ? "The server of DATAQ_SEARCH is not an OpenSearch."
            : `dataq needs OpenSearch ${oldestVersion} or newer.`;
      return { engine: `OpenSearch ${version}`.trim(), trouble };
    } catch (error) {
      return { engine: "OpenSearch", trouble: (error as Error).message };
    }
  }

  async close(): Promise<void> {
    this.#connection.close();
  }

  async #withIndices(building: Building): Promise<IndexBuilding> {
    const databaseId = await this.#id();
    return { ...building, connection: this.#connection, databaseId, sizes: this.#sizes };
  }

  /** Tells our indices from those of another database in the same cluster. */
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
    page: Pick<RankPage, "offset" | "limit">,
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
        : await searches.page(
            scope,
            { filter: whole, scored: scoredOf(plain, true, scoringOf(plain, whole)) },
            page,
          );
    const complete = first.total;
    if (complete >= enoughComplete)
      return { ...first, places: lifted(first.places, ranked), complete, isEnough: true };
    if (whole !== undefined && complete >= page.offset + page.limit && findingTerms(wanted).length > 0) {
      const [hits, total] = await Promise.all([
        searches.page(
          scope,
          { filter: whole, scored: scoredOf(ranked, true, scoringOf(ranked, whole)) },
          page,
          false,
        ),
        searches.count(scope, [...filter, anythingOf(ranked)]),
      ]);
      return { ...hits, places: lifted(hits.places, ranked), total, complete, isEnough: false };
    }
    const scoring = scoringOf(ranked, whole ?? filter);
    const scored = scoredOf(ranked, false, scoring);
    const all = await searches.page(
      scope,
      scoring === wanted
        ? { filter, scored, isScoreRequired: true }
        : { filter: [...filter, anythingOf(ranked)], scored },
      page,
    );
    return { ...all, complete, isEnough: false };
  }

  /** Which of the documents that were found by meaning have everything that was asked for, or any of the words. */
  async #words(scope: Scope, asked: Asked, near: readonly Position[]): Promise<NearWords> {
    if (near.length === 0) return { whole: new Set(), any: new Set() };
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
    return { whole, any: any.union(whole) };
  }
}

/** What is asked for, in a snapshot. */
interface Asked {
  readonly filter: readonly Body[];
  /** Undefined if nothing is ranked. */
  readonly ranked: Prepared | undefined;
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
  readonly whole: ReadonlySet<string>;
  readonly any: ReadonlySet<string>;
}

/** Documents with everything that is asked for; undefined if there can be none. */
function wholeOf({ filter, ranked }: Asked): readonly Body[] | undefined {
  if (ranked === undefined) return filter;
  const complete = completeOf(ranked);
  return complete && [...filter, complete];
}

/** Of documents with everything, which OpenSearch ranked among themselves. */
function lifted(places: readonly ScoredPlace[], ranked: Prepared): ScoredPlace[] {
  const lift = ownOf(ranked) === undefined ? lifts.complete + lifts.own : lifts.complete;
  return places.map((place) => ({ ...place, score: place.score + lift }));
}

const noConcepts: ReadonlySet<Concept> = new Set();
const nothingFound: Ranked = {
  documents: [],
  total: 0,
  complete: 0,
  unknown: noConcepts,
  isExact: false,
  wordless: [],
  uncounted: 0,
};
const healthLimitMs = 2_000;
/** The first that reads sets of documents as bitmaps. */
const oldestVersion = 3;
