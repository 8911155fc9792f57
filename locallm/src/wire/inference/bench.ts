import type { LoadRequest } from "./load.ts";

/** What is measured of a model. */
export interface BenchJob {
  readonly load: LoadRequest;
  /** Plain text. Prompts are parts of it. */
  readonly text: string;
  /** How many parts of `benchWindow` tokens the perplexity is measured on, at most. 0 measures none. */
  readonly windows: number;
}

/** llama.cpp's `llama-perplexity` takes as many. */
export const benchWindow = 512;

export type BenchStage = "loading" | "prefill" | "decode" | "streams" | "perplexity";

export interface BenchFigures {
  /** Tokens of a prompt per second. */
  readonly prefill: number;
  /** Tokens of one answer per second. */
  readonly decode: number;
  /** Tokens of four answers at once per second, all together. */
  readonly fourStreams: number;
  /** Bytes of weights, cache and buffers for four streams. */
  readonly memoryBytes: number;
  /** Null if it was not asked for. */
  readonly perplexity: Perplexity | null;
  /** The devices that have layers, in words. Empty on the processor. */
  readonly devices: readonly string[];
}

export interface Perplexity {
  /** How many tokens are as likely as the right one, on average; 1 is a model that knows the text. */
  readonly value: number;
  /** The standard error of `value`. */
  readonly error: number;
  /** How many tokens were predicted. */
  readonly tokens: number;
}
