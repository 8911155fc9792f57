import type { Answer } from "./answer.ts";

/** The state of a cache's first tokens. */
export interface Checkpoint {
  readonly tokens: number;
  readonly bytes: Uint8Array;
}

const mostCheckpoints = 3;

/** A sequence of the context, with the tokens in its cache and the job that it answers. */
export class Slot {
  readonly index: number;
  /** The tokens in the cache. They stay after the job, for later prompts with the same beginning. */
  readonly cached: number[] = [];
  /** The job's tokens that are not computed yet: the rest of its prompt, or the last token of its answer. */
  #pending: readonly number[] = [];
  #id = -1;
  #answer: Answer | null = null;
  #isGenerating = false;
  /** True until a token of the job's prompt is computed. */
  isFresh = false;
  /** True if the client left while another thread was computing the slot's rows. */
  isCancelled = false;
  /** True while the client reads slowly. The slot stays occupied and computes nothing. */
  isPaused = false;
  /**
   * How many tokens belong to the last job's prompt. If the prompt was not computed completely, this is more
   * than the number of cached tokens.
   */
  promptTokens = 0;
  /** True if the slot's conversation replaced another one and is not saved yet. */
  isSwitched = false;
  /**
   * Tokens were removed from the middle of the cache, so its state differs from what the remaining tokens would give.
   */
  isShifted = false;
  /** Earlier states, for kinds of memory that cannot be truncated. */
  checkpoints: readonly Checkpoint[] = [];
  /** How many tokens the cache held when the last answer ended by itself. 0 if it did not. */
  answerEnd = 0;
  /** The number of the kept state that was restored into this slot, or -1. */
  restoredFrom = -1;
  /** Increasing numbers that record when the job arrived and when its rows were last computed. */
  arrived = 0;
  served = 0;

  constructor(index: number) {
    this.index = index;
  }

  get id(): number {
    return this.#id;
  }

  get isFree(): boolean {
    return this.#answer === null;
  }

  get answer(): Answer {
    if (this.#answer === null) throw new Error(`slot ${this.index} has no job`);
    return this.#answer;
  }

  get pending(): readonly number[] {
    return this.#pending;
  }

  /** True when the prompt is computed, so that each step produces a token of the answer. */
  get isGenerating(): boolean {
    return this.#isGenerating;
  }

  /** True if no other slot may share this slot's steps. */
  get isAlone(): boolean {
    return this.answer.job.deterministic;
  }

  begin(id: number, answer: Answer, arrived: number): void {
    this.#id = id;
    this.#answer = answer;
    this.#isGenerating = false;
    this.isFresh = true;
    this.isCancelled = false;
    this.isPaused = false;
    this.answerEnd = 0;
    this.arrived = arrived;
  }

  /** Records that the cache holds these tokens, which were restored from a kept state. */
  holds(tokens: Int32Array, promptTokens: number): void {
    this.cached.length = tokens.length;
    for (let index = 0; index < tokens.length; index++) this.cached[index] = tokens[index]!;
    this.promptTokens = promptTokens;
    this.isShifted = false;
  }

  /** Records that the cache is empty. */
  empty(): void {
    this.cached.length = 0;
    this.checkpoints = [];
    this.promptTokens = 0;
    this.isShifted = false;
    this.answerEnd = 0;
    this.restoredFrom = -1;
  }

  /** Records that the cache holds the prompt's first `cachedTokens` tokens. The other tokens are pending. */
  resume(cachedTokens: number): void {
    if (cachedTokens === 0) this.empty();
    if (cachedTokens < this.promptTokens - 1) this.restoredFrom = -1;
    this.cached.length = cachedTokens;
    this.checkpoints = this.checkpoints.filter(({ tokens }) => tokens <= cachedTokens);
    this.promptTokens = this.answer.prompt.length;
    this.#pending = this.answer.prompt.slice(cachedTokens);
    this.answer.begin(cachedTokens);
  }

  /** Records that a step computed the first `count` pending tokens. */
  commit(count: number): void {
    for (let index = 0; index < count; index++) this.cached.push(this.#pending[index]!);
    this.#pending = this.#pending.slice(count);
    this.isFresh = false;
    if (this.#pending.length === 0) this.#isGenerating = true;
  }

  /** Stores the cache's current state as a checkpoint, or nothing for null. */
  remember(bytes: Uint8Array | null): void {
    if (bytes === null) return;
    this.checkpoints = [...this.checkpoints, { tokens: this.cached.length, bytes }].slice(-mostCheckpoints);
  }

  /** Adds the answer's next token, which the next step computes. */
  push(token: number): void {
    this.#pending = [token];
  }

  /**
   * Records that a step was aborted. The cache holds only the first `kept` tokens, and the others are pending
   * again.
   */
  rollBack(kept: number): void {
    this.#pending = [...this.cached.splice(kept), ...this.#pending];
    if (kept === 0) this.checkpoints = [];
  }

  /** Records that the cache also holds tokens that the next prompt is expected to have. */
  expects(tokens: readonly number[]): void {
    this.cached.push(...tokens);
  }

  release(): void {
    this.#answer?.free();
    this.#answer = null;
    this.#id = -1;
    this.#pending = [];
  }
}
