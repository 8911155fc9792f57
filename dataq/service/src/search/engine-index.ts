import { Failure, type IndexState } from "@dataq/contract";
import type { Database } from "../database/database.ts";
import type { Analyser } from "./analysis/analyser.ts";
import { Lexicons } from "./analysis/lexicons.ts";
import type { Engine } from "./engine.ts";
import { fuse, fusedDepth } from "./meaning/fuse.ts";
import { Recent } from "./recent.ts";
import type {
  Contents,
  EngineHealth,
  Found,
  IndexDocument,
  MakeDocument,
  Question,
  RefreshOptions,
  RefreshReport,
  SearchIndex,
  SearchPage,
  VectorSegment,
  VectorSpace,
} from "./search-index.ts";
import { Bodies, type Position, placeOf, positionOf, unpackBody } from "./snapshots/bodies.ts";
import { type Building, bodiesAt, bodiesOf } from "./snapshots/build.ts";
import {
  contentsOf,
  type OpenSegment,
  type OpenSnapshot,
  type ReadSnapshot,
  readOf,
  stateOf,
} from "./snapshots/open-snapshot.ts";
import { Snapshots } from "./snapshots/snapshots.ts";
import type { Place, StoredBody } from "./stored-body.ts";

export interface Engines {
  readonly embedded: Engine;
  /** The engine that the operator chose instead. */
  readonly chosen?: Engine;
}

/**
 * The search index over its engines. PostgreSQL says what is served and has the bodies; an engine has the words. A corpus
 * stays with its engine until it is built again. Records that are only looked up by key stay with the embedded engine.
 */
export class EngineIndex implements SearchIndex, VectorSpace {
  readonly lexicons: Lexicons;
  readonly vectors: VectorSpace = this;
  readonly #database: Database;
  readonly #engines: Engines;
  readonly #snapshots: Snapshots;
  readonly #bodies: Bodies;
  readonly #terms = new Recent<string, readonly string[]>(termListBytes);
  readonly #counts = new Recent<string, number>(countBytes);
  readonly #contents = new Recent<number, Contents>(contentsBytes);

  constructor(database: Database, engines: Engines, now: () => number = Date.now) {
    this.#database = database;
    this.#engines = engines;
    this.#snapshots = new Snapshots(database, now, (snapshot) => {
      for (const engine of this.#all()) engine.forget?.(snapshot);
    });
    this.lexicons = new Lexicons(database.pool);
    this.#bodies = new Bodies(database);
  }

  async refresh(
    corpus: string,
    documents: AsyncIterable<IndexDocument>,
    options: RefreshOptions,
  ): Promise<RefreshReport> {
    const { engine, all } = await this.#engineFor(corpus, documents, options);
    const findAnalyser = () => this.#analyserFor(corpus, options);
    return this.#build(corpus, (building) => engine.refresh(building, all, findAnalyser, options));
  }

  async rebuild(
    corpus: string,
    document: MakeDocument | undefined,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    if (document === undefined) {
      await this.#database.pool.query(
        "update search_corpus set refreshed_at = now(), next_refresh_at = now() + interval '30 days' where corpus = $1",
        [corpus],
      );
      this.forget(corpus);
      return (await this.#snapshots.open(corpus))?.size ?? 0;
    }
    const { embedded, chosen = embedded } = this.#engines;
    const { size } = await this.#build(corpus, async (building) =>
      chosen.rebuild(building, document, await this.lexicons.newestAnalyser(), signal),
    );
    return size;
  }

  async search(corpus: string, question: Question, page: SearchPage): Promise<Found | undefined> {
    const snapshot = await this.#snapshots.open(corpus, page.snapshot);
    if (snapshot === undefined) return undefined;
    const engine = this.#engineOf(snapshot);
    const read = readOf(snapshot, page.datasets?.without);
    const segments = new Map(read.segments.map((segment) => [segment.id, segment]));
    const near = (page.near ?? []).flatMap((place) => positionOf(place) ?? []);
    const nearHere = near.filter(({ segment }) => segments.has(segment));
    const { offset, limit } = page;
    const ranked = await engine.rank(read, question, {
      last: page.datasets?.last,
      near: nearHere,
      // Of a fused list, any part of the first ranks may be on the page.
      ...(nearHere.length === 0
        ? { offset, limit }
        : { offset: 0, limit: Math.max(fusedDepth, offset + limit + nearHere.length) }),
    });
    const isFused = nearHere.length > 0 && !ranked.isExact;
    const list = isFused
      ? fuse<Position>(ranked.documents, nearHere, placeOf).map(({ item, score }) => ({ ...item, score }))
      : ranked.documents;
    const from = nearHere.length === 0 ? 0 : offset;
    const hits = list.slice(from, from + limit);
    const bodies = await this.read(hits.map(placeOf));
    const wordless = new Set(isFused ? ranked.wordless.map((at) => placeOf(nearHere[at] as Position)) : []);
    return {
      hits: hits.map((hit, at) => {
        const body = bodies[at];
        if (body === undefined) throw new Failure("snapshot_expired", { snapshot: String(snapshot.id) });
        const { dataset } = segments.get(hit.segment) as OpenSegment;
        const byMeaning = wordless.has(placeOf(hit)) && { byMeaning: true as const };
        return { body, score: hit.score, dataset, ...byMeaning };
      }),
      total: ranked.total + (isFused ? ranked.uncounted : 0),
      totalRelation: "eq",
      complete: ranked.complete,
      unknown: ranked.unknown,
      index: stateOf(snapshot, read),
      isFused,
    };
  }

  async count(corpus: string, terms: readonly string[], without?: string): Promise<number> {
    const asked = await this.#ask(corpus, undefined, without);
    if (asked === undefined) return 0;
    const key = JSON.stringify([asked.read.snapshot.id, without, ...terms]);
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const total = await asked.engine.count(asked.read, terms);
    this.#counts.put(key, total, 100 + 2 * key.length);
    return total;
  }

  async terms(corpus: string, prefix: string): Promise<readonly string[]> {
    const asked = await this.#ask(corpus);
    if (asked === undefined) return [];
    const key = `${asked.read.snapshot.id} ${prefix}`;
    const known = this.#terms.get(key);
    if (known !== undefined) return known;
    const terms = await asked.engine.terms(asked.read, prefix);
    this.#terms.put(key, terms, 100 + 60 * terms.length);
    return terms;
  }

  async mostFrequent(
    corpus: string,
    words: readonly string[],
    count: number,
    snapshot?: string,
  ): Promise<readonly string[]> {
    const asked = await this.#ask(corpus, snapshot);
    return asked === undefined ? [] : asked.engine.mostFrequent(asked.read, words, count);
  }

  async allowed(
    corpus: string,
    question: Pick<Question, "query" | "dates">,
    { snapshot, datasets }: Pick<SearchPage, "snapshot" | "datasets">,
  ): Promise<(VectorSegment & { readonly allowed: Uint8Array | undefined })[]> {
    const asked = await this.#ask(corpus, snapshot, datasets?.without);
    if (asked === undefined) return [];
    const allowed = await asked.engine.allow(asked.read, question);
    return asked.read.segments.map(({ id, dataset, documents }, at) => ({
      id,
      dataset,
      documents,
      allowed: allowed[at],
    }));
  }

  async segments(
    corpus: string,
    snapshot?: string,
  ): Promise<{ readonly snapshot: number; readonly segments: readonly VectorSegment[] } | undefined> {
    const open = await this.#snapshots.open(corpus, snapshot);
    return open && { snapshot: open.id, segments: open.segments };
  }

  async stored(
    segment: number,
    from: number,
    to: number,
  ): Promise<{ readonly ordinal: number; readonly id: string; readonly body: object }[]> {
    const rows = await this.#database.pool.query<{ ordinal: number; id: string; body: Buffer }>(
      "select ordinal, id, body from search_document where segment = $1 and ordinal >= $2 and ordinal < $3 order by ordinal",
      [segment, from, to],
    );
    return rows.rows.map((row) => ({ ...row, body: JSON.parse(unpackBody(row.body).toString()) as object }));
  }

  place(document: Position): Place {
    return placeOf(document);
  }

  read(places: readonly Place[]): Promise<(StoredBody | undefined)[]> {
    return this.#bodies.read(places);
  }

  async analyser(corpus: string, snapshot?: string): Promise<Analyser | undefined> {
    const open = await this.#snapshots.open(corpus, snapshot);
    return open === undefined ? undefined : this.lexicons.analyser(open.analysis);
  }

  async state(corpus: string): Promise<IndexState | undefined> {
    const snapshot = await this.#snapshots.open(corpus);
    return snapshot === undefined ? undefined : stateOf(snapshot);
  }

  async corpora(): Promise<(IndexState & { readonly corpus: string })[]> {
    const found = await this.#database.pool.query<{ corpus: string }>(
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

  async contents(corpus: string, wanted?: string): Promise<Contents> {
    const snapshot = await this.#snapshots.open(corpus, wanted);
    if (snapshot === undefined) return new Map();
    const known = this.#contents.get(snapshot.id);
    if (known !== undefined) return known;
    const contents = contentsOf(snapshot);
    this.#contents.put(snapshot.id, contents, 200 + 200 * contents.size);
    return contents;
  }

  async *documents(corpus: string, dataset?: string): AsyncGenerator<object> {
    const snapshot = await this.#snapshots.open(corpus);
    for (const segment of snapshot?.segments ?? []) {
      if (dataset !== undefined && segment.dataset !== dataset) continue;
      for await (const { ordinal, body } of bodiesOf(this.#database.pool, segment))
        if (!segment.dead?.has(ordinal)) yield body;
    }
  }

  async *documentsAt(snapshot: number, dataset: string): AsyncGenerator<object> {
    yield* bodiesAt(this.#database.pool, snapshot, dataset);
  }

  forget(corpus?: string): void {
    this.#snapshots.forget(corpus);
  }

  async warm(): Promise<void> {
    // A word in Chinese also loads the table of traditional characters.
    (await this.lexicons.newestAnalyser()).queryTerms("词");
    const corpora = await this.corpora();
    for (const { corpus } of corpora) await this.analyser(corpus);
    const largest = Math.max(0, ...corpora.map(({ size }) => size));
    for (const engine of this.#all()) engine.warm?.(largest);
  }

  health(): Promise<EngineHealth> {
    const { embedded, chosen = embedded } = this.#engines;
    return chosen.health();
  }

  async close(): Promise<void> {
    for (const engine of this.#all()) await engine.close();
  }

  #all(): readonly Engine[] {
    const { embedded, chosen } = this.#engines;
    return chosen === undefined ? [embedded] : [chosen, embedded];
  }

  /** A snapshot without one of its data sets, and the engine that has its words. */
  async #ask(
    corpus: string,
    wanted?: string,
    without?: string,
  ): Promise<{ readonly engine: Engine; readonly read: ReadSnapshot } | undefined> {
    const snapshot = await this.#snapshots.open(corpus, wanted);
    return snapshot && { engine: this.#engineOf(snapshot), read: readOf(snapshot, without) };
  }

  #engineOf({ corpus, isElsewhere }: OpenSnapshot): Engine {
    const { embedded, chosen } = this.#engines;
    if (!isElsewhere) return embedded;
    if (chosen !== undefined) return chosen;
    throw new Failure(
      "unavailable",
      { retry_after: 60 },
      new Error(
        `The words of ${corpus} are in OpenSearch. Set DATAQ_SEARCH, or run: dataq index build ${corpus}`,
      ),
    );
  }

  /** The engine that has the words of what stays. If nothing stays, the embedded one gets documents without texts. */
  async #engineFor(
    corpus: string,
    documents: AsyncIterable<IndexDocument>,
    { dataset, mode }: RefreshOptions,
  ): Promise<{ readonly engine: Engine; readonly all: AsyncIterable<IndexDocument> }> {
    const { embedded, chosen } = this.#engines;
    if (chosen === undefined) return { engine: embedded, all: documents };
    const found = await this.#database.pool.query<{ isElsewhere: boolean }>(
      `select distinct s.home is not null as "isElsewhere" from search_corpus c
         join search_snapshot_segment p on p.snapshot = c.snapshot join search_segment s on s.id = p.segment
        where c.corpus = $1 and s.dataset is distinct from $2`,
      [corpus, mode === "update" ? null : dataset],
    );
    const kept = found.rows.map(({ isElsewhere }) => isElsewhere);
    const { first, all } = await peek(documents);
    const isElsewhere = kept.length > 0 ? kept.includes(true) : (first?.texts.length ?? 0) > 0;
    return { engine: isElsewhere ? chosen : embedded, all };
  }

  /**
   * All segments of a snapshot use the same dictionary. Only a corpus that is replaced as a whole gets the newest
   * one.
   */
  async #analyserFor(corpus: string, options: RefreshOptions): Promise<Analyser> {
    const found = await this.#database.pool.query<{ dataset: string; analysis: string }>(
      `select s.dataset, s.analysis from search_corpus c
         join search_snapshot_segment p on p.snapshot = c.snapshot join search_segment s on s.id = p.segment
        where c.corpus = $1`,
      [corpus],
    );
    const isKept = (dataset: string) => options.mode === "update" || dataset !== options.dataset;
    const kept = found.rows.find((row) => isKept(row.dataset));
    return this.lexicons.analyser(kept?.analysis ?? (await this.lexicons.newest()));
  }

  /** Runs a build on a connection of its own. */
  async #build<Result>(corpus: string, run: (building: Building) => Promise<Result>): Promise<Result> {
    const client = await this.#database.connect();
    const asOwner: Building["asOwner"] = async (run) => {
      const owner = await this.#database.connectAsOwner();
      try {
        return await run(owner);
      } finally {
        await owner.end();
      }
    };
    try {
      const result = await run({ client, asOwner, corpus });
      this.forget(corpus);
      return result;
    } finally {
      await client.end();
    }
  }
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

const termListBytes = 16 << 20;
const countBytes = 4 << 20;
const contentsBytes = 1 << 20;
