import { Failure } from "@dataq/contract";
import { mostTerms } from "../engine.ts";
import { Recent } from "../recent.ts";
import type { SearchPage } from "../search-index.ts";
import { BitSet } from "../snapshots/bitset.ts";
import type { OpenSegment } from "../snapshots/open-snapshot.ts";
import { bitmapOf } from "./bitmap.ts";
import { type Connection, OpenSearchError } from "./connection.ts";
import { fieldOf } from "./document-fields.ts";
import type { Body } from "./question-body.ts";

/** Which documents are found, and how they are scored. */
interface Sought {
  readonly filter: readonly Body[];
  readonly scored?: Body;
  /** Documents without a score are left out. */
  readonly isScoreRequired?: boolean;
}

export interface Scope {
  /** The segments that the question reads. */
  readonly segments: readonly OpenSegment[];
  /** Documents of this data set rank below others of equal score. */
  readonly last?: string | undefined;
}

export interface ScoredPlace {
  readonly segment: number;
  readonly ordinal: number;
  readonly dataset: string;
  readonly score: number;
}

/** Searches in the indices of segments. An incomplete answer counts as none. */
export class Searches {
  readonly #connection: Connection;
  /** Numbers of documents by segments and term. */
  readonly #counts = new Recent<string, number>(countBytes);
  /** Conditions for dead documents. */
  readonly #dead = new WeakMap<BitSet, Body>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The number of documents with each of these terms. */
  async documentsWith(
    segments: readonly OpenSegment[],
    terms: readonly string[],
  ): Promise<ReadonlyMap<string, number>> {
    const read = segments.map(({ id }) => id).join(" ");
    const found = new Map(terms.map((term) => [term, this.#counts.get(`${read} ${term}`) ?? 0]));
    const missing = terms.filter((term) => this.#counts.get(`${read} ${term}`) === undefined);
    if (missing.length === 0) return found;
    const filters = missing.map((term) => ({ term: { [fieldOf(term)]: term } }));
    const [answer] = await this.#ask(segments, [
      { size: 0, track_total_hits: false, aggs: { terms: { filters: { filters } } } },
    ]);
    for (const [place, term] of missing.entries()) {
      const count = answer?.aggregations?.terms.buckets[place]?.doc_count ?? 0;
      found.set(term, count);
      this.#counts.put(`${read} ${term}`, count, 100 + 2 * (read.length + term.length));
    }
    return found;
  }

  /** Exact terms that begin with a prefix. */
  async terms(segments: readonly OpenSegment[], prefix: string): Promise<readonly string[]> {
    const include = `${prefix.replace(/[.?+*|{}[\]()"\\#@&<>~]/g, "\\$&")}.*`;
    const terms = { field: "terms", include, size: mostTerms, order: { _key: "asc" } };
    const [answer] = await this.#ask(segments, [
      { size: 0, track_total_hits: false, aggs: { terms: { terms } } },
    ]);
    return (answer?.aggregations?.terms.buckets ?? []).map((bucket) => bucket.key);
  }

  /** How many documents match. */
  async count({ segments }: Scope, filter: readonly Body[]): Promise<number> {
    const [answer] = await this.#ask(segments, [this.#counting(segments, filter)]);
    return answer?.hits?.total?.value ?? 0;
  }

  /** A page of documents, best first. With the number of all that match, unless `isCounted` is false. */
  async page(
    { segments, last }: Scope,
    { filter, scored, isScoreRequired = false }: Sought,
    { offset, limit }: Pick<SearchPage, "offset" | "limit">,
    isCounted = true,
  ): Promise<{ readonly total: number; readonly places: readonly ScoredPlace[] }> {
    const others = segments.filter(({ dataset }) => dataset !== last);
    const isSplit = others.length > 0 && others.length < segments.length;
    const first = isSplit ? [{ constant_score: { filter: homesOf(others), boost: firstScore } }] : [];
    const isScored = scored !== undefined || isSplit;
    // Without a total, OpenSearch skips documents that cannot reach the page. Counting without scores is quick.
    const isCountedApart = isCounted && !isScoreRequired;
    const [ranked, counted] = await this.#ask(segments, [
      {
        from: offset,
        size: limit,
        track_total_hits: isCounted && !isCountedApart,
        _source: false,
        stored_fields: "_none_",
        timeout: `${searchLimitMs}ms`,
        query: {
          bool: {
            ...this.#living(segments, filter),
            ...(scored && isScoreRequired && { must: [scored] }),
            should: [...(scored && !isScoreRequired ? [scored] : []), ...first],
          },
        },
        sort: [
          ...(isScored ? [{ _score: "desc" }] : []),
          { date: "desc" },
          { segment: "asc" },
          { ordinal: "asc" },
        ],
      },
      ...(isCountedApart ? [this.#counting(segments, filter)] : []),
    ]);
    const datasets = new Map(segments.map(({ id, dataset }) => [id, dataset]));
    return {
      total: (counted ?? ranked)?.hits?.total?.value ?? 0,
      places: hitsOf(ranked).map(({ sort }) => placeOf(sort, isScored, isSplit ? last : undefined, datasets)),
    };
  }

  /** A bit for each document of a segment that matches. */
  async matching(segment: OpenSegment, filter: readonly Body[]): Promise<Uint8Array> {
    const found = BitSet.ofSize(segment.documents);
    for (let after: readonly number[] | undefined = [-1]; after !== undefined; ) {
      const question: Body = {
        size: matchingAtOnce,
        track_total_hits: false,
        _source: false,
        stored_fields: "_none_",
        timeout: `${searchLimitMs}ms`,
        query: { bool: this.#living([segment], filter) },
        sort: [{ ordinal: "asc" }],
        search_after: after,
      };
      const hits = hitsOf((await this.#ask([segment], [question]))[0]);
      for (const { sort } of hits) found.add(sort[0] as number);
      after = hits.length === matchingAtOnce ? hits.at(-1)?.sort : undefined;
    }
    return found.bytes;
  }

  #counting(segments: readonly OpenSegment[], filter: readonly Body[]): Body {
    return {
      size: 0,
      track_total_hits: true,
      timeout: `${searchLimitMs}ms`,
      query: { bool: this.#living(segments, filter) },
    };
  }

  #living(segments: readonly OpenSegment[], filter: readonly Body[]): Body {
    const dead = segments.flatMap((segment) =>
      segment.dead === null || segment.dead.count() === 0 ? [] : [this.#deadOf(segment, segment.dead)],
    );
    return {
      filter: filter.length === 0 ? [{ match_all: {} }] : filter,
      ...(dead.length > 0 && { must_not: dead }),
    };
  }

  #deadOf(segment: OpenSegment, dead: BitSet): Body {
    const known = this.#dead.get(dead);
    if (known !== undefined) return known;
    const condition = documentsOf(segment, dead);
    this.#dead.set(dead, condition);
    return condition;
  }

  /** Sends questions together. */
  async #ask(segments: readonly OpenSegment[], questions: readonly Body[]): Promise<SearchAnswer[]> {
    const index = [...new Set(segments.flatMap(({ home }) => home ?? []))];
    const body = questions.map((question) => {
      // Weights of words count all indices together.
      const isSpread = index.length > 1 && question["size"] !== 0;
      const head = { index, ...(isSpread && { search_type: "dfs_query_then_fetch" }) };
      return `${JSON.stringify(head)}\n${JSON.stringify(question)}\n`;
    });
    try {
      const answered = await this.#connection.ask<{ responses?: SearchAnswer[] } | null>({
        method: "POST",
        path: `/_msearch?max_concurrent_searches=8&filter_path=${answerFields}`,
        body: body.join(""),
        limitMs: searchLimitMs + answerLimitMs,
      });
      const responses = answered?.responses ?? [];
      if (responses.length !== questions.length)
        throw new OpenSearchError(0, "OpenSearch did not answer every search.");
      for (const answer of responses) assertWhole(answer);
      return responses;
    } catch (error) {
      // 400: the question is wrong, which is a fault of this service.
      if (!(error instanceof OpenSearchError) || error.status === 400) throw error;
      // 404: the index was deleted after the snapshot was opened, or by somebody else.
      throw new Failure("unavailable", { retry_after: error.status === 404 ? 30 : 5 }, error);
    }
  }
}

/** Only these documents of a segment. */
export function documentsOf(segment: OpenSegment, ordinals: BitSet): Body {
  return {
    bool: {
      filter: [homesOf([segment]), { terms: { ordinal: [bitmapOf(ordinals)], value_type: "bitmap" } }],
    },
  };
}

/** Only documents of these segments. Each has an index of its own, so that this costs nothing per document. */
function homesOf(segments: readonly OpenSegment[]): Body {
  return { terms: { _index: segments.map(({ home }) => home) } };
}

interface SearchAnswer {
  readonly status: number;
  readonly error?: Reason & { readonly root_cause?: readonly Reason[] };
  readonly timed_out?: boolean;
  readonly _shards?: { readonly total: number; readonly successful: number };
  readonly hits?: {
    readonly total?: { readonly value: number };
    readonly hits?: readonly { readonly sort: readonly number[] }[];
  };
  readonly aggregations?: {
    readonly terms: { readonly buckets: readonly { readonly key: string; readonly doc_count: number }[] };
  };
}

interface Reason {
  readonly type: string;
  readonly reason: string;
}

/** An empty list is left out of the answer. */
function hitsOf(answer: SearchAnswer | undefined) {
  return answer?.hits?.hits ?? [];
}

/** What is read of an answer. */
const answerFields = [
  "status",
  "error.type",
  "error.reason",
  "error.root_cause.type",
  "error.root_cause.reason",
  "timed_out",
  "_shards.total",
  "_shards.successful",
  "hits.total.value",
  "hits.hits.sort",
  "aggregations",
]
  .map((field) => `responses.${field}`)
  .join(",");

function assertWhole({ status, error, timed_out, _shards }: SearchAnswer): void {
  if (error !== undefined) {
    const { type, reason } = error.root_cause?.[0] ?? error;
    throw new OpenSearchError(status, `OpenSearch answered ${status}: ${type}, ${reason}`);
  }
  if (timed_out) throw new OpenSearchError(0, "OpenSearch did not search in time.");
  // A shard that no node has counts neither as successful nor as failed.
  if (_shards === undefined || _shards.successful < _shards.total)
    throw new OpenSearchError(0, "A shard of OpenSearch failed, or no node has it (GET /_cluster/health).");
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
  // OpenSearch's 32 bits are exact to a thousandth here.
  const score = isScored ? Math.round(1_000 * ((sort[0] as number) - raised)) / 1_000 : 0;
  return { segment, ordinal, dataset, score };
}

/**
 * Raises documents that rank before those of another data set at equal scores. It is far smaller than the differences
 * between scores that matter.
 */
const firstScore = 0.001;
const matchingAtOnce = 20_000;
const countBytes = 8 << 20;
/** How long OpenSearch may search; then the call is free. */
const searchLimitMs = 5_000;
const answerLimitMs = 1_000;
