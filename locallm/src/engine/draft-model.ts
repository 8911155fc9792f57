import { LocallmError } from "../wire/errors.ts";
import { mostFurtherTokens } from "../wire/inference/load.ts";
import type { Context } from "./context.ts";
import type { Functions } from "./libllama/functions.ts";
import { readLogits } from "./logprobs.ts";
import { commonLength } from "./prefix.ts";
import { Shortlist } from "./shortlist.ts";

/** An answer whose next tokens are to be guessed, and how many at most. */
export interface DraftWish {
  /** The cells that its slot holds, and those that the next step computes. */
  readonly slot: {
    readonly index: number;
    readonly cached: readonly number[];
    readonly pending: readonly number[];
  };
  readonly most: number;
}

export interface DraftModelRequest {
  readonly library: Pick<Functions, "llama_get_logits_ith">;
  readonly context: Context;
  readonly vocabSize: number;
  readonly slots: number;
  readonly threads: number;
  /** A guess ends before a token that is less likely than this among the likeliest. */
  readonly leastLikely: number;
  /** Whether a token ends an answer. */
  readonly isEnd: (token: number) => boolean;
}

/** So many of the likeliest tokens are compared. */
const compared = 10;
/** What it held has to be computed again, so it does not try again at once. */
const stepsWhenFull = 256;
/** Steps of fewer rows are computed on this thread. */
const longStep = 16;

/**
 * A smaller model with the same tokens, which writes ahead what the larger one probably will. It has a sequence for each
 * slot and follows what the slot holds; what was guessed wrong is cut off when it guesses again.
 */
export class DraftModel {
  readonly #request: DraftModelRequest;
  /** The tokens that each sequence holds. */
  readonly #held: number[][];
  readonly #shortlist: Shortlist;
  /** For how many further steps it does not guess, because its cache was full. */
  #rest = 0;

  constructor(request: DraftModelRequest) {
    this.#request = request;
    this.#held = Array.from({ length: request.slots }, () => []);
    this.#shortlist = new Shortlist(request.vocabSize);
  }

  /** A number that grows while a step makes progress. */
  get progress(): number {
    return this.#request.context.progress;
  }

  /** Ends a step that runs on another thread. */
  abort(): void {
    this.#request.context.abort();
  }

  /** Guesses what follows in each answer. A guess is empty if nothing is likely enough, or if there is no room for it. */
  async guess(wishes: readonly DraftWish[]): Promise<(readonly number[])[]> {
    const { context, threads, isEnd } = this.#request;
    if (this.#rest > 0) {
      this.#rest--;
      return wishes.map(() => []);
    }
    context.useThreads(threads);
    const guesses = wishes.map(({ slot: { index }, most }) => ({ index, most, tokens: [] as number[] }));
    let rows = wishes.flatMap(({ slot }) => this.#lacking(slot));
    while (rows.length > 0) {
      const likeliest = await this.#compute(rows);
      if (likeliest === null) return wishes.map(() => []);
      rows = guesses.flatMap(({ index, most, tokens }) => {
        const token = likeliest.get(index);
        if (token === undefined || isEnd(token)) return [];
        tokens.push(token);
        return tokens.length < most ? [{ index, token, isLast: true }] : [];
      });
    }
    return guesses.map(({ tokens }) => tokens);
  }

  /** What a sequence lacks of what its slot holds and computes next. Empty if it cannot hold all of that. */
  #lacking({ index, cached, pending }: DraftWish["slot"]): Row[] {
    const { context, vocabSize } = this.#request;
    const held = this.#held[index]!;
    const length = cached.length + pending.length;
    const tokenAt = (at: number) => (at < cached.length ? cached[at]! : pending[at - cached.length]!);
    let common = commonLength(held, cached);
    // The last token is computed in any case, for what follows it.
    while (common < length - 1 && common < held.length && held[common] === tokenAt(common)) common++;
    common = Math.min(common, length - 1);
    // A conversation can be long, so only what is new is copied.
    const lacking = Array.from({ length: length - common }, (_, at) => tokenAt(common + at));
    // Cells of a picture, or tokens that only the larger model has.
    const isForeign = lacking.some((token) => token < 0 || token >= vocabSize);
    if (isForeign || length > context.contextPerSequence) return [];
    this.#cut(index, common);
    return lacking.map((token, at) => ({ index, token, isLast: at === lacking.length - 1 }));
  }

  /** Computes rows. Returns the likeliest next token of each sequence, if it is likely enough. Null if that failed. */
  async #compute(rows: readonly Row[]): Promise<Map<number, number> | null> {
    const { context } = this.#request;
    const { batch, capacity, contextPerSequence } = context;
    const likeliest = new Map<number, number>();
    for (let from = 0; from < rows.length; from += capacity) {
      batch.clear();
      const outputs: { index: number; row: number }[] = [];
      for (const { index, token, isLast } of rows.slice(from, from + capacity)) {
        const held = this.#held[index]!;
        if (held.length >= contextPerSequence) continue;
        const row = batch.add(token, held.length, index, isLast);
        held.push(token);
        if (isLast) outputs.push({ index, row });
      }
      if (batch.rows === 0) continue;
      const outcome = await (batch.rows < longStep ? context.step() : context.stepAside());
      if (outcome !== "done") {
        for (const index of this.#held.keys()) this.#cut(index, 0);
        this.#rest = stepsWhenFull;
        return null;
      }
      for (const { index, row } of outputs) {
        const token = this.#likeliest(row);
        if (token !== null) likeliest.set(index, token);
      }
    }
    return likeliest;
  }

  /** The likeliest token after a row. Null if it is not likely enough. */
  #likeliest(row: number): number | null {
    const { library, context, vocabSize, leastLikely } = this.#request;
    const all = readLogits(library, context.pointer, context.batch.outputOf(row), vocabSize);
    const isFound = this.#shortlist.find(all, compared);
    const scores = isFound ? this.#shortlist.scores.subarray(0, compared) : all;
    let best = 0;
    for (let at = 1; at < scores.length; at++) if (scores[at]! > scores[best]!) best = at;
    let sum = 0;
    for (const score of scores) sum += Math.exp(score - scores[best]!);
    if (1 / sum < leastLikely) return null;
    return isFound ? this.#shortlist.tokens[best]! : best;
  }

  #cut(index: number, tokens: number): void {
    const held = this.#held[index]!;
    if (held.length === tokens) return;
    held.length = this.#request.context.truncate(index, tokens) ? tokens : 0;
  }
}

interface Row {
  readonly index: number;
  readonly token: number;
  /** Whether what follows is asked for. */
  readonly isLast: boolean;
}

/** Throws `model_load_failed` if the draft model has other tokens than the model, or cannot take tokens back. */
export function checkDraft(
  model: { readonly tokenText: (token: number) => string; readonly size: number },
  draft: { readonly tokenText: (token: number) => string; readonly size: number },
  canCut: boolean,
): void {
  const fail = (problem: string): never => {
    throw new LocallmError("model_load_failed", { reason: `it ${problem}` });
  };
  if (!canCut) fail("cannot take tokens back, because it has a recurrent state or a sliding window");
  if (Math.abs(model.size - draft.size) > mostFurtherTokens)
    fail(`has ${draft.size} tokens, but the model has ${model.size}`);
  for (let token = firstCompared; token < Math.min(model.size, draft.size); token++) {
    const [ours, its] = [model.tokenText(token), draft.tokenText(token)];
    if (ours !== its)
      fail(`has other tokens: ${token} is ${JSON.stringify(its)}, but in the model ${JSON.stringify(ours)}`);
  }
}

/** Vocabularies of one family may begin with other names of control tokens. */
const firstCompared = 5;
