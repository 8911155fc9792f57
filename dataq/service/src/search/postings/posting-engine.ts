import { Failure, type IndexState } from "@dataq/contract";
import type { ClientBase } from "pg";
import type { Database } from "../../database/database.ts";
import type { Analyser } from "../analysis/analyser.ts";
import { Lexicons } from "../analysis/lexicons.ts";
import { fuse, fusedDepth } from "../meaning/fuse.ts";
import { Recent } from "../recent.ts";
import type {
  Concept,
  Contents,
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
import { Bodies, placeOf, positionOf, unpackBody } from "../snapshots/bodies.ts";
import { bodiesAt } from "../snapshots/build.ts";
import {
  contentsOf,
  type OpenSegment,
  type OpenSnapshot,
  type ReadSnapshot,
  readOf,
  stateOf,
} from "../snapshots/open-snapshot.ts";
import { Snapshots } from "../snapshots/snapshots.ts";
import type { Place as DocumentPlace, StoredBody } from "../stored-body.ts";
import { type Place, wantedConcepts } from "./ranking/rank.ts";
import { Ranking, type RankingOptions } from "./ranking/ranking.ts";
import { exactScore, shownScore } from "./ranking/scores.ts";
import { rebuild, refresh, type SizedBuilding } from "./segments/refresh.ts";
import { type BuildSizes, usualSizes } from "./segments/segment-writer.ts";

export interface PostingIndexOptions extends RankingOptions {
  readonly now?: () => number;
  readonly sizes?: BuildSizes;
}

/** Posting blocks in PostgreSQL: the terms of a question are read in one statement, the page's documents in another. */
export class PostingIndex implements SearchIndex, VectorSpace {
  readonly lexicons: Lexicons;
  readonly vectors: VectorSpace = this;
  readonly #database: Database;
  readonly #sizes: BuildSizes;
  readonly #pool: Database["pool"];
  /** Which segments a snapshot serves, whichever engine has their words. */
  readonly snapshots: Snapshots;
  readonly #ranking: Ranking;
  readonly #bodies: Bodies;
  readonly #terms = new Recent<string, readonly string[]>(termListBytes);
  readonly #counts = new Recent<string, number>(countBytes);
  readonly #contents = new Recent<number, Contents>(contentsBytes);

  constructor(
    database: Database,
    { now = Date.now, sizes = usualSizes, ...ranking }: PostingIndexOptions = {},
  ) {
    this.#database = database;
    this.#sizes = sizes;
    this.#pool = database.pool;
    this.#ranking = new Ranking(database.reads.fixed, ranking);
    this.snapshots = new Snapshots(database, now, (snapshot) => this.#ranking.forget(snapshot));
    this.lexicons = new Lexicons(database.pool);
    this.#bodies = new Bodies(database);
  }

  /** Searches a corpus. Undefined if nothing was ever added to it. */
  async search(corpus: string, question: Question, page: SearchPage): Promise<Found | undefined> {
    const snapshot = await this.#open(corpus, page.snapshot);
    if (snapshot === undefined) return undefined;
    const read = readOf(snapshot, page.datasets?.without);
    const near = page.near === undefined ? [] : placesIn(read, page.near);
    const { offset, limit } = page;
    const { total, complete, unknown, best, ranked, wordless, uncounted } = await this.#ranking.rank(read, {
      question,
      // Of a fused list, any part of the first ranks may be on the page.
      depth: near.length === 0 ? offset + limit : Math.max(fusedDepth, offset + limit + near.length),
      from: near.length === 0 ? offset : 0,
      last: page.datasets?.last,
      near,
    });
    const isFused = near.length > 0 && best < exactScore;
    const list = isFused
      ? fuse<Place>(ranked, near, keyOf).map((fused) => ({ ...fused.item, score: fused.score }))
      : ranked.map((hit) => ({ ...hit, score: shownScore(hit.score) }));
    const from = near.length === 0 ? 0 : offset;
    const hits = await this.#read(
      read,
      list.slice(from, from + limit),
      isFused ? new Set(wordless.map((at) => keyOf(near[at] as Place))) : noKeys,
    );
    const concepts = wantedConcepts(question);
    return {
      hits,
      total: isFused ? total + uncounted : total,
      totalRelation: "eq",
      complete,
      unknown: new Set(unknown.map((at) => concepts[at] as Concept)),
      index: stateOf(snapshot, read),
      isFused,
    };
  }

  /** The segments of a snapshot, with the documents in each that a question allows. */
  async allowed(
    corpus: string,
    question: Pick<Question, "query" | "dates">,
    { snapshot: wanted, datasets }: Pick<SearchPage, "snapshot" | "datasets">,
  ): Promise<(VectorSegment & { readonly allowed: Uint8Array | undefined })[]> {
    const snapshot = await this.#open(corpus, wanted);
    if (snapshot === undefined) return [];
    const read = readOf(snapshot, datasets?.without);
    const allowed = await this.#ranking.allow(read, question);
    return read.segments.map(({ id, dataset, documents }, place) => ({
      id,
      dataset,
      documents,
      allowed: allowed[place],
    }));
  }

  /** The segments of a snapshot, by default of the current one. */
  async segments(
    corpus: string,
    snapshot?: string,
  ): Promise<{ readonly snapshot: number; readonly segments: readonly VectorSegment[] } | undefined> {
    const open = await this.snapshots.open(corpus, snapshot);
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
    const snapshot = await this.#open(corpus);
    if (snapshot === undefined) return 0;
    const key = JSON.stringify([snapshot.id, without, ...terms]);
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const { total } = await this.#ranking.rank(readOf(snapshot, without), {
      question: { query: { all: terms.map((term) => ({ term })) } },
      depth: 0,
      from: 0,
      last: undefined,
      near: [],
    });
    this.#counts.put(key, total, 100 + 2 * key.length);
    return total;
  }

  /**
   * Terms of the corpus that begin with a prefix; for short lists, such as all platforms. Returns the same array as
   * long as the snapshot is served.
   */
  async terms(corpus: string, prefix: string): Promise<readonly string[]> {
    const snapshot = await this.#open(corpus);
    if (snapshot === undefined) return [];
    const key = `${snapshot.id} ${prefix}`;
    const known = this.#terms.get(key);
    if (known !== undefined) return known;
    const found = await this.#database.reads.fixed.query<{ term: string }>({
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
    const snapshot = await this.#open(corpus, wanted);
    if (snapshot === undefined) return [];
    const found = await this.#database.reads.fixed.query<{ term: string }>({
      name: "search-most-frequent",
      text: `select term from search_posting where term = any($1) and segment = any($2)
              group by term order by sum(documents) desc, term limit $3`,
      values: [terms, snapshot.segments.map(({ id }) => id), count],
    });
    return found.rows.map(({ term }) => term);
  }

  async refresh(
    corpus: string,
    documents: AsyncIterable<IndexDocument>,
    options: RefreshOptions,
  ): Promise<RefreshReport> {
    const client = await this.#database.connect();
    try {
      const analyser = () => this.analyserFor(corpus, options);
      const report = await refresh(this.building(client), corpus, documents, analyser, options);
      this.snapshots.forget(corpus);
      return report;
    } finally {
      await client.end();
    }
  }

  /** The analyser that split the corpus's documents, for its queries. */
  async analyser(corpus: string, snapshot?: string): Promise<Analyser | undefined> {
    const open = await this.snapshots.open(corpus, snapshot);
    return open === undefined ? undefined : this.lexicons.analyser(open.analysis);
  }

  /** Reads the current snapshots and loads their dictionaries, so that the first question does not wait for them. */
  async warm(): Promise<void> {
    // A word in Chinese also loads the table of traditional characters.
    (await this.lexicons.newestAnalyser()).queryTerms("词");
    const corpora = await this.corpora();
    for (const { corpus } of corpora) await this.analyser(corpus);
    if (corpora.some(({ size }) => size >= rankedInThreads)) this.#ranking.start();
  }

  /** Ends the threads that rank. */
  close(): Promise<void> {
    return this.#ranking.close();
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
      this.snapshots.forget(corpus);
      return (await this.snapshots.open(corpus))?.size ?? 0;
    }
    const client = await this.#database.connect();
    try {
      const analyser = await this.lexicons.newestAnalyser();
      const { size } = await rebuild(this.building(client), corpus, document, analyser, options.signal);
      this.snapshots.forget(corpus);
      return size;
    } finally {
      await client.end();
    }
  }

  /** The documents of a data set in an older snapshot that was kept. */
  async *documentsAt(snapshot: number, dataset: string): AsyncGenerator<object> {
    yield* bodiesAt(this.#pool, snapshot, dataset);
  }

  read(places: readonly DocumentPlace[]): Promise<(StoredBody | undefined)[]> {
    return this.#bodies.read(places);
  }

  place(document: { readonly segment: number; readonly ordinal: number }): DocumentPlace {
    return placeOf(document);
  }

  async contents(corpus: string, wanted?: string): Promise<Contents> {
    const snapshot = await this.snapshots.open(corpus, wanted);
    if (snapshot === undefined) return new Map();
    const known = this.#contents.get(snapshot.id);
    if (known !== undefined) return known;
    const contents = contentsOf(snapshot);
    this.#contents.put(snapshot.id, contents, 200 + 200 * contents.size);
    return contents;
  }

  /** The next use of the corpus asks the database, because another process may have changed it. */
  forget(corpus: string): void {
    this.snapshots.forget(corpus);
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
    const snapshot = await this.snapshots.open(corpus);
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
    const snapshot = await this.snapshots.open(corpus);
    return snapshot === undefined ? undefined : stateOf(snapshot);
  }

  /** The snapshot, if its words are posting blocks. */
  async #open(corpus: string, wanted?: string): Promise<OpenSnapshot | undefined> {
    const snapshot = await this.snapshots.open(corpus, wanted);
    if (snapshot?.isElsewhere)
      throw new Failure(
        "unavailable",
        { retry_after: 60 },
        new Error(
          `The words of ${corpus} are in OpenSearch. Set DATAQ_SEARCH, or run: dataq index build ${corpus}`,
        ),
      );
    return snapshot;
  }

  /**
   * All segments of a snapshot use the same dictionary. Only a corpus that is replaced as a whole gets the newest
   * one.
   */
  async analyserFor(corpus: string, options: RefreshOptions): Promise<Analyser> {
    const found = await this.#pool.query<{ dataset: string; analysis: string }>(
      `select s.dataset, s.analysis from search_corpus c
         join search_snapshot_segment p on p.snapshot = c.snapshot join search_segment s on s.id = p.segment
        where c.corpus = $1`,
      [corpus],
    );
    const isKept = (dataset: string) => options.mode === "update" || dataset !== options.dataset;
    const kept = found.rows.find((row) => isKept(row.dataset));
    return this.lexicons.analyser(kept?.analysis ?? (await this.lexicons.newest()));
  }

  /** What a build works with. */
  building(client: ClientBase): SizedBuilding {
    const asOwner: SizedBuilding["asOwner"] = async (run) => {
      const owner = await this.#database.connectAsOwner();
      try {
        return await run(owner);
      } finally {
        await owner.end();
      }
    };
    return { client, asOwner, sizes: this.#sizes };
  }

  async #read(
    { snapshot, segments }: ReadSnapshot,
    ranked: readonly (Place & { readonly score: number })[],
    wordless: ReadonlySet<string>,
  ): Promise<Hit[]> {
    const places = ranked.map(({ segment, ordinal }) => ({
      segment: (segments[segment] as OpenSegment).id,
      ordinal,
    }));
    const bodies = await this.#bodies.read(places.map(placeOf));
    return ranked.map(({ score, segment, ordinal }, at) => {
      const body = bodies[at];
      if (body === undefined) throw new Failure("snapshot_expired", { snapshot: String(snapshot.id) });
      return {
        body,
        score,
        dataset: (segments[segment] as OpenSegment).dataset,
        ...(wordless.has(keyOf({ segment, ordinal })) && { byMeaning: true as const }),
      };
    });
  }
}

/** Documents by the positions of their segments among those that are read. Those of other segments are left out. */
function placesIn({ segments }: ReadSnapshot, places: readonly DocumentPlace[]): Place[] {
  const order = new Map(segments.map(({ id }, at) => [id, at]));
  return places.map(positionOf).flatMap((position) => {
    const at = position && order.get(position.segment);
    return at === undefined ? [] : [{ segment: at, ordinal: position!.ordinal }];
  });
}

function keyOf({ segment, ordinal }: Place): string {
  return `${segment} ${ordinal}`;
}

const noKeys: ReadonlySet<string> = new Set();

const scanRows = 500;
/** From this size on, common words are ranked in a thread. */
const rankedInThreads = 20_000;
const termListBytes = 4 << 20;
const countBytes = 4 << 20;
const contentsBytes = 1 << 20;
