import { LocallmError } from "../wire/errors.ts";
import type {
  GenerateDone,
  GenerateJob,
  PromptCounts,
  SampledLogprob,
  TextDetails,
} from "../wire/inference/generate.ts";
import { picturesOf } from "../wire/inference/picture.ts";
import { AnswerLogprobs } from "./answer-logprobs.ts";
import type { Candidates } from "./candidates.ts";
import type { Context } from "./context.ts";
import type { DraftModel } from "./draft-model.ts";
import type { DryStages } from "./dry-stages.ts";
import type { Grammars } from "./grammar.ts";
import { Drafting, type Guesses } from "./guesses.ts";
import type { Functions } from "./libllama/functions.ts";
import { readLogits, tokenLogprobs } from "./logprobs.ts";
import type { Pictures } from "./pictures.ts";
import { cutPrompt } from "./prefix.ts";
import type { RowCost } from "./row-cost.ts";
import { Sampler } from "./sampler.ts";
import { AnswerText } from "./text.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface AnswerMakers {
  readonly library: Functions;
  readonly vocabulary: Vocabulary;
  readonly pictures: Pictures;
  readonly grammars: Grammars;
  readonly candidates: Candidates;
  readonly dry: DryStages;
  /** Makes what guesses an answer's next tokens. Null if nothing does. */
  readonly drafts: Drafts | null;
  /** Nanoseconds since an arbitrary fixed time. */
  readonly now: () => number;
  /** A whole number below 2³². */
  readonly randomSeed: () => number;
}

export interface Drafts {
  /** What a further row costs a step, as a share of what a step of one row costs. */
  readonly rowCost: RowCost;
  readonly guess: (prompt: readonly number[]) => Guesses;
  /** Guesses where the text does not. Null if there is none. */
  readonly model: Pick<DraftModel, "guess" | "progress" | "abort"> | null;
}

/** The result of one sampled token. */
export interface Piece extends TextDetails {
  /** The sampled token. -1 in the last piece of an answer that ended by itself or with a stop string. */
  readonly token: number;
  readonly text: string;
  readonly tokens: number;
  readonly done: GenerateDone | null;
}

/** One running job with its prompt, sampler, text and counters. It does not know its slot or the cache. */
export class Answer {
  readonly job: GenerateJob;
  /** The prompt's cells; see `Pictures`. */
  readonly prompt: readonly number[];
  /** The rows of the prompt's pictures, by the number of their cells. Empty if they have not come. */
  readonly #rows: Map<number, Float32Array>;
  /** The pictures whose rows were asked for. */
  readonly #wanted = new Set<number>();
  /** The maximum number of cells of prompt and answer together. */
  readonly window: number;
  readonly #makers: AnswerMakers;
  readonly #sampler: Sampler;
  readonly #text: AnswerText;
  readonly #logprobs: AnswerLogprobs | null;
  readonly #truncatedTokens: number;
  readonly #generated: number[] = [];
  readonly #startedNs: number;
  #cachedTokens = 0;
  #promptNs = 0;
  #evalStartNs = 0;
  #unsentTokens = 0;
  #hasSent = false;
  #shiftedTokens = 0;
  #evalTokens = 0;
  readonly #drafting: Drafting | null;

  /** `cells` is the prompt if it is already encoded. Throws `prompt_too_long`, `prompt_empty` or `invalid_token`. */
  constructor(
    makers: AnswerMakers,
    job: GenerateJob,
    contextLength: number,
    cells: readonly number[] | null = null,
  ) {
    this.#makers = makers;
    this.job = job;
    this.window = Math.min(job.numCtx, contextLength);
    const whole = cells ?? makers.vocabulary.encodePrompt(job.prompt, makers.pictures);
    if (whole.length > this.window && !job.truncate) {
      throw new LocallmError("prompt_too_long", { promptTokens: whole.length, contextLength: this.window });
    }
    if (whole.length === 0) throw new LocallmError("prompt_empty", {});
    this.prompt = whole.length > this.window ? this.#cut(whole) : whole;
    this.#rows = new Map(
      picturesOf(job.prompt).map((picture) => [makers.pictures.numberOf(picture), picture.rows]),
    );
    this.#truncatedTokens = whole.length - this.prompt.length + (job.skippedTokens ?? 0);
    const { sampling } = job;
    const seed = sampling.seed === null ? makers.randomSeed() : sampling.seed >>> 0;
    this.#text = new AnswerText(job.stop);
    this.#logprobs = job.logprobs === undefined ? null : new AnswerLogprobs();
    this.#startedNs = makers.now();
    const { drafts } = makers;
    // The bits of an output depend on how many rows its step has.
    this.#drafting =
      drafts === null || job.deterministic ? null : new Drafting(drafts.guess(this.prompt), drafts.rowCost);
    // Created last, because it holds native memory that only `free` releases.
    const gate = job.grammar === null ? null : makers.grammars.gate(job.grammar, job.renderSpecial ?? false);
    this.#sampler = new Sampler(makers, sampling, seed, this.window, gate);
    this.#sampler.seePrompt(this.prompt);
  }

  get hasPictures(): boolean {
    return this.#rows.size > 0;
  }

  /** The rows of a picture of the prompt. Empty if they have not come. */
  rowsOf(cell: number): Float32Array {
    const rows = this.#rows.get(cell);
    if (rows === undefined) throw new Error(`the prompt has no picture ${cell}`);
    return rows;
  }

  /** Whether the rows of a picture of the prompt have to be asked for. True only once. */
  wants(cell: number): boolean {
    if (this.rowsOf(cell).length > 0 || this.#wanted.has(cell)) return false;
    this.#wanted.add(cell);
    return true;
  }

  /** Whether the rows of a picture were asked for. */
  hasAsked(cell: number): boolean {
    return this.#wanted.has(cell);
  }

  /** Takes rows that were asked for. */
  supply(cell: number, rows: Float32Array): void {
    if (this.#rows.has(cell)) this.#rows.set(cell, rows);
  }

  /** Called when the job starts, with the number of prompt tokens that the slot's cache already holds. */
  begin(cachedTokens: number): void {
    this.#cachedTokens = cachedTokens;
  }

  /** Called when all but the first `kept` tokens of the prompt are computed again. */
  recompute(kept: number): void {
    this.#cachedTokens = Math.min(this.#cachedTokens, kept);
  }

  /**
   * Called when the prompt has been computed, and again if tokens were computed again after a shift. Returns the end of
   * the answer if nothing is to be generated, else null.
   */
  promptDone(): GenerateDone | null {
    if (this.#evalStartNs > 0) return null;
    const now = this.#makers.now();
    this.#promptNs = now - this.#startedNs;
    this.#evalStartNs = now;
    return this.job.numPredict === 0 ? this.finish("length") : null;
  }

  /** Takes the next token from the output at `index` of the last step. */
  take(context: Context, index: number): Piece {
    const token = this.#sampler.sample(context.pointer, context.batch.outputOf(index));
    this.#unsentTokens++;
    this.#evalTokens++;
    if (this.#makers.vocabulary.isEnd(token)) return this.#last("stop");
    this.#generated.push(token);
    this.#drafting?.add(token);
    this.#logprobs?.add(this.#logprobOf(token, context, index));
    const text = this.#text.push(this.#makers.vocabulary.piece(token, this.job.renderSpecial));
    if (this.#text.stop !== null) return this.#last("stop", text);
    const { numPredict } = this.job;
    if (numPredict >= 0 && this.#evalTokens >= numPredict) return this.#last("length", text, token);
    return this.#send(text, null, token);
  }

  /** How many tokens after the last one may be guessed now, at most `most`. */
  draftRoom(most: number): number {
    if (this.#drafting === null) return 0;
    const { numPredict } = this.job;
    // The last token of all needs no further one.
    const left = numPredict < 0 ? most : numPredict - this.#evalTokens - 1;
    return this.#drafting.room(Math.min(most, left));
  }

  /** At most `most` tokens that may follow the last one by the text. */
  draft(most: number): readonly number[] {
    const room = this.draftRoom(most);
    return room === 0 || this.#drafting === null ? none : this.#drafting.next(room);
  }

  /** Called when a step has computed a draft, before tokens are taken from its outputs. */
  judge(draft: readonly number[]): void {
    this.#drafting?.judge(draft);
  }

  /** Ends the answer because the window is full and the job does not allow shifting. */
  full(): Piece {
    return this.#last("length");
  }

  shifted(tokens: number): void {
    this.#shiftedTokens += tokens;
  }

  finish(reason: "stop" | "length"): GenerateDone {
    const stop = this.#text.stop;
    return {
      kind: "done",
      reason,
      stopString: stop,
      ...this.#promptCounts,
      promptNs: Math.round(this.#promptNs),
      evalTokens: this.#evalTokens,
      evalNs: Math.round(this.#makers.now() - this.#evalStartNs),
      shiftedTokens: this.#shiftedTokens,
      ...(this.#drafting === null || this.#drafting.counts.tokens === 0
        ? {}
        : { drafts: this.#drafting.counts }),
      context: this.job.wantContext ? [...this.prompt.filter((cell) => cell >= 0), ...this.#generated] : null,
    };
  }

  free(): void {
    this.#sampler.free();
  }

  #last(reason: "stop" | "length", text = "", token = -1): Piece {
    return this.#send(text + this.#text.end(), this.finish(reason), token);
  }

  #send(text: string, done: GenerateDone | null, token = -1): Piece {
    if (text === "" && done === null) return { token, text, tokens: 0, done };
    const tokens = this.#unsentTokens;
    this.#unsentTokens = 0;
    const piece = { token, text, tokens, done, ...this.#details(text) };
    this.#hasSent = true;
    return piece;
  }

  #details(text: string): TextDetails {
    if (this.#hasSent && this.#logprobs === null) return noDetails;
    return {
      ...(this.#hasSent ? {} : { prompt: this.#promptCounts }),
      ...(this.#logprobs === null ? {} : { logprobs: this.#logprobs.take(text) }),
    };
  }

  /** The sampler works on a copy, so the context still has the model's own scores. */
  #logprobOf(token: number, context: Context, index: number): SampledLogprob {
    const { library, vocabulary } = this.#makers;
    const logits = readLogits(library, context.pointer, index, vocabulary.size);
    const { logprobs, renderSpecial } = this.job;
    return tokenLogprobs(logits, token, logprobs?.top ?? 0, (each) => vocabulary.piece(each, renderSpecial));
  }

  get #promptCounts(): PromptCounts {
    return {
      promptTokens: this.prompt.length,
      cachedTokens: this.#cachedTokens,
      truncatedTokens: this.#truncatedTokens,
    };
  }

  /**
   * Cuts the prompt to leave room for the answer: `numPredict` tokens, but at most a quarter of the window.
   */
  #cut(whole: readonly number[]): number[] {
    const { numPredict, numKeep } = this.job;
    const quarter = Math.floor(this.window / 4);
    const answer = numPredict < 0 ? quarter : Math.min(numPredict, quarter);
    const keep = Math.max(numKeep, this.#makers.vocabulary.addBos ? 1 : 0);
    const cut = cutPrompt(whole, keep, Math.max(1, this.window - answer), this.#makers.pictures);
    if (cut !== null) return cut;
    throw new LocallmError("prompt_too_long", { promptTokens: whole.length, contextLength: this.window });
  }
}

const noDetails: TextDetails = {};
const none: readonly number[] = [];
