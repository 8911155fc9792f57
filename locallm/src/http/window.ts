import { wholeText } from "../dialogue/prompt-text.ts";
import type {
  Lease,
  LoadedVocabulary,
  LoadWish,
  RunnableModel,
  Scheduler,
  WindowSizing,
} from "../scheduler/lease.ts";
import { contextLengthOf } from "../scheduler/residency.ts";
import { counted } from "../wire/counted.ts";
import { LocallmError } from "../wire/errors.ts";
import { countedChars, type Prompt, type PromptText, promptChars } from "../wire/inference/generate.ts";
import { isPicture } from "../wire/inference/picture.ts";
import { type CompleteOptions, firstWindow, type Options } from "../wire/options.ts";

/**
 * The sources of a request's window, in order of precedence: the request, the model and the server's setting.
 */
export interface WindowSource {
  readonly numCtx: number;
  readonly why: string;
  readonly isAutomatic: boolean;
}

export function windowSource(setting: number | "auto", own: Options, given: Options): WindowSource {
  if (given.num_ctx !== undefined)
    return { numCtx: given.num_ctx, why: "option num_ctx of a request", isAutomatic: false };
  if (own.num_ctx !== undefined)
    return { numCtx: own.num_ctx, why: "PARAMETER num_ctx of the model", isAutomatic: false };
  if (setting === "auto")
    return { numCtx: firstWindow, why: `${automatic}, first window`, isAutomatic: true };
  return { numCtx: setting, why: "LOCALLM_CONTEXT_LENGTH", isAutomatic: false };
}

const automatic = "LOCALLM_CONTEXT_LENGTH=auto";

/** The number of tokens reserved for an answer that the request does not limit. */
const usualAnswer = 1024;

interface WindowParts {
  readonly scheduler: Pick<Scheduler, "windowLimit">;
  readonly model: RunnableModel;
  readonly load: LoadWish;
  readonly source: WindowSource;
  readonly options: CompleteOptions;
  readonly signal: AbortSignal;
  /** Waits for the model with a different window. */
  lease(load: LoadWish): Promise<Lease>;
}

/** The space that a prompt needs in addition to its own tokens. */
export interface Growth {
  /** Tokens for the answer. */
  readonly answer: number;
  /** If true, a prompt over the limit is shortened later; if false, it is an error now. */
  readonly canShorten: boolean;
}

/** The window of one request, and its growth if it is automatic. */
export class RequestWindow {
  readonly #parts: WindowParts;
  /** The reason why the window could not grow as far as the prompt needs. */
  #limitedBy: string | null = null;
  /** The number of tokens of each prompt that was counted. */
  readonly #counted = new Map<Prompt, number>();

  constructor(parts: WindowParts) {
    this.#parts = parts;
  }

  get isAutomatic(): boolean {
    return this.#parts.source.isAutomatic;
  }

  /** Tokens to keep free for a generated answer. */
  get answerTokens(): number {
    const { num_predict } = this.#parts.options;
    return num_predict > 0 ? num_predict : usualAnswer;
  }

  /** The maximum number of tokens of a prompt in an automatic window. Memory may allow fewer. */
  get largest(): number {
    return this.#parts.model.trainContext ?? firstWindow;
  }

  /**
   * Chooses the window while the model is loaded for the request. `count` returns the prompt's number of tokens, or 0 if
   * it certainly fits the first window.
   */
  sizing(
    count: (vocabulary: LoadedVocabulary, firstWindow: number) => Promise<number>,
    growth: Growth,
  ): WindowSizing | undefined {
    if (!this.isAutomatic) return undefined;
    const { load, model } = this.#parts;
    const first = contextLengthOf(model, load);
    return async (vocabulary) => await this.#larger(await count(vocabulary, first), first, growth);
  }

  /** Like `sizing`, for prompts that need no template. */
  sizingFor(
    prompts: (vocabulary: LoadedVocabulary) => Promise<readonly Prompt[]>,
    growth: Growth,
  ): WindowSizing | undefined {
    return this.sizing(
      async (vocabulary, first) =>
        await this.#longest(vocabulary, await prompts(vocabulary), first - growth.answer),
      growth,
    );
  }

  /**
   * Returns the same lease if its window has enough tokens, otherwise a new lease for the model loaded with a
   * larger window. Throws `prompt_over_limit` if no window is large enough; the model then stays loaded.
   */
  async grow(lease: Lease, promptTokens: number, growth: Growth): Promise<Lease> {
    const wish = this.isAutomatic ? await this.#larger(promptTokens, lease.numCtx, growth) : null;
    if (wish === null) return lease;
    lease.release();
    const larger = await this.#parts.lease(wish);
    return { ...larger, waitedMs: lease.waitedMs + larger.waitedMs };
  }

  /** Like `grow`, for prompts that need no template. The longest prompt determines the window. */
  async growFor(lease: Lease, prompts: readonly Prompt[], growth: Growth): Promise<Lease> {
    if (!this.isAutomatic) return lease;
    return await this.grow(lease, await this.#longest(lease, prompts, lease.numCtx - growth.answer), growth);
  }

  /**
   * If the error says that a prompt does not fit, adds the source of the limit. Returns any other error
   * unchanged.
   */
  explained(error: unknown, lease: Lease): unknown {
    if (!(error instanceof LocallmError) || error.code !== "prompt_too_long") return error;
    const { promptTokens = "", contextLength = lease.numCtx } = error.details;
    return this.#overLimit(promptTokens, contextLength, lease);
  }

  /** The load with a window for the prompt and its answer. Null if `numCtx` is enough or cannot be exceeded. */
  async #larger(
    promptTokens: number,
    numCtx: number,
    { answer, canShorten }: Growth,
  ): Promise<LoadWish | null> {
    const wanted = promptTokens + Math.max(answer, 1);
    if (wanted <= numCtx) return null;
    const { scheduler, model, load } = this.#parts;
    const limit = await scheduler.windowLimit(model, load, wanted);
    this.#limitedBy = limit.why;
    if (promptTokens >= limit.tokens && !canShorten)
      throw this.#overLimit(
        Number.isFinite(promptTokens) ? promptTokens : `over ${limit.tokens}`,
        limit.tokens,
      );
    if (limit.tokens <= numCtx) return null;
    const prompt = Number.isFinite(promptTokens)
      ? `a prompt of ${counted(promptTokens, "token")}`
      : "a long prompt";
    const whyCtx = `${automatic}, for ${prompt} and an answer of up to ${answer}`;
    return { ...load, numCtx: limit.tokens, whyCtx };
  }

  async #longest(vocabulary: LoadedVocabulary, prompts: readonly Prompt[], room: number): Promise<number> {
    let longest = 0;
    for (const prompt of prompts) longest = Math.max(longest, await this.#tokensOf(vocabulary, prompt, room));
    return longest;
  }

  /** Returns the prompt's number of tokens, or 0 if it certainly has at most `room` tokens. */
  async #tokensOf(vocabulary: LoadedVocabulary, prompt: Prompt, room: number): Promise<number> {
    const known = this.#counted.get(prompt);
    if (known !== undefined) return known;
    const tokens = await this.#count(vocabulary, prompt, room);
    if (tokens > 0) this.#counted.set(prompt, tokens);
    return tokens;
  }

  async #count(vocabulary: LoadedVocabulary, prompt: Prompt, room: number): Promise<number> {
    if (isText(prompt)) {
      // A token has at least one byte; two more may come before and after the text.
      if (Buffer.byteLength(wholeText(prompt)) + 2 <= room) return 0;
      const options = { addSpecial: true, parseSpecial: true };
      const limit = promptChars(prompt) <= countedChars ? {} : { limit: this.largest };
      return (await vocabulary.runner.tokenize(prompt, { ...options, ...limit }, this.#parts.signal)).length;
    }
    let tokens = 0;
    for (const part of prompt) {
      if (typeof part === "number") tokens++;
      else tokens += isPicture(part) ? part.cells : await this.#tokensOf(vocabulary, part, 0);
    }
    return tokens;
  }

  #overLimit(promptTokens: number | string, contextLength: number | string, lease?: Lease): LocallmError {
    return new LocallmError("prompt_over_limit", {
      ...{ promptTokens, contextLength },
      advice: this.#advice(promptTokens, lease),
    });
  }

  /** What to do about a prompt that is too long. */
  #advice(promptTokens: number | string, lease: Lease | undefined): string {
    const { source, model } = this.#parts;
    if (this.isAutomatic)
      return `shorten it: ${this.#limitedBy ?? "the window cannot grow further"} (${automatic})`;
    const trained = model.trainContext ?? Number.POSITIVE_INFINITY;
    const isCapped = lease !== undefined && lease.numCtx < source.numCtx;
    if (isCapped || (typeof promptTokens === "number" && promptTokens >= trained))
      return `shorten it, or use another model: this one was trained with a context of ${trained}`;
    const enough =
      typeof promptTokens === "number"
        ? `, such as ${Math.min(powerOfTwo(promptTokens + this.answerTokens), trained)}`
        : "";
    return `shorten it, or use a larger context${enough}: num_ctx in the request's options, PARAMETER num_ctx in the Modelfile, or LOCALLM_CONTEXT_LENGTH on the server (the limit is from ${source.why})`;
  }
}

function powerOfTwo(atLeast: number): number {
  return 2 ** Math.ceil(Math.log2(atLeast));
}

function isText(prompt: Prompt): prompt is PromptText {
  return typeof prompt === "string" || "pieces" in prompt;
}
