export interface Sampling {
  /** 0: always the likeliest token. */
  readonly temperature: number;
  /** 0: off. */
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly typicalP: number;
  /** 0: off, -1: the whole window. */
  readonly repeatLastN: number;
  readonly repeatPenalty: number;
  readonly presencePenalty: number;
  readonly frequencyPenalty: number;
  readonly mirostat: 0 | 1 | 2;
  readonly mirostatTau: number;
  readonly mirostatEta: number;
  readonly logitBias: readonly { readonly token: number; readonly bias: number }[];
  /** null: a random one for each request. */
  readonly seed: number | null;
}

export const defaultSampling: Sampling = {
  temperature: 0.8,
  topK: 40,
  topP: 0.9,
  minP: 0,
  typicalP: 1,
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

/** A GBNF grammar. With `lazy` it binds from the first trigger on; the text before it is free. */
export interface Grammar {
  readonly gbnf: string;
  readonly root?: string;
  readonly lazy?: {
    /** Anywhere in the text. The grammar begins with the word itself. */
    readonly words?: readonly string[];
    /** At the start of the answer only, whatever blanks stand before and within it; the grammar begins with it. */
    readonly start?: string;
  };
}

/** One text in pieces. No control token is read across the border of two pieces. */
export interface PiecedText {
  readonly pieces: readonly string[];
}

/** Text whose control tokens are read as such. */
export type PromptText = string | PiecedText;

/** The tokens of a longer text are counted only up to the window. */
export const countedChars = 262_144;

/** Whether a text of this many characters cannot fit a window, whatever its tokens are. */
export function surelyTooLong(chars: number, window: number, longestToken: number | null): boolean {
  return longestToken !== null && chars > countedChars && chars > window * longestToken;
}

/** Characters of all texts of a prompt. */
export function promptChars(prompt: Prompt): number {
  if (typeof prompt === "string") return prompt.length;
  if ("pieces" in prompt) return prompt.pieces.reduce((sum, { length }) => sum + length, 0);
  let chars = 0;
  for (const part of prompt) {
    if (typeof part === "number") return 0;
    chars += promptChars(part);
  }
  return chars;
}

/** Numbers are token ids, taken as they are. */
export type Prompt = PromptText | readonly number[] | readonly (PromptText | readonly number[])[];

export interface GenerateJob {
  readonly prompt: Prompt;
  /** The request's own limit for prompt and answer together; at most the window. */
  readonly numCtx: number;
  readonly sampling: Sampling;
  readonly stop: readonly string[];
  /** -1: until the model stops or the window is full. 0: only the prompt is evaluated. */
  readonly numPredict: number;
  /** Tokens at the head that a cut or a shift keeps; -1: the whole prompt. */
  readonly numKeep: number;
  /** If the prompt exceeds the window: cut its middle and report it (true), or reject it. */
  readonly truncate: boolean;
  /** If the window is full: drop the older half of what may be dropped and continue (true), or stop with "length". */
  readonly shift: boolean;
  /** Bit-equal whatever else runs: the prompt is computed anew, in steps that no other job shares. */
  readonly deterministic: boolean;
  readonly grammar: Grammar | null;
  /** Whether the done event has the token ids of prompt and answer. */
  readonly wantContext: boolean;
  /** Whether control tokens are rendered as text; by default they give none. */
  readonly renderSpecial?: boolean;
}

export type GenerateEvent =
  | {
      readonly kind: "text";
      readonly text: string;
      readonly tokens: number;
      /** Only with the first text, and only if the prompt was cut. */
      readonly truncatedTokens?: number;
    }
  | GenerateDone;

export interface GenerateDone {
  readonly kind: "done";
  readonly reason: "stop" | "length";
  /** The stop string that fired; null if the model or the length ended the answer. */
  readonly stopString: string | null;
  readonly promptTokens: number;
  /** How many of those were taken from a cache. */
  readonly cachedTokens: number;
  readonly promptNs: number;
  readonly evalTokens: number;
  readonly evalNs: number;
  /** Prompt tokens that were cut to fit the window. */
  readonly truncatedTokens: number;
  /** Tokens that shifts dropped while generating. */
  readonly shiftedTokens: number;
  readonly context: readonly number[] | null;
}
