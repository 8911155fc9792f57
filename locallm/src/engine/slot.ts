import type { Answer } from "./answer.ts";

/** The state of a cache's first tokens. */
export interface Checkpoint {
  readonly tokens: number;
  readonly bytes: Uint8Array;
}

const mostCheckpoints = 3;

/** A sequence of the context: the tokens that its cache holds, and the job that it answers. */
export class Slot {
  readonly index: number;
  /** The tokens that the cache holds. They stay after the job, for later prompts with the same beginning. */
  readonly cached: number[] = [];
  /** The job's tokens that no step has computed yet: the rest of its prompt, or the last token of its answer. */
  #pending: readonly number[] = [];
  #id = -1;
  #answer: Answer | null = null;
  #isGenerating = false;
  /** Nothing of the job's prompt has been computed yet. */
  isFresh = false;
  /** Its client left while another thread was computing its rows. */
  isCancelled = false;
  /** Its reader is slow: the slot stays occupied and computes nothing. */
  isPaused = false;
  /**
   * How many of the cached tokens belong to the last job's prompt; more than are cached if it was not computed
   * completely.
   */
  promptTokens = 0;
  /** Its conversation replaced another one and is not saved yet. */
  isSwitched = false;
  /**
   * Tokens were removed from the middle of the cache, so its state differs from what the remaining tokens would give.
   */
  isShifted = false;
  /** Earlier states, for kinds of memory that cannot be truncated. */
  checkpoints: readonly Checkpoint[] = [];
  /** The number of the kept state that this conversation was restored from; -1: none. */
  restoredFrom = -1;
  /** Numbers that grow: when the job came, and when its rows were last computed. */
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

  /** The prompt is computed: each step gives a token of the answer. */
  get isGenerating(): boolean {
    return this.#isGenerating;
  }

  /** No other slot may share its steps. */
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
    this.arrived = arrived;
  }

  /** The cache holds these tokens, restored from a kept state. */
  holds(tokens: Int32Array, promptTokens: number): void {
    this.cached.length = tokens.length;
    for (let index = 0; index < tokens.length; index++) this.cached[index] = tokens[index]!;
    this.promptTokens = promptTokens;
    this.isShifted = false;
  }

  /** The cache holds nothing. */
  empty(): void {
    this.cached.length = 0;
    this.checkpoints = [];
    this.promptTokens = 0;
    this.isShifted = false;
    this.restoredFrom = -1;
  }

  /** The cache holds the prompt's first `cachedTokens` tokens; the others are pending. */
  resume(cachedTokens: number): void {
    if (cachedTokens === 0) this.empty();
    if (cachedTokens < this.promptTokens - 1) this.restoredFrom = -1;
    this.cached.length = cachedTokens;
    this.checkpoints = this.checkpoints.filter(({ tokens }) => tokens <= cachedTokens);
    this.promptTokens = this.answer.prompt.length;
    this.#pending = this.answer.prompt.slice(cachedTokens);
    this.answer.begin(cachedTokens);
  }

  /** A step computed the first `count` pending tokens. */
  commit(count: number): void {
    for (let index = 0; index < count; index++) this.cached.push(this.#pending[index]!);
    this.#pending = this.#pending.slice(count);
    this.isFresh = false;
    if (this.#pending.length === 0) this.#isGenerating = true;
  }

  /** The cache's current state; null if it need not be remembered. */
  remember(bytes: Uint8Array | null): void {
    if (bytes === null) return;
    this.checkpoints = [...this.checkpoints, { tokens: this.cached.length, bytes }].slice(-mostCheckpoints);
  }

  /** The answer's next token, which the next step computes. */
  push(token: number): void {
    this.#pending = [token];
  }

  /** A step was aborted: the cache holds only the first `kept` tokens; the others are pending again. */
  rollBack(kept: number): void {
    this.#pending = [...this.cached.splice(kept), ...this.#pending];
    if (kept === 0) this.checkpoints = [];
  }

  release(): void {
    this.#answer?.free();
    this.#answer = null;
    this.#id = -1;
    this.#pending = [];
  }
}
