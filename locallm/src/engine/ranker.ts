import { LocallmError } from "../wire/errors.ts";
import { countedChars, type PiecedText } from "../wire/inference/generate.ts";
import type { RankJob, Ranks } from "../wire/inference/rank.ts";
import type { Pooler } from "./pooler.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface RankerRequest {
  readonly vocabulary: Vocabulary;
  readonly pooler: Pooler;
  /** The file's own text around `{query}` and `{document}`. Null means tokens that separate the two. */
  readonly template: string | null;
  readonly areProbabilities: boolean;
}

const plain = { addSpecial: false, parseSpecial: false };
const templated = { addSpecial: false, parseSpecial: true };
/** A document that was cut and is tokenized again with its template may get a few tokens more. */
const spareTokens = 8;

/** Scores how well documents answer a query. The query is joined with each document as llama-server does. */
export class Ranker {
  readonly #request: RankerRequest;
  readonly #cutMarkers: (text: string) => string[];

  constructor(request: RankerRequest) {
    this.#request = request;
    this.#cutMarkers = markerCutter(request.vocabulary.markers);
  }

  /** After an abort, rejects with the signal's reason within one batch. */
  async rank(job: RankJob, signal: AbortSignal): Promise<Ranks> {
    const { pooler, areProbabilities } = this.#request;
    const window = Math.min(job.numCtx ?? pooler.capacity, pooler.capacity);
    const join = await this.#joiner(job.query, window, signal);
    const pairs: (readonly number[])[] = [];
    for (const [index, text] of job.documents.entries()) {
      const document = await this.#tokens(text, job.documentTokens ?? window, signal);
      const most = job.documentTokens ?? Number.POSITIVE_INFINITY;
      pairs.push(await this.#fitting({ join, document, most, window, index, truncate: job.truncate }));
    }
    const rows = await pooler.pool(pairs, signal);
    return {
      scores: rows.map((row) => row[0]!),
      areProbabilities,
      tokens: pairs.map((pair) => pair.length),
    };
  }

  async #fitting({ join, document, most, window, index, truncate }: Fitting): Promise<readonly number[]> {
    let kept = Math.min(document.ids.length, most);
    for (;;) {
      const pair = await join(document, kept);
      if (pair.length <= window) return pair;
      if (!truncate) {
        const inputTokens = document.isWhole ? pair.length : `over ${window}`;
        throw new LocallmError("input_too_long", { index, inputTokens, contextLength: window });
      }
      if (kept === 0) throw new LocallmError("input_cut_away", { index, contextLength: window });
      kept = Math.max(0, kept - Math.max(pair.length - window, 1));
    }
  }

  /** Returns what joins the query with the first tokens of a document. */
  async #joiner(query: string, window: number, signal: AbortSignal): Promise<Join> {
    const { vocabulary, template } = this.#request;
    if (template !== null) {
      return async (document, kept) => {
        const isCut = !document.isWhole || kept < document.ids.length;
        const text = isCut ? this.#beginning(document, kept) : document.text;
        return await vocabulary.tokenizeAside(this.#filled(template, query, text), templated, signal);
      };
    }
    const { ids } = await this.#tokens(query, window, signal);
    const { start, end, between } = vocabulary.pairMarks;
    const before = [...start, ...ids, ...end, ...between];
    return async (document, kept) => [...before, ...document.ids.slice(0, kept), ...end];
  }

  async #tokens(text: string, limit: number, signal: AbortSignal): Promise<Document> {
    const { vocabulary } = this.#request;
    const isWhole = text.length <= countedChars;
    const limited = isWhole ? {} : { limit: limit + spareTokens };
    return { text, ids: await vocabulary.tokenizeAside(text, { ...plain, ...limited }, signal), isWhole };
  }

  /** The text of a document's first tokens, without a character that was cut. */
  #beginning({ ids }: Document, kept: number): string {
    return this.#request.vocabulary.detokenize(ids.slice(0, kept)).replace(/\uFFFD+$/, "");
  }

  /** The template with both texts. Names of control tokens in these texts stay text. */
  #filled(template: string, query: string, document: string): PiecedText {
    const pieces: string[] = [];
    for (const part of template.split(/(\{query\}|\{document\})/)) {
      if (part === "{query}") pieces.push(...this.#cutMarkers(query));
      else if (part === "{document}") pieces.push(...this.#cutMarkers(document));
      else pieces.push(part);
    }
    return { pieces };
  }
}

interface Document {
  readonly text: string;
  readonly ids: readonly number[];
  /** False for a text so long that only its beginning was tokenized. */
  readonly isWhole: boolean;
}

type Join = (document: Document, kept: number) => Promise<readonly number[]>;

interface Fitting {
  readonly join: Join;
  readonly document: Document;
  readonly most: number;
  readonly window: number;
  readonly index: number;
  readonly truncate: boolean;
}

/** Returns a function that cuts a text inside each marker that it contains. */
function markerCutter(markers: readonly string[]): (text: string) => string[] {
  const longestFirst = markers.filter((each) => each.length > 1).sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (text) => [text];
  const pattern = new RegExp(longestFirst.map((each) => RegExp.escape(each)).join("|"), "g");
  return (text) => {
    const pieces: string[] = [];
    let from = 0;
    pattern.lastIndex = 0;
    for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
      // Markers may overlap, so the search goes on behind the first character.
      const cut = found.index + 1;
      pieces.push(text.slice(from, cut));
      from = cut;
      pattern.lastIndex = cut;
    }
    return [...pieces, text.slice(from)];
  };
}
