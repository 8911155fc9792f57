import type { Answer } from "./answer.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { Pictures } from "./pictures.ts";
import { commonLength } from "./prefix.ts";
import type { Room } from "./room.ts";

/** A sequence of the context, with the cells in its cache and the job that it answers. */
export class Slot {
  readonly index: number;
  /** The cells in the cache; see `Pictures`. They stay after the job, for later prompts with the same beginning. */
  readonly cached: number[] = [];
  readonly #pictures: Pictures;
  /** How much less the next position is than the number of cached cells, because of pictures with a grid. */
  #saved = 0;
  /** The job's cells that are not computed yet: the rest of its prompt, or the last token of its answer. */
  #pending: readonly number[] = [];
  /** The numbers of cached tokens at which a step of the prompt ends. */
  #stops: readonly number[] = [];
  #id = -1;
  #answer: Answer | null = null;
  #isGenerating = false;
  /** True until a token of the job's prompt is computed. */
  isFresh = false;
  /** True if the client left while another thread was computing the slot's rows. */
  isCancelled = false;
  /** True while the client reads slowly. The slot stays occupied and computes nothing. */
  isPaused = false;
  /** True while the slot's cells are needed for others. It then has none, and computes nothing; see `Parking`. */
  isParked = false;
  /** True while the slot waits for another one that cannot go on yet either. */
  isHeld = false;
  /**
   * How many tokens belong to the last job's prompt. If the prompt was not computed completely, this is more
   * than the number of cached tokens.
   */
  promptTokens = 0;
  /** True if the slot's conversation replaced another one and is not saved yet. */
  isSwitched = false;
  /**
   * How many of the first cells were computed after nothing but those before them. Where cells were removed from the
   * middle, those that follow were computed after them, too, and so tell of them.
   */
  exact = Number.POSITIVE_INFINITY;
  /** The cache was computed with adapters that a request chose, so no other request may use it. */
  isTuned = false;
  /** For kinds of memory that cannot be cut anywhere. */
  readonly checkpoints: Checkpoints;
  /** How many tokens the cache held when an answer ended that a next turn may follow. 0 if there is none. */
  #answerEnd = 0;
  /** The last token of such an answer if it reached its limit. The cache lacks it, because no step computed it. */
  #uncomputed: readonly number[] = [];
  /** The number of the kept state that was restored into this slot, or -1. */
  restoredFrom = -1;
  /** Increasing numbers that record when the job arrived and when its rows were last computed. */
  arrived = 0;
  served = 0;

  /** The cache that all slots share. Null if each has one of its own. */
  readonly #room: Room | null;
  /** Tokens of the answer that are computed again one by one. */
  #replayed: readonly number[] = [];

  constructor(index: number, mostCheckpoints: number, pictures: Pictures, room: Room | null = null) {
    this.index = index;
    this.#room = room;
    this.#pictures = pictures;
    this.checkpoints = new Checkpoints(mostCheckpoints);
  }

  get id(): number {
    return this.#id;
  }

  /** Whether cells were removed from the middle of the cache. */
  get isShifted(): boolean {
    return this.exact !== Number.POSITIVE_INFINITY;
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
    return this.answer.job.deterministic || this.answer.job.lora !== undefined;
  }

  /** True if the answer must not depend on what other slots hold, and all hold it in one cache. */
  get needsAll(): boolean {
    return this.#room !== null && this.#answer?.job.deterministic === true;
  }

  begin(id: number, answer: Answer, arrived: number): void {
    this.#id = id;
    this.#answer = answer;
    this.#isGenerating = false;
    this.isFresh = true;
    this.isCancelled = false;
    this.isPaused = false;
    this.isParked = false;
    this.isHeld = false;
    this.#replayed = [];
    this.#answered(0, []);
    this.arrived = arrived;
  }

  /** The position of the next cell. */
  get position(): number {
    return this.cached.length - this.#saved;
  }

  /** The position of the cell after the first `cells` cached ones, which must end at a border. */
  positionOf(cells: number): number {
    return this.#saved === 0 ? cells : this.#pictures.positionAt(this.cached, cells);
  }

  /** How many cells of the next picture the cache already holds. */
  get inPicture(): number {
    const { length } = this.cached;
    return length - this.#pictures.borderBefore(this.cached, length);
  }

  /** What the next pending cell is: a token, or of a picture that several steps may compute, or of one that must not. */
  get kind(): "token" | "picture" | "whole picture" {
    const next = this.#pending[0] ?? 0;
    if (next >= 0) return "token";
    return this.#pictures.of(next).causal ? "picture" : "whole picture";
  }

  /** Whether the next pending cell is of a picture whose rows have not come. */
  get awaitsRows(): boolean {
    const next = this.#pending[0] ?? 0;
    return next < 0 && this.answer.rowsOf(next).length === 0;
  }

  /** The same, if nobody was asked for them: the next plan has to. */
  get lacksRows(): boolean {
    return this.awaitsRows && !this.answer.hasAsked(this.#pending[0]!);
  }

  #measure(): void {
    const { cached } = this;
    this.#saved =
      this.#pictures.count === 0 ? 0 : cached.length - this.#pictures.positionAt(cached, cached.length);
  }

  /** Records that the cache holds these cells, which were restored from a kept state. */
  holds(cells: Int32Array, promptTokens: number): void {
    this.cached.length = cells.length;
    for (let index = 0; index < cells.length; index++) this.cached[index] = cells[index]!;
    this.#room?.cut(this.index, 0);
    this.#room?.grow(this.index, cells.length);
    this.#measure();
    this.promptTokens = promptTokens;
    this.exact = Number.POSITIVE_INFINITY;
  }

  /** Records that the cache is empty. */
  empty(): void {
    this.cached.length = 0;
    this.#room?.cut(this.index, 0);
    this.#saved = 0;
    this.checkpoints.cut(0);
    this.promptTokens = 0;
    this.exact = Number.POSITIVE_INFINITY;
    this.#answered(0, []);
    this.restoredFrom = -1;
  }

  /** Records that the cache holds only its first `cells` cells. */
  cutTo(cells: number): void {
    if (cells === 0) this.empty();
    if (cells <= this.exact) this.exact = Number.POSITIVE_INFINITY;
    this.cached.length = cells;
    this.#room?.cut(this.index, cells);
    this.checkpoints.cut(cells);
    this.#measure();
  }

  /** Records that the cache holds the first `cells` cells of another slot's, and no others. */
  copies(from: Slot, cells: number): void {
    const held = this.cached.length;
    for (let index = held; index < cells; index++) this.cached.push(from.cached[index]!);
    this.cached.length = cells;
    this.#room?.share(from.index, this.index, cells);
  }

  /** Records that the cache is empty, because others need its cells. */
  park(): void {
    const { prompt, job } = this.answer;
    const isExact = job.deterministic && !this.isShifted;
    this.rollBack(0);
    this.exact = Number.POSITIVE_INFINITY;
    this.restoredFrom = -1;
    if (!isExact) return;
    // The same steps as before, so that the same bits come of them.
    this.#replayed = [...this.#pending.slice(prompt.length), ...this.#replayed];
    this.#pending = [...prompt];
    this.#isGenerating = false;
  }

  /** The token of the answer that is computed again after the last one, in place of a new one. -1 if there is none. */
  replayed(): number {
    const [next = -1, ...others] = this.#replayed;
    if (next >= 0) this.#replayed = others;
    return next;
  }

  /** Records that the cache holds the first `cells` of all cells of the job again. */
  takeBack(all: readonly number[], cells: number): void {
    this.cutTo(cells);
    this.#pending = all.slice(cells);
  }

  /** Records that the cache holds the prompt's first `cachedTokens` cells. The other cells are pending. */
  resume(cachedTokens: number): void {
    const { prompt } = this.answer;
    if (commonLength(this.cached, prompt) < this.promptTokens - 1) this.restoredFrom = -1;
    this.cutTo(cachedTokens);
    this.promptTokens = prompt.length;
    this.#stops = [];
    this.#pending = prompt.slice(cachedTokens);
    this.answer.begin(cachedTokens);
  }

  /**
   * Makes a step end when the cache holds this many cells of the prompt, or fewer if that were inside a picture, so that
   * a checkpoint can be stored.
   */
  stopAt(cells: number): void {
    const { prompt } = this.answer;
    const tokens = this.#pictures.borderBefore(prompt, Math.min(cells, prompt.length));
    if (tokens > this.cached.length && !this.#stops.includes(tokens)) this.#stops = [...this.#stops, tokens];
  }

  /** How many pending cells the next step may compute: up to a stop, the next picture or the picture's end. */
  get untilStop(): number {
    const { length } = this.cached;
    const next = Math.min(...this.#stops.filter((stop) => stop > length));
    return Math.min(this.#pending.length, next - length, this.#untilOther);
  }

  /** How many pending cells there are before one of another kind. */
  get #untilOther(): number {
    if (!this.answer.hasPictures) return Number.POSITIVE_INFINITY;
    const next = this.#pending[0] ?? 0;
    if (next < 0) return this.#pictures.of(next).cells - this.inPicture;
    const picture = this.#pending.findIndex((cell) => cell < 0);
    return picture < 0 ? Number.POSITIVE_INFINITY : picture;
  }

  /** Whether the last step ended where it should stop. */
  get isAtStop(): boolean {
    return this.#stops.includes(this.cached.length);
  }

  /** Records that a step computed the first `count` pending cells, which are of one kind. */
  commit(count: number): void {
    const isPicture = this.#pending[0]! < 0;
    for (let index = 0; index < count; index++) this.cached.push(this.#pending[index]!);
    this.#room?.grow(this.index, count);
    if (isPicture) this.#measure();
    this.#pending = this.#pending.slice(count);
    this.isFresh = false;
    if (this.#pending.length > 0) return;
    this.#isGenerating = true;
    this.#stops = [];
  }

  /** Records that `count` cells were removed from the middle of the cache, after the first `keep`. */
  shift(keep: number, count: number): void {
    this.cached.splice(keep, count);
    this.#room?.remove(this.index, keep, count);
    this.#measure();
    this.checkpoints.cut(keep);
    this.exact = Math.min(this.exact, keep);
  }

  /** Adds the answer's next token, which the next step computes. */
  push(token: number): void {
    this.#pending = [token];
  }

  /** Records that the cache holds only its first `kept` cells. The others are pending again. */
  rollBack(kept: number): void {
    if (!this.#isGenerating) this.#answer?.recompute(kept);
    this.#pending = [...this.cached.splice(kept), ...this.#pending];
    this.#room?.cut(this.index, kept);
    this.#measure();
    this.checkpoints.cut(kept);
    if (this.#isGenerating && this.#pending.length > 1) {
      this.#isGenerating = false;
      this.#stops = [];
    }
  }

  /**
   * Records that the answer has ended and a next turn may follow it. `last` is the answer's last token if the cache
   * lacks it, else -1.
   */
  endAnswer(last: number): void {
    this.#answered(this.cached.length, last < 0 ? [] : [last]);
  }

  /** The tokens of a prompt that follow the last answer. Null if there are none. */
  following(prompt: readonly number[]): readonly number[] | null {
    const from = this.#answerEnd;
    const end = from + this.#uncomputed.length;
    if (from === 0 || prompt.length <= end || commonLength(this.cached, prompt) < from) return null;
    if (this.#uncomputed.some((token, index) => prompt[from + index] !== token)) return null;
    return prompt.slice(end);
  }

  /**
   * What the cache lacks of the beginning of the next turn, if `expected` follows the answer. Empty if no turn may
   * follow, or if the beginning is computed.
   */
  ahead(expected: readonly number[]): readonly number[] {
    const isNext = this.#answerEnd > 0 && this.cached.length === this.#answerEnd;
    return isNext && expected.length > 0 ? [...this.#uncomputed, ...expected] : [];
  }

  /** Records that the cache also holds tokens that the next prompt is expected to have. */
  expects(tokens: readonly number[]): void {
    this.cached.push(...tokens);
    this.#room?.grow(this.index, tokens.length);
  }

  release(): void {
    this.#answer?.free();
    this.#answer = null;
    this.#id = -1;
    this.#pending = [];
    this.isParked = false;
  }

  #answered(end: number, uncomputed: readonly number[]): void {
    this.#answerEnd = end;
    this.#uncomputed = uncomputed;
  }
}
