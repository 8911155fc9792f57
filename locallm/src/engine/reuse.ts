import type { Checkpoint } from "./checkpoints.ts";
import type { Context } from "./context.ts";
import { commonLength, headFrom, reusable } from "./prefix.ts";
import type { Slot } from "./slot.ts";

/** The context's functions that keep, cut and copy what sequences hold. */
export type SequenceMemory = Pick<
  Context,
  | "kind"
  | "capacity"
  | "contextPerSequence"
  | "cutsAnywhere"
  | "canCutTo"
  | "truncate"
  | "copy"
  | "finishCopy"
  | "checkpointBytes"
  | "saveCheckpoint"
  | "goBack"
  | "canCutOut"
  | "cutOut"
>;

export interface ReuseRequest {
  readonly context: SequenceMemory;
  readonly slots: readonly Slot[];
  /** How many checkpoints a slot keeps. 0 if the cache can be cut anywhere. */
  readonly checkpoints: number;
  /** How many of a prompt's first tokens any kept state contains. */
  readonly longestKept: (prompt: readonly number[]) => number;
}

/**
 * The minimum part of the window that is worth copying from another slot's cache. A large cache is copied
 * whole: copying a cell takes 5 µs and computing a token takes 3,400 µs with SmolLM2 135M. The difference
 * grows with larger models.
 */
const copiedShare = 1 / 256;
const leastCopied = 8;

/**
 * A checkpoint is stored before the last tokens of a prompt. These often differ in the next turn, because templates
 * end a prompt with the beginning of an answer.
 */
const checkpointTail = { tokens: 16, from: 32 };

/**
 * A checkpoint is also stored where another conversation differs from this one, if that saves at least this many
 * tokens. So conversations with the same system prompt share it. It is stored a few tokens earlier, because the
 * messages after it may begin with the same words.
 */
const leastFork = 64;

/**
 * Where a new conversation will differ from later ones is not known yet. If its prompt is so long, a checkpoint is
 * stored after this share of it, at the end of a step: agents begin with a long system prompt.
 */
const early = { share: 3 / 4, fromSteps: 4 };

/** What prompts reuse: of their own slot's cache, of other slots' caches, and of checkpoints. */
export class Reuse {
  readonly #request: ReuseRequest;
  readonly #context: SequenceMemory;
  readonly #slots: readonly Slot[];
  /** False if a copy has shown that this kind of memory cannot be cut. */
  #canCopy: boolean;

  constructor(request: ReuseRequest) {
    this.#request = request;
    this.#context = request.context;
    this.#slots = request.slots;
    this.#canCopy = request.slots.length > 1;
  }

  /** How many tokens of a prompt a slot can reuse from its cache. */
  reusable(slot: Slot, prompt: readonly number[]): number {
    return this.#cuttable(slot, reusable(slot.cached, prompt)).tokens;
  }

  /** How many of a prompt's first tokens another conversation has, less a few. 0 if no checkpoint is stored there. */
  fork(prompt: readonly number[]): number {
    if (this.#request.checkpoints < 2) return 0;
    const common = this.#slots.map(({ cached }) => commonLength(cached, prompt));
    return Math.max(this.#request.longestKept(prompt), ...common) - checkpointTail.tokens;
  }

  /**
   * Lets a slot's prompt begin with at most `most` tokens of its cache. `fork` is what `fork` returned before the
   * slot was changed.
   */
  begin(slot: Slot, most: number, fork: number): void {
    slot.resume(this.cut(slot, most));
    if (fork - slot.cached.length >= leastFork) slot.stopAt(fork);
    else if (slot.cached.length === 0) this.#stopEarly(slot);
    this.#stopBeforeEnd(slot);
  }

  /**
   * Copies the prompt's beginning from another slot's cache before the prompt is computed. Returns false if
   * the slot should wait, because an earlier prompt is about to compute more of it.
   */
  hasHead(slot: Slot, ahead: readonly Slot[]): boolean {
    if (!this.#canCopy || !slot.isFresh || slot.isAlone) return true;
    const context = this.#context;
    const { prompt } = slot.answer;
    const isAnywhere = context.cutsAnywhere();
    const neighbours = this.#slots
      .filter((other) => other !== slot)
      .map((other) => ({
        slot: other,
        cached: other.cached,
        // If the memory cannot be cut, the other slot has to stop where the prompts differ. One that is alone must not.
        ahead: ahead.includes(other) && (isAnywhere || !other.isAlone) ? other.answer.prompt : null,
        cuttable: (tokens: number) => this.#copyable(other, tokens).tokens,
      }));
    const least = Math.max(leastCopied, Math.ceil(context.contextPerSequence * copiedShare));
    const head = headFrom(prompt, slot.cached.length, neighbours, least);
    if (head === null) return true;
    if (!head.isAhead) this.#takeOver(slot, head.from.slot, head.tokens);
    else if (!isAnywhere) head.from.slot.stopAt(head.tokens);
    return !head.isAhead;
  }

  /** To how many of its first tokens a copy of a slot's cache can be cut, at most `most`, and from which checkpoint. */
  #copyable({ index, cached, checkpoints }: Slot, most: number): Cut {
    const context = this.#context;
    if (most === cached.length || context.canCutTo(index, most)) return { tokens: most, from: null };
    // The step that finishes a copy needs a cell.
    const from = cached.length < context.contextPerSequence ? checkpoints.upTo(most) : null;
    return { tokens: from?.tokens ?? 0, from };
  }

  /** Fills a slot's cache from another slot's, with its checkpoints. */
  #takeOver(slot: Slot, from: Slot, tokens: number): void {
    const context = this.#context;
    const cut = this.#copyable(from, tokens);
    const fork = this.fork(slot.answer.prompt);
    const isCopied =
      context.copy(from.index, slot.index) &&
      (cut.from === null || context.finishCopy(slot.index, from.cached.length));
    const kept = this.#cutTo(slot, isCopied ? cut : { tokens: 0, from: null });
    this.#canCopy = kept > 0;
    slot.isShifted ||= from.isShifted;
    for (let index = slot.cached.length; index < kept; index++) slot.cached.push(from.cached[index]!);
    const had = slot.checkpoints.upTo(kept)?.tokens ?? 0;
    for (const one of from.checkpoints.held)
      if (one.tokens > had && one.tokens <= kept) slot.checkpoints.addCopy(one);
    slot.resume(kept);
    if (fork - kept >= leastFork) slot.stopAt(fork);
    this.#stopBeforeEnd(slot);
  }

  /** Cuts a slot's cache to at most `most` of its first tokens. Returns how many remain. */
  cut(slot: Slot, most: number): number {
    return this.#cutTo(slot, this.#cuttable(slot, most));
  }

  #cutTo({ index }: Slot, { tokens, from }: Cut): number {
    const context = this.#context;
    const isThere = from === null || context.goBack(index, from.bytes);
    return context.truncate(index, isThere ? tokens : 0) && isThere ? tokens : 0;
  }

  /** Removes what an aborted step added to a slot's cache. Returns how many tokens remain. */
  undo(slot: Slot): number {
    const { length } = slot.cached;
    if (this.#context.canCutTo(slot.index, length)) return this.#cutTo(slot, { tokens: length, from: null });
    const from = slot.checkpoints.upTo(length);
    return this.#cutTo(slot, { tokens: from?.tokens ?? 0, from });
  }

  /** Removes `count` tokens after a slot's first `keep`. The tokens after them may have to be computed again. */
  cutOut(slot: Slot, keep: number, count: number): void {
    if (this.#context.canCutOut(slot.index, keep)) {
      this.#context.cutOut(slot.index, keep, keep + count);
      slot.shift(keep, count);
    } else {
      const kept = this.cut(slot, keep);
      slot.cached.splice(keep, count);
      slot.rollBack(kept);
    }
  }

  /**
   * Stores a checkpoint. A cache with a sliding window is then filled from it, because that changes the order of its
   * cells, and with it the last bits of the outputs: they should be the same when a slot goes back to the checkpoint.
   * Returns false if the slot's memory is lost.
   */
  remember(slot: Slot): boolean {
    const context = this.#context;
    const { index, cached, checkpoints } = slot;
    const bytes = context.checkpointBytes(index);
    if (bytes === 0) return true;
    const added = checkpoints.add(cached.length, bytes, (into) => context.saveCheckpoint(index, into));
    return added === null || context.kind.slidingWindow === 0 || context.goBack(index, added.bytes);
  }

  /**
   * To how many of its first tokens a slot's cache can be cut, at most `most`, and from which checkpoint. Prefers a
   * checkpoint that is only a few tokens shorter: a repeated prompt then computes the same rows as the first time,
   * from the same cells in the same order, and the answer is the same to the last bit.
   */
  #cuttable({ index, cached, checkpoints }: Slot, most: number): Cut {
    const context = this.#context;
    if (most === cached.length || context.cutsAnywhere()) return { tokens: most, from: null };
    const few = checkpointTail.tokens;
    const from = checkpoints.upTo(most);
    if (from !== null && most - from.tokens <= few) return { tokens: from.tokens, from };
    if (context.canCutTo(index, most, few)) return { tokens: most, from: null };
    return { tokens: from?.tokens ?? 0, from };
  }

  /** Makes a step end where a checkpoint of a new conversation is stored; see `early`. */
  #stopEarly(slot: Slot): void {
    const steps = slot.pending.length / this.#context.capacity;
    if (this.#request.checkpoints < 2 || slot.isAlone || steps < early.fromSteps) return;
    slot.stopAt(Math.floor(steps * early.share) * this.#context.capacity);
  }

  /** Makes a step end where a checkpoint is stored before the prompt's last tokens. */
  #stopBeforeEnd(slot: Slot): void {
    if (this.#request.checkpoints > 0 && slot.pending.length >= checkpointTail.from)
      slot.stopAt(slot.answer.prompt.length - checkpointTail.tokens);
  }
}

/** To how many tokens a slot's cache is cut, and the checkpoint that this needs. */
interface Cut {
  readonly tokens: number;
  readonly from: Checkpoint | null;
}
