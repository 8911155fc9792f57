import type { Checkpoint } from "./checkpoints.ts";
import type { Context } from "./context.ts";
import type { Pictures } from "./pictures.ts";
import { commonLength, type Head, headFrom, reusable } from "./prefix.ts";
import type { Room } from "./room.ts";
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

type Cells = readonly number[];

export interface ReuseRequest {
  readonly context: SequenceMemory;
  readonly slots: readonly Slot[];
  /** The cache that all slots share. Null if each has one of its own. */
  readonly room: Room | null;
  readonly pictures: Pictures;
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
  readonly #pictures: Pictures;
  /** False if a copy has shown that this kind of memory cannot be cut. */
  #canCopy = true;

  constructor(request: ReuseRequest) {
    this.#request = request;
    this.#context = request.context;
    this.#slots = request.slots;
    this.#pictures = request.pictures;
  }

  /** How many cells of a prompt a slot can reuse from its cache. */
  reusable(slot: Slot, prompt: Cells): number {
    if (slot.isTuned) return 0;
    return this.#cuttable(slot, Math.min(slot.exact, reusable(slot.cached, prompt))).tokens;
  }

  /** How many of a prompt's first tokens another conversation has, less a few. 0 if no checkpoint is stored there. */
  fork(prompt: Cells): number {
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
    const head = this.head(slot, ahead);
    if (head === null) return true;
    if (!head.isAhead) this.#takeOver(slot, head.from.slot, head.tokens);
    else if (!this.#context.cutsAnywhere()) head.from.slot.stopAt(head.tokens);
    return !head.isAhead;
  }

  /**
   * The slot from whose cache a prompt's beginning is copied: now, or once that slot, one of `ahead`, has computed it.
   * Null if nothing is copied.
   */
  head(slot: Slot, ahead: readonly Slot[]): Head<{ readonly slot: Slot }> | null {
    if (!this.#canCopy || !slot.isFresh || slot.isAlone) return null;
    const context = this.#context;
    const { prompt } = slot.answer;
    const isAnywhere = context.cutsAnywhere();
    const neighbours = this.#slots
      .filter((other) => other !== slot && !other.isTuned)
      .map((other) => ({
        slot: other,
        cached: other.cached,
        // If the memory cannot be cut, the other slot has to stop where the prompts differ. One that is alone must not.
        ahead: ahead.includes(other) && (isAnywhere || !other.isAlone) ? other.answer.prompt : null,
        cuttable: (tokens: number) => this.#copyable(other, Math.min(other.exact, tokens)).tokens,
      }));
    const least = Math.max(leastCopied, Math.ceil(context.contextPerSequence * copiedShare));
    const border = (tokens: number) => this.#pictures.borderBefore(prompt, tokens);
    return headFrom(prompt, slot.cached.length, neighbours, least, border);
  }

  /** To how many of its first cells a copy of a slot's cache can be cut, at most `most`, and from which checkpoint. */
  #copyable(slot: Slot, most: number): Cut {
    const { index, cached, checkpoints } = slot;
    const context = this.#context;
    const border = this.#pictures.borderBefore(cached, most);
    if (border === cached.length || context.canCutTo(index, slot.positionOf(border)))
      return this.#cutAt(slot, border);
    // The step that finishes a copy needs a cell.
    const from = cached.length < context.contextPerSequence ? checkpoints.upTo(border) : null;
    return this.#cutAt(slot, from?.tokens ?? 0, from);
  }

  #cutAt(slot: Slot, tokens: number, from: Checkpoint | null = null): Cut {
    return { tokens, position: slot.positionOf(tokens), from };
  }

  /** Fills a slot's cache from another slot's, with its checkpoints. */
  #takeOver(slot: Slot, from: Slot, tokens: number): void {
    const context = this.#context;
    const cut = this.#copyable(from, tokens);
    const fork = this.fork(slot.answer.prompt);
    const isCopied =
      context.copy(from.index, slot.index) && (cut.from === null || context.finishCopy(slot.index));
    const kept = this.#cutTo(slot, isCopied ? cut : wholeCut);
    this.#canCopy = kept > 0;
    slot.copies(from, kept);
    const had = slot.checkpoints.upTo(kept)?.tokens ?? 0;
    for (const one of from.checkpoints.held)
      if (one.tokens > had && one.tokens <= kept) slot.checkpoints.addCopy(one);
    slot.resume(kept);
    if (fork - kept >= leastFork) slot.stopAt(fork);
    this.#stopBeforeEnd(slot);
  }

  /** Cuts a slot's cache to at most `most` of its first cells. Returns how many remain. */
  cut(slot: Slot, most: number): number {
    return this.#cutTo(slot, this.#cuttable(slot, most));
  }

  #cutTo({ index }: Slot, { tokens, position, from }: Cut): number {
    const context = this.#context;
    const isThere = from === null || context.goBack(index, from.bytes);
    return context.truncate(index, isThere ? position : 0) && isThere ? tokens : 0;
  }

  /**
   * Removes what an aborted step added to a slot's cache, and a picture of which it has only a part: its cells may all
   * have the same position. Returns how many cells remain.
   */
  undo(slot: Slot): number {
    const { cached, index, checkpoints } = slot;
    const border = this.#pictures.borderBefore(cached, cached.length);
    if (this.#context.canCutTo(index, slot.positionOf(border)))
      return this.#cutTo(slot, this.#cutAt(slot, border));
    const from = checkpoints.upTo(border);
    return this.#cutTo(slot, this.#cutAt(slot, from?.tokens ?? 0, from));
  }

  /** Removes a picture of which the slot's cache has only a part, because its client has left. */
  settle(slot: Slot): void {
    if (slot.inPicture > 0) slot.cutTo(this.undo(slot));
  }

  /**
   * Removes at least `count` cells after a slot's first `keep`, or after fewer, if a picture would be cut. The cells
   * after them may have to be computed again. Returns how many were removed.
   */
  cutOut(slot: Slot, most: number, least: number): number {
    const { cached, index } = slot;
    const keep = this.#pictures.borderBefore(cached, most);
    const count = this.#pictures.borderAfter(cached, Math.min(keep + least, cached.length)) - keep;
    const [from, to] = [slot.positionOf(keep), slot.positionOf(keep + count)];
    // A shared cell cannot move for one slot alone.
    const isShared = this.#request.room?.isShared(index, keep) ?? false;
    if (!isShared && this.#context.canCutOut(index, from)) {
      this.#context.cutOut(index, from, to);
      slot.shift(keep, count);
    } else {
      const kept = this.cut(slot, keep);
      cached.splice(keep, count);
      slot.rollBack(kept);
    }
    return count;
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
   * To how many of its first cells a slot's cache can be cut, at most `most`, and from which checkpoint. Prefers a
   * checkpoint that is only a few tokens shorter: a repeated prompt then computes the same rows as the first time,
   * from the same cells in the same order, and the answer is the same to the last bit.
   */
  #cuttable(slot: Slot, most: number): Cut {
    const { index, cached, checkpoints } = slot;
    const context = this.#context;
    const border = this.#pictures.borderBefore(cached, most);
    if (border === cached.length || context.cutsAnywhere()) return this.#cutAt(slot, border);
    const few = checkpointTail.tokens;
    const from = checkpoints.upTo(border);
    if (from !== null && border - from.tokens <= few) return this.#cutAt(slot, from.tokens, from);
    if (context.canCutTo(index, slot.positionOf(border), few)) return this.#cutAt(slot, border);
    return this.#cutAt(slot, from?.tokens ?? 0, from);
  }

  /** Makes a step end where a checkpoint of a new conversation is stored; see `early`. */
  #stopEarly(slot: Slot): void {
    const steps = slot.pending.length / this.#context.capacity;
    if (this.#request.checkpoints < 2 || slot.isAlone || steps < early.fromSteps) return;
    slot.stopAt(Math.floor(steps * early.share) * this.#context.capacity);
  }

  /** Makes a step end where a checkpoint is stored before the prompt's last tokens. */
  #stopBeforeEnd(slot: Slot): void {
    if (this.#request.checkpoints === 0 || slot.pending.length < checkpointTail.from) return;
    const { prompt } = slot.answer;
    const tail = prompt.length - checkpointTail.tokens;
    // If a picture stands there, the next turn should not compute it again.
    const after = this.#pictures.borderAfter(prompt, tail);
    slot.stopAt(after < prompt.length ? after : tail);
  }
}

/** To how many cells a slot's cache is cut, the position of the next one, and the checkpoint that this needs. */
interface Cut {
  readonly tokens: number;
  readonly position: number;
  readonly from: Checkpoint | null;
}

const wholeCut: Cut = { tokens: 0, position: 0, from: null };
