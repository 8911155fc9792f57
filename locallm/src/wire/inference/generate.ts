import { type EncodedPicture, isPicture } from "./picture.ts";

export interface Sampling {
  /** 0 means that the most likely token is always chosen. */
  readonly temperature: number;
  /** 0 turns the option off. */
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly typicalP: number;
  /** How many tokens top_p, min_p, typical_p and XTC leave at least. */
  readonly minKeep: number;
  /** Drops, with this probability, all tokens of at least this likelihood but the least likely of them. */
  readonly xtc: { readonly probability: number; readonly threshold: number };
  /** Lowers the logits of tokens that would continue a repetition of text. A multiplier of 0 turns it off. */
  readonly dry: {
    readonly multiplier: number;
    readonly base: number;
    /** Repetitions up to this many tokens cost nothing. */
    readonly allowedLength: number;
    /** How many tokens are searched for repetitions. -1 means the whole window. */
    readonly lastN: number;
    /** Texts that no repetition crosses. */
    readonly breakers: readonly string[];
  };
  /** 0 turns the option off. -1 means the whole window. */
  readonly repeatLastN: number;
  readonly repeatPenalty: number;
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  readonly mirostat: 0 | 1 | 2;
  readonly mirostatTau: number;
  readonly mirostatEta: number;
  readonly logitBias: readonly { readonly token: number; readonly bias: number }[];
  /** Null means a random seed for each request. */
  readonly seed: number | null;
}

export const defaultSampling: Sampling = {
  temperature: 0.8,
  topK: 40,
  topP: 0.9,
  minP: 0,
  typicalP: 1,
  minKeep: 0,
  xtc: { probability: 0, threshold: 0.1 },
  dry: { multiplier: 0, base: 1.75, allowedLength: 2, lastN: -1, breakers: ["\n", ":", '"', "*"] },
  repeatLastN: 64,
  repeatPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  mirostat: 0,
  mirostatTau: 5,
  mirostatEta: 0.1,
  logitBias: [],
  seed: null,
};

/**
 * A GBNF grammar. With `lazy`, it applies from the first trigger on; the text before the trigger is
 * unconstrained.
 */
export interface Grammar {
  readonly gbnf: string;
  readonly root?: string;
  readonly lazy?: {
    /** Triggers that may occur anywhere in the text. The grammar starts with the trigger word itself. */
    readonly words?: readonly string[];
    /**
     * A trigger that counts only at the start of the answer, ignoring white space before and inside it. The
     * grammar starts with it.
     */
    readonly start?: string;
  };
}

/** One text in pieces. Control tokens are not recognised across a boundary of pieces. */
export interface PiecedText {
  readonly pieces: readonly string[];
}

/** Text in which control tokens are recognised. */
export type PromptText = string | PiecedText;

/** If a text is longer than this, its tokens are counted only up to the window. */
export const countedChars = 262_144;

/** Whether a text of this many characters cannot fit the window even with the longest tokens. */
export function surelyTooLong(chars: number, window: number, longestToken: number | null): boolean {
  return longestToken !== null && chars > countedChars && chars > window * longestToken;
}

/** Total characters of a prompt's texts. */
export function promptChars(prompt: Prompt): number {
  if (typeof prompt === "string") return prompt.length;
  if ("pieces" in prompt) return prompt.pieces.reduce((sum, { length }) => sum + length, 0);
  let chars = 0;
  for (const part of prompt) {
    if (typeof part === "number") return 0;
    if (!isPicture(part)) chars += promptChars(part);
  }
  return chars;
}

/** Numbers are token ids, used as is. */
export type Prompt = PromptText | readonly number[] | readonly PromptPart[];

export type PromptPart = PromptText | readonly number[] | EncodedPicture;

/** An adapter by its place among the model's, from 0. */
export interface AdapterScale {
  readonly id: number;
  readonly scale: number;
}

export interface GenerateJob {
  readonly prompt: Prompt;
  /** The request's own limit for prompt and answer together; at most the window. */
  readonly numCtx: number;
  readonly sampling: Sampling;
  readonly stop: readonly string[];
  /** -1 generates until the model stops or the window is full. 0 only evaluates the prompt. */
  readonly numPredict: number;
  /** The number of tokens at the start that truncation and shifting keep. -1 keeps the whole prompt. */
  readonly numKeep: number;
  /** If the prompt exceeds the window, cuts its middle and reports it (true), or rejects the prompt. */
  readonly truncate: boolean;
  /**
   * The estimated number of tokens of the prompt's middle, if it was removed before the prompt was tokenized.
   */
  readonly skippedTokens?: number;
  /**
   * If the window is full, drops the older half of the tokens that may be dropped and continues (true), or
   * stops with "length".
   */
  readonly shift: boolean;
  /**
   * Makes the output bit-identical regardless of other jobs. The whole prompt is computed, in steps that are
   * not shared with other jobs.
   */
  readonly deterministic: boolean;
  /**
   * How strongly each of the model's adapters applies, instead of as its Modelfile says; those not listed are off. Such a
   * job computes its whole prompt, in steps of its own.
   */
  readonly lora?: readonly AdapterScale[];
  readonly grammar: Grammar | null;
  /** Whether the done event includes the token ids of prompt and answer. */
  readonly wantContext: boolean;
  /** Whether control tokens appear in the text; by default they are omitted. */
  readonly renderSpecial?: boolean;
  /**
   * Requests the log probability of each token and of the `top` most likely tokens. If it is missing, none
   * are computed.
   */
  readonly logprobs?: { readonly top: number };
}

export type GenerateEvent =
  | ({ readonly kind: "text"; readonly text: string; readonly tokens: number } & TextDetails)
  | GenerateDone;

export interface TextDetails {
  /** Set only with the first text. */
  readonly prompt?: PromptCounts;
  /** The log probabilities of the tokens that begin in the text. Set only if the job asks for them. */
  readonly logprobs?: readonly SampledLogprob[];
  /** How many lines of the client's stream have told the text already. Set only while the stream is lent. */
  readonly toldIn?: number;
}

/**
 * A token in the form that all APIs return. `bytes` are the token's own bytes, which may be a part of a code
 * point.
 */
export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
}

export interface SampledLogprob extends TokenLogprob {
  /** The most likely tokens at this position, as many as the job asks for. */
  readonly top_logprobs: readonly TokenLogprob[];
}

/** The counts that are known once the prompt is computed. */
export interface PromptCounts {
  readonly promptTokens: number;
  /** How many of the prompt's tokens came from the cache. */
  readonly cachedTokens: number;
  /** Prompt tokens dropped to fit the window. */
  readonly truncatedTokens: number;
}

export interface GenerateDone extends PromptCounts {
  readonly kind: "done";
  readonly reason: "stop" | "length";
  /** The stop string that matched. Null if the model or the length ended the answer. */
  readonly stopString: string | null;
  readonly promptNs: number;
  readonly evalTokens: number;
  readonly evalNs: number;
  /** Tokens dropped by shifts during generation. */
  readonly shiftedTokens: number;
  /** How many tokens were guessed and computed ahead, and how many of them the answer took. Missing if none were. */
  readonly drafts?: { readonly tokens: number; readonly accepted: number };
  readonly context: readonly number[] | null;
}
