import { chinaInstant, Failure, type IndexState } from "@dataq/contract";
import type { Database } from "../../database/database.ts";
import type { Analyser } from "../analysis/analyser.ts";
import { Lexicons } from "../analysis/lexicons.ts";
import { fuse, fusedDepth } from "../meaning/fuse.ts";
import type { Comparable } from "../meaning/nearest.ts";
import type {
  Concept,
  Found,
  Hit,
  IndexDocument,
  MakeDocument,
  Question,
  RefreshOptions,
  RefreshReport,
  SearchIndex,
  SearchPage,
  Wanted,
} from "../search-index.ts";
import type { DocumentPlace, StoredBody } from "../stored-body.ts";
import type { Statistics } from "./bm25.ts";
import { Bodies, unpackBody } from "./bodies.ts";
import { type Postings, readBlock } from "./codec.ts";
import { matching, phraseTermsOf, type SegmentTerms, termsOf } from "./evaluate.ts";
import type { OpenSegment, OpenSnapshot } from "./open-segment.ts";
import { Recent } from "./recent.ts";
import { bodiesAt, rebuild, refresh } from "./refresh.ts";
import { Scratch } from "./scratch.ts";
import { countUnion, lowerBound, type Take } from "./sets.ts";
import { Snapshots } from "./snapshots.ts";
import { type Ranked, Top } from "./top.ts";
import {
  completeQuery,
  completeScore,
  enoughComplete,
  exactScore,
  findingTerms,
  scoresOf,
  shownScore,
  unknownConcepts,
  wantedTerms,
} from "./wanted.ts";

/** Posting blocks in PostgreSQL: the terms of a question are read in one statement, the page's documents in another. */
export class PostingIndex implements SearchIndex {
  readonly #database: Database;
  readonly #pool: Database["pool"];
  readonly #snapshots: Snapshots;
  readonly #lexicons: Lexicons;
  /** Decoded blocks by segment and term; `null` means that a segment lacks the term. */
  readonly #blocks: Recent<string, Postings | null>;
  readonly #bodies: Bodies;
  readonly #terms = new Recent<string, readonly string[]>(termListBytes);
  readonly #counts = new Recent<string, number>(countBytes);
  readonly #scratch = new Scratch();

  constructor(database: Database, options: { now?: () => number } = {}) {
    this.#database = database;
    this.#pool = database.pool;
    this.#snapshots = new Snapshots(database.pool, options.now ?? Date.now);
    this.#lexicons = new Lexicons(database.pool);
    this.#blocks = new Recent(blockBytes);
    this.#bodies = new Bodies(database.pool);
  }

  /** Searches a corpus. Undefined if nothing was ever added to it. */
  async search(corpus: string, question: Question, page: SearchPage): Promise<Found | undefined> {
    const snapshot = await this.#snapshots.open(corpus, page.snapshot);
    if (snapshot === undefined) return undefined;
    const without = page.datasets?.without;
    const read = without === undefined ? snapshot : withoutDataset(snapshot, without);
    const near = page.near === undefined ? [] : placesIn(read, page.near);
    const { offset, limit } = page;
    // Of a fused list, any part of the first ranks may be on the page.
    const depth = near.length === 0 ? offset + limit : Math.max(fusedDepth, offset + limit + near.length);
    const { total, complete, unknown, ranked, others } = await this.#rank(read, question, page, depth, near);
    const isFused = near.length > 0 && (ranked[0]?.score ?? 0) < exactScore;
    const list = isFused
      ? fuse<Place>(ranked, near, ({ segment, ordinal }) => `${segment} ${ordinal}`).map((fused) => ({
          ...fused.item,
          score: fused.score,
        }))
      : ranked.map((hit) => ({ ...hit, score: shownScore(hit.score) }));
    const hits = await this.#read(
      read,
      list.slice(offset, offset + limit),
      isFused ? others.wordless : noKeys,
    );
    return {
      hits,
      total: isFused ? total + others.uncounted : total,
      complete,
      unknown,
      index: stateOf(read),
      isFused,
    };
  }

  /** The segments of a snapshot, with the documents in each that a question allows. */
  async allowed(
    corpus: string,
    question: Pick<Question, "query" | "dates">,
    { snapshot: wanted, datasets }: Pick<SearchPage, "snapshot" | "datasets">,
  ): Promise<(SegmentOfCorpus & Pick<Comparable, "allowed">)[]> {
    const snapshot = await this.#snapshots.open(corpus, wanted);
    if (snapshot === undefined) return [];
    const read = datasets?.without === undefined ? snapshot : withoutDataset(snapshot, datasets.without);
    const [postings, places] = await Promise.all([
      this.#postings(read, [...new Set(termsOf(question.query))]),
      this.#places(read, [...new Set(phraseTermsOf(question.query))]),
    ]);
    this.#scratch.reset();
    return read.segments.map((segment, place) => {
      const { id, dataset, documents } = segment;
      const terms = { postings: postings[place]!, places: places[place]! };
      const ordinals = matching(question, segment, terms, this.#scratch.take);
      if (ordinals.length === documents) return { id, dataset, documents, allowed: undefined };
      const allowed = new Uint8Array(Math.ceil(documents / 8));
      for (const ordinal of ordinals) allowed[ordinal >> 3]! |= 1 << (ordinal & 7);
      return { id, dataset, documents, allowed };
    });
  }

  /** The segments of a snapshot, by default of the current one. */
  async segments(
    corpus: string,
    snapshot?: string,
  ): Promise<{ readonly snapshot: number; readonly segments: readonly SegmentOfCorpus[] } | undefined> {
    const open = await this.#snapshots.open(corpus, snapshot);
    return open && { snapshot: open.id, segments: open.segments };
  }

  /** Documents of a segment from one ordinal (included) to another (excluded). */
  async stored(
    segment: number,
    from: number,
    to: number,
  ): Promise<{ readonly ordinal: number; readonly id: string; readonly body: object }[]> {
    const rows = await this.#pool.query<{ ordinal: number; id: string; body: Buffer }>(
      "select ordinal, id, body from search_document where segment = $1 and ordinal >= $2 and ordinal < $3 order by ordinal",
      [segment, from, to],
    );
    return rows.rows.map((row) => ({ ...row, body: JSON.parse(unpackBody(row.body).toString()) as object }));
  }

  /** How many live documents contain all these terms, excluding those of one data set. */
  async count(corpus: string, terms: readonly string[], without?: string): Promise<number> {
    const snapshot = await this.#snapshots.open(corpus);
    if (snapshot === undefined) return 0;
    const key = JSON.stringify([snapshot.id, without, ...terms]);
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const read = without === undefined ? snapshot : withoutDataset(snapshot, without);
    const query = { all: terms.map((term) => ({ term })) };
    const { total } = await this.#rank(read, { query }, {}, 0, []);
    this.#counts.put(key, total, 100 + 2 * key.length);
    return total;
  }

  /**
   * Terms of the corpus that begin with a prefix; for short lists, such as all platforms. Returns the same array as
   * long as the snapshot is served.
   */
  async terms(corpus: string, prefix: string): Promise<readonly string[]> {
    const snapshot = await this.#snapshots.open(corpus);
    if (snapshot === undefined) return [];
    const key = `${snapshot.id} ${prefix}`;
    const known = this.#terms.get(key);
    if (known !== undefined) return known;
    const found = await this.#pool.query<{ term: string }>({
      name: "search-terms",
      text: `select distinct term from search_posting
              where term >= $1 and term < $2 and segment = any($3) order by term limit 10000`,
      values: [prefix, `${prefix}\u{10ffff}`, snapshot.segments.map(({ id }) => id)],
    });
    const terms = found.rows.map(({ term }) => term);
    this.#terms.put(key, terms, 100 + 60 * terms.length);
    return terms;
  }

  /** The most frequent of these terms, most frequent first. */
  async mostFrequent(
    corpus: string,
    terms: readonly string[],
    count: number,
    wanted?: string,
  ): Promise<string[]> {
    const snapshot = await this.#snapshots.open(corpus, wanted);
    if (snapshot === undefined) return [];
    const found = await this.#pool.query<{ term: string }>({
      name: "search-most-frequent",
      text: `select term from search_posting where term = any($1) and segment = any($2)
              group by term order by sum(documents) desc, term limit $3`,
      values: [terms, snapshot.segments.map(({ id }) => id), count],
    });
    return found.rows.map(({ term }) => term);
  }

  /** Whether a document of the corpus has no date. */
  async hasUndated(corpus: string, wanted?: string): Promise<boolean> {
    const snapshot = await this.#snapshots.open(corpus, wanted);
    return snapshot?.segments.some(({ isDated }) => !isDated) ?? false;
  }

  async refresh(
    corpus: string,
    documents: AsyncIterable<IndexDocument>,
    options: RefreshOptions,
  ): Promise<RefreshReport> {
    const client = await this.#database.connect();
    try {
      const analyser = async () => this.#lexicons.analyser(await this.#analysisFor(corpus, options));
      const report = await refresh(client, corpus, documents, analyser, options);
      this.#snapshots.forget(corpus);
      return report;
    } finally {
      await client.end();
    }
  }

  /** Makes these words the dictionary, in addition to jieba's own. Returns its version and how many of them count. */
  setWords(words: readonly string[]): Promise<{ readonly version: string; readonly words: number }> {
    return this.#lexicons.set(words);
  }

  /** The words of the newest dictionary. */
  words(): Promise<readonly string[]> {
    return this.#lexicons.words();
  }

  /** The analyser that split the corpus's documents, for its queries. */
  async analyser(corpus: string, snapshot?: string): Promise<Analyser | undefined> {
    const open = await this.#snapshots.open(corpus, snapshot);
    return open === undefined ? undefined : this.#lexicons.analyser(open.analysis);
  }

  /** The analyser for new corpora. */
  async newestAnalyser(): Promise<Analyser> {
    return this.#lexicons.analyser(await this.#lexicons.newest());
  }

  /** Reads the current snapshots and loads their dictionaries, so that the first question does not wait for them. */
  async warm(): Promise<void> {
    // A word in Chinese also loads the table of traditional characters.
    (await this.newestAnalyser()).queryTerms("词");
    for (const { corpus } of await this.corpora()) await this.analyser(corpus);
  }

  /**
   * Merges the segments of every data set into new ones, beside those being served. `document` makes a document of a
   * stored record; without it (records that are only looked up) nothing would change. Returns the corpus's size.
   */
  async rebuild(
    corpus: string,
    document: MakeDocument | undefined,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    if (document === undefined) {
      await this.#pool.query(
        "update search_corpus set refreshed_at = now(), next_refresh_at = now() + interval '30 days' where corpus = $1",
        [corpus],
      );
      this.#snapshots.forget(corpus);
      return (await this.#snapshots.open(corpus))?.size ?? 0;
    }
    const client = await this.#database.connect();
    try {
      const analyser = await this.newestAnalyser();
      const { size } = await rebuild(client, corpus, document, analyser, options.signal);
      this.#snapshots.forget(corpus);
      return size;
    } finally {
      await client.end();
    }
  }

  /** The documents of a data set in an older snapshot that was kept. */
  async *documentsAt(snapshot: number, dataset: string): AsyncGenerator<object> {
    const client = await this.#database.connect();
    try {
      yield* bodiesAt(client, snapshot, dataset);
    } finally {
      await client.end();
    }
  }

  /** Bodies by their positions; undefined if the segment no longer exists. */
  bodies(places: readonly DocumentPlace[]): Promise<(StoredBody | undefined)[]> {
    return this.#bodies.read(places);
  }

  /** How many documents are served, excluding those of some data sets. */
  async size(corpus: string, without: readonly string[]): Promise<number> {
    const snapshot = await this.#snapshots.open(corpus);
    return livingOf(snapshot?.segments.filter((segment) => !without.includes(segment.dataset)) ?? []);
  }

  /** The date of the newest document outside these data sets; null if no document has a date. */
  async newestDay(corpus: string, without: readonly string[]): Promise<string | null> {
    const snapshot = await this.#snapshots.open(corpus);
    const segments = snapshot?.segments.filter(({ dataset }) => !without.includes(dataset));
    const dates = segments?.map(({ dates, dead }) =>
      dates.reduce((newest, date, ordinal) => (date > newest && !dead?.has(ordinal) ? date : newest), 0),
    );
    const newest = String(Math.max(0, ...(dates ?? [])));
    return newest === "0" ? null : newest.replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
  }

  /** How many documents of each data set are served. */
  async datasets(corpus: string): Promise<ReadonlyMap<string, number>> {
    const found = await this.#pool.query<{ dataset: string; served: number }>(
      `select s.dataset, sum(s.documents - coalesce(bit_count(p.dead), 0))::int as served
         from search_corpus c join search_snapshot_segment p on p.snapshot = c.snapshot
         join search_segment s on s.id = p.segment
        where c.corpus = $1 group by s.dataset`,
      [corpus],
    );
    return new Map(found.rows.map(({ dataset, served }) => [dataset, served]));
  }

  /** The next use of the corpus asks the database, because another process may have changed it. */
  forget(corpus: string): void {
    this.#snapshots.forget(corpus);
  }

  /** Every corpus with what it serves. */
  async corpora(): Promise<(IndexState & { readonly corpus: string })[]> {
    const found = await this.#pool.query<{ corpus: string }>(
      "select corpus from search_corpus order by corpus",
    );
    const states = await Promise.all(
      found.rows.map(async ({ corpus }) => {
        const state = await this.state(corpus);
        return state === undefined ? [] : [{ corpus, ...state }];
      }),
    );
    return states.flat();
  }

  /** Every live document that is served now, in the order of the index. */
  async *documents(corpus: string, dataset?: string): AsyncGenerator<object> {
    const snapshot = await this.#snapshots.open(corpus);
    for (const segment of snapshot?.segments ?? []) {
      if (dataset !== undefined && segment.dataset !== dataset) continue;
      for (let from = 0; from < segment.documents; from += scanRows) {
        for (const { ordinal, body } of await this.stored(segment.id, from, from + scanRows))
          if (!segment.dead?.has(ordinal)) yield body;
      }
    }
  }

  /** The current snapshot; undefined for a corpus without one. */
  async state(corpus: string): Promise<IndexState | undefined> {
    const snapshot = await this.#snapshots.open(corpus);
    return snapshot === undefined ? undefined : stateOf(snapshot);
  }

  /**
   * All segments of a snapshot use the same dictionary. Only a corpus that is replaced as a whole gets the newest
   * one.
   */
  async #analysisFor(corpus: string, options: RefreshOptions): Promise<string> {
    const found = await this.#pool.query<{ dataset: string; analysis: string }>(
      `select s.dataset, s.analysis from search_corpus c
         join search_snapshot_segment p on p.snapshot = c.snapshot join search_segment s on s.id = p.segment
        where c.corpus = $1`,
      [corpus],
    );
    const isKept = (dataset: string) => options.mode === "update" || dataset !== options.dataset;
    const kept = found.rows.find((row) => isKept(row.dataset));
    return kept?.analysis ?? this.#lexicons.newest();
  }

  async #rank(
    snapshot: OpenSnapshot,
    question: Question,
    { datasets }: Pick<SearchPage, "datasets">,
    depth: number,
    near: readonly Place[],
  ): Promise<{
    total: number;
    complete: number;
    unknown: ReadonlySet<Concept>;
    ranked: readonly Ranked[];
    others: Others;
  }> {
    const { wanted } = question;
    const scored = wanted === undefined ? [] : [...new Set(wantedTerms(wanted))];
    const terms = [...new Set([...termsOf(question.query), ...scored])];
    const [postings, places] = await Promise.all([
      this.#postings(snapshot, terms),
      this.#places(snapshot, [...new Set(phraseTermsOf(question.query))]),
    ]);
    // Nothing may be awaited from here on, because the scratch memory belongs to this question.
    this.#scratch.reset();
    const { take } = this.#scratch;
    const bySegment = postings.map((found, place) => ({ postings: found, places: places[place]! }));
    const statistics = statisticsOf(snapshot, scored, bySegment);
    const unknown = wanted === undefined ? new Set<Concept>() : unknownConcepts(wanted, statistics);
    const wholeQuery = wanted && completeQuery(wanted, unknown);
    const whole = snapshot.segments.map((segment, place) => {
      if (wanted !== undefined && wholeQuery === undefined) return noOrdinals;
      const query = wholeQuery === undefined ? question.query : { all: [question.query, wholeQuery] };
      return matching({ ...question, query }, segment, bySegment[place] as SegmentTerms, take);
    });
    const complete = whole.reduce((sum, ordinals) => sum + ordinals.length, 0);
    const isEnough = wanted === undefined || complete >= enoughComplete;
    // The other documents rank behind the page, so it is enough to count them.
    const isPageComplete = complete >= depth;
    const finding = wanted === undefined ? [] : [...new Set(findingTerms(wanted))];
    const top = new Top(depth);
    let total = 0;
    for (const [place, segment] of snapshot.segments.entries()) {
      const own = bySegment[place] as SegmentTerms;
      const all = whole[place] as Uint32Array;
      const isLast = segment.dataset === datasets?.last;
      const rank = (ordinals: Uint32Array, scores: Float64Array) => {
        total += ordinals.length;
        top.offerAll(scores, segment.dates, place, ordinals, isLast);
      };
      if (wanted === undefined) rank(all, this.#scratch.scores("sum", all.length));
      else if (isEnough)
        rank(all, scoresOf(plain(wanted), segment, own.postings, statistics, all, this.#scratch));
      else if (isPageComplete) {
        rank(all, scoresOf(wanted, segment, own.postings, statistics, all, this.#scratch));
        const may = matching(question, segment, own, take);
        const sets = finding.flatMap((term) => own.postings.get(term)?.ordinals ?? []);
        const { documents } = segment;
        total += countUnion(sets, documents, may.length === documents ? undefined : may) - all.length;
      } else {
        const may = matching(question, segment, own, take);
        // If all documents count, reading the blocks in sequence is faster than looking up each document.
        const matches = may.length === segment.documents ? undefined : may;
        const scores = scoresOf(wanted, segment, own.postings, statistics, matches, this.#scratch);
        const { ordinals, length } = raise(may, all, scores, take);
        rank(ordinals, scores.subarray(0, length));
      }
    }
    const others = othersOf(near, (place, ordinal) => {
      const own = (bySegment[place] as SegmentTerms).postings;
      const isWhole = hasOrdinal(whole[place] as Uint32Array, ordinal);
      const hasWord = isWhole || finding.some((term) => hasOrdinal(own.get(term)?.ordinals, ordinal));
      return { hasWord, isCounted: isEnough ? isWhole : hasWord };
    });
    return {
      total,
      complete: wanted === undefined ? total : complete,
      unknown,
      ranked: top.ranked(),
      others,
    };
  }

  async #postings(snapshot: OpenSnapshot, terms: readonly string[]): Promise<Map<string, Postings>[]> {
    const found = snapshot.segments.map(() => new Map<string, Postings>());
    const missing = new Set<string>();
    for (const [place, segment] of snapshot.segments.entries()) {
      for (const term of terms) {
        const block = this.#blocks.get(`${segment.id} ${term}`);
        if (block === undefined) missing.add(term);
        else if (block !== null) found[place]?.set(term, block);
      }
    }
    if (missing.size === 0) return found;
    const places = new Map(snapshot.segments.map((segment, place) => [segment.id, place]));
    const rows = await this.#pool.query<{ term: string; segment: number; documents: number; data: Buffer }>({
      name: "search-postings",
      text: "select term, segment, documents, data from search_posting where term = any($1) and segment = any($2)",
      values: [[...missing], [...places.keys()]],
    });
    for (const { term, segment, documents, data } of rows.rows) {
      const place = places.get(segment) as number;
      const block = readBlock(data, documents, snapshot.segments[place]?.documents ?? 0);
      this.#keep(segment, term, block);
      found[place]?.set(term, block);
    }
    for (const term of missing) {
      for (const segment of snapshot.segments) this.#keep(segment.id, term, null);
    }
    return found;
  }

  #keep(segment: number, term: string, block: Postings | null): void {
    const key = `${segment} ${term}`;
    const postings = block === null ? 0 : 5 * block.ordinals.length + (block.dense?.length ?? 0);
    this.#blocks.put(key, block, 100 + 2 * key.length + postings);
  }

  /**
   * Reads positions of terms. They are not cached, because phrases are rare and positions take more memory
   * than postings.
   */
  async #places(snapshot: OpenSnapshot, terms: readonly string[]): Promise<Map<string, Uint8Array>[]> {
    const found = snapshot.segments.map(() => new Map<string, Uint8Array>());
    if (terms.length === 0) return found;
    const order = new Map(snapshot.segments.map((segment, place) => [segment.id, place]));
    const rows = await this.#pool.query<{ term: string; segment: number; places: Buffer | null }>({
      name: "search-places",
      text: "select term, segment, places from search_posting where term = any($1) and segment = any($2)",
      values: [terms, [...order.keys()]],
    });
    for (const { term, segment, places } of rows.rows)
      if (places !== null) found[order.get(segment) as number]?.set(term, places);
    return found;
  }

  async #read(
    snapshot: OpenSnapshot,
    ranked: readonly (Place & { readonly score: number })[],
    wordless: ReadonlySet<string>,
  ): Promise<Hit[]> {
    const places = ranked.map(({ segment, ordinal }) => ({
      segment: (snapshot.segments[segment] as OpenSegment).id,
      ordinal,
    }));
    const bodies = await this.#bodies.read(places);
    return ranked.map(({ score, segment, ordinal }, at) => {
      const body = bodies[at];
      if (body === undefined) throw new Failure("snapshot_expired", { snapshot: String(snapshot.id) });
      return {
        body,
        score,
        dataset: (snapshot.segments[segment] as OpenSegment).dataset,
        ...(wordless.has(`${segment} ${ordinal}`) && { byMeaning: true as const }),
      };
    });
  }
}

/** A document: its segment's position in the snapshot, and its ordinal. */
type Place = Pick<Ranked, "segment" | "ordinal">;

export type SegmentOfCorpus = Pick<OpenSegment, "id" | "dataset" | "documents">;

/** Documents found by meaning: those without any word, and the number that the search by words did not count. */
interface Others {
  readonly wordless: ReadonlySet<string>;
  readonly uncounted: number;
}

function othersOf(
  near: readonly Place[],
  look: (place: number, ordinal: number) => { hasWord: boolean; isCounted: boolean },
): Others {
  const looked = near.map(({ segment, ordinal }) => ({
    key: `${segment} ${ordinal}`,
    ...look(segment, ordinal),
  }));
  return {
    wordless: new Set(looked.filter(({ hasWord }) => !hasWord).map(({ key }) => key)),
    uncounted: looked.filter(({ isCounted }) => !isCounted).length,
  };
}

/** Documents by the positions of their segments in the snapshot. Those of other segments are left out. */
function placesIn({ segments }: OpenSnapshot, places: readonly DocumentPlace[]): Place[] {
  const order = new Map(segments.map(({ id }, at) => [id, at]));
  return places.flatMap(({ segment, ordinal }) => {
    const at = order.get(segment);
    return at === undefined ? [] : [{ segment: at, ordinal }];
  });
}

function hasOrdinal(ordinals: Uint32Array | undefined, ordinal: number): boolean {
  return ordinals !== undefined && ordinals[lowerBound(ordinals, ordinal, 0)] === ordinal;
}

const noKeys: ReadonlySet<string> = new Set();

/**
 * The members of `may` that have a score; moves their scores to the front. Raises the `complete` ones among them above
 * the others.
 */
function raise(
  may: Uint32Array,
  complete: Uint32Array,
  scores: Float64Array,
  take: Take,
): { ordinals: Uint32Array; length: number } {
  const ordinals = take(may.length);
  let length = 0;
  let next = 0;
  for (let i = 0; i < may.length; i++) {
    const ordinal = may[i] as number;
    const isComplete = complete[next] === ordinal;
    if (isComplete) next++;
    const score = scores[i] as number;
    if (score === 0 && !isComplete) continue;
    ordinals[length] = ordinal;
    scores[length++] = isComplete ? score + completeScore : score;
  }
  return { ordinals: ordinals.subarray(0, length), length };
}

/** Parts of words do not affect the order of documents that have every word. */
function plain(wanted: Wanted): Wanted {
  return { ...wanted, hints: wanted.hints.filter(({ isFlat }) => isFlat) };
}

const noOrdinals = new Uint32Array(0);

export function countedWithout(dataset: string | undefined): SearchPage {
  return { offset: 0, limit: 0, ...(dataset !== undefined && { datasets: { without: dataset } }) };
}

const scanRows = 500;
const blockBytes = 64 << 20;
const termListBytes = 4 << 20;
const countBytes = 4 << 20;

function withoutDataset(snapshot: OpenSnapshot, dataset: string): OpenSnapshot {
  const segments = snapshot.segments.filter((segment) => segment.dataset !== dataset);
  return { ...snapshot, segments, size: livingOf(segments) };
}

function livingOf(segments: readonly OpenSegment[]): number {
  return segments.reduce((sum, { documents, dead }) => sum + documents - (dead?.count() ?? 0), 0);
}

function statisticsOf(
  snapshot: OpenSnapshot,
  terms: readonly string[],
  bySegment: readonly SegmentTerms[],
): Statistics {
  const documents = snapshot.segments.reduce((sum, segment) => sum + segment.documents, 0);
  return {
    documents,
    documentsWithTerm: new Map(
      terms.map((term) => [
        term,
        bySegment.reduce((sum, { postings }) => sum + (postings.get(term)?.ordinals.length ?? 0), 0),
      ]),
    ),
  };
}

function stateOf(snapshot: OpenSnapshot): IndexState {
  return {
    snapshot: String(snapshot.id),
    refreshed_at: chinaInstant(snapshot.refreshedAt),
    next_refresh_at: snapshot.nextRefreshAt === null ? null : chinaInstant(snapshot.nextRefreshAt),
    size: snapshot.size,
  };
}
