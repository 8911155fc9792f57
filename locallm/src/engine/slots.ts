import { LocallmError } from "../wire/errors.ts";
import { Answer, type AnswerMakers } from "./answer.ts";
import type { Context, StepOutcome } from "./context.ts";
import type { GenerateDone, GenerateJob } from "./job.ts";
import { blocksEnd, type Cached, chunkEnd, coldEnd, headFrom, reusable } from "./prefix.ts";
import type { Threads } from "./threads.ts";

/** What a step gave one job. After `done` or `error` nothing more comes for it. */
export interface SlotEvent {
  readonly id: number;
  readonly text: string;
  readonly tokens: number;
  readonly done: GenerateDone | null;
  readonly error: LocallmError | null;
  readonly truncatedTokens?: number;
}

export interface SlotsRequest {
  readonly makers: AnswerMakers;
  readonly context: Context;
  readonly slots: number;
  readonly threads: Threads;
  /** All events of one step in one call. */
  readonly onStep: (events: readonly SlotEvent[]) => void;
  /** Resolves once the process has looked at its messages. */
  readonly breathe: () => Promise<void>;
}

/** While others are generating, a prompt's batch may keep them waiting for about so long. */
const sharedChunkNs = 100e6;
/** A prompt joins the batch of others only with at least so many tokens, or all that it has left. */
const leastPart = 32;
/** The least part of a prompt that a cache must hold to be taken over rather than the oldest one. */
const worthwhileShare = 0.1;

/**
 * Of the window, the least part that is worth copying from a neighbour's cache. Where that holds much, all of it is
 * copied: a cell takes 5 µs and a token's computation 3,400 (SmolLM2 135M), and bigger models move this further apart.
 */
const copiedShare = 1 / 256;
const leastCopied = 8;

/**
 * The slots of one context, decoded together: each step computes one token of every generating slot in one
 * batch, then one batch of the oldest unfinished prompt. Jobs beyond the slots wait in order.
 */
export class Slots {
  readonly #request: SlotsRequest;
  readonly #context: Context;
  readonly #slots: readonly Slot[];
  readonly #waiting: { readonly id: number; readonly job: GenerateJob }[] = [];
  readonly #paused = new Set<number>();
  #events: SlotEvent[] = [];
  /** The slots whose prompts are being computed on another thread. */
  #aside: readonly Slot[] = [];
  #running: Promise<void> | null = null;
  #turn = 0;
  #promptTokenNs = 4e6;
  /** Until a copy turns out to be of a kind of memory that cannot be cut. */
  #canCopy: boolean;

  constructor(request: SlotsRequest) {
    this.#request = request;
    this.#context = request.context;
    this.#slots = Array.from({ length: request.slots }, (_, index) => new Slot(index));
    this.#canCopy = request.slots > 1;
  }

  get busy(): number {
    return this.#slots.filter((slot) => slot.answer !== null).length;
  }

  submit(id: number, job: GenerateJob): void {
    this.#waiting.push({ id, job });
    this.#wake();
  }

  /** The job gives no further event. Its slot is free before the next step. */
  cancel(id: number): void {
    this.#paused.delete(id);
    this.#events = this.#events.filter((event) => event.id !== id);
    const waiting = this.#waiting.findIndex((entry) => entry.id === id);
    if (waiting >= 0) this.#waiting.splice(waiting, 1);
    const slot = this.#slots.find((candidate) => candidate.id === id);
    if (slot === undefined) return;
    if (this.#aside.includes(slot)) {
      slot.cancelled = true;
      this.#context.abort();
    } else {
      slot.release();
    }
    this.#wake();
  }

  /** The process is about to end, which it cannot while another thread computes a batch. */
  stop(): void {
    this.#context.abort();
  }

  /** Its reader is slow: the slot keeps its place and computes nothing. */
  pause(id: number): void {
    this.#paused.add(id);
  }

  resume(id: number): void {
    this.#paused.delete(id);
    this.#wake();
  }

  /** Resolves when nothing is left to compute. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  #wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      // Something may have come between the loop's last look and its end.
      if (this.#hasWork()) this.#wake();
      else this.#context.rest();
    });
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) {
      this.#admit();
      await this.#step();
      if (this.#events.length > 0) {
        this.#request.onStep(this.#events);
        this.#events = [];
      }
      await this.#request.breathe();
    }
  }

  #hasWork(): boolean {
    return (
      this.#slots.some((slot) => this.#isReady(slot)) ||
      (this.#waiting.length > 0 && this.#slots.some((slot) => slot.answer === null))
    );
  }

  #isReady(slot: Slot): boolean {
    return slot.answer !== null && !this.#paused.has(slot.id);
  }

  /** Gives free slots to waiting jobs, to each the one whose cache serves it best. */
  #admit(): void {
    while (this.#waiting.length > 0 && this.#slots.some((slot) => slot.answer === null)) {
      const { id, job } = this.#waiting.shift()!;
      try {
        const answer = new Answer(this.#request.makers, job, this.#context.contextPerSequence);
        this.#place(id, answer);
      } catch (error) {
        this.#fail(id, error);
      }
    }
  }

  #place(id: number, answer: Answer): void {
    const free = this.#slots.filter((slot) => slot.answer === null);
    // With neighbours nobody is promised a repeat: then any cached token will do.
    const alone = free.length === this.#slots.length;
    const repeatable = answer.job.deterministic || (answer.repeatable && alone);
    const shares = free.map((slot) => ({
      slot,
      tokens: answer.job.deterministic ? 0 : reusable(slot.cached, answer.prompt, repeatable),
    }));
    const best = shares.reduce((a, b) => (b.tokens > a.tokens ? b : a));
    const oldest = shares.reduce((a, b) => (b.slot.lastTurn < a.slot.lastTurn ? b : a));
    const { slot, tokens } = best.tokens >= answer.prompt.length * worthwhileShare ? best : oldest;
    const kept = this.#keep(slot, tokens);
    answer.begin(kept);
    slot.take(id, answer, repeatable, ++this.#turn);
  }

  /** Cuts a slot's cache to its first tokens; 0 when its kind of memory cannot be cut there. */
  #keep(slot: Slot, tokens: number): number {
    const kept = this.#context.truncate(slot.index, tokens) ? tokens : 0;
    slot.cached.tokens.length = kept;
    slot.cached.blocks = Math.min(slot.cached.blocks, kept);
    slot.cached.cold = Math.min(slot.cached.cold, kept);
    return kept;
  }

  async #step(): Promise<void> {
    const ready = this.#slots.filter((slot) => this.#isReady(slot));
    const generating = ready.filter((slot) => slot.generating);
    const together = generating.filter((slot) => !slot.answer!.job.deterministic);
    if (together.length > 0) this.#generate(together);
    for (const slot of generating) if (slot.answer?.job.deterministic) this.#generate([slot]);

    const prefilling = ready
      .filter((slot) => slot.answer !== null && !slot.generating)
      .sort((a, b) => a.lastTurn - b.lastTurn);
    const [first] = prefilling;
    if (first === undefined) return;
    const apart = first.answer!.job.deterministic;
    const batch = apart ? [first] : this.#withHeads(prefilling);
    await this.#prefill(batch, generating.length > 0);
  }

  /**
   * Those of these prompts, the oldest first, that are computed now: each first takes over what a neighbour's cache
   * has of it, or waits for a neighbour that is about to compute it.
   */
  #withHeads(prefilling: readonly Slot[]): Slot[] {
    return prefilling.filter((slot, index) => {
      const answer = slot.answer!;
      if (answer.job.deterministic) return false;
      if (!slot.fresh || slot.onGrid || !this.#canCopy) return true;
      const neighbours = this.#slots
        .filter((other) => other !== slot)
        .map((other) => {
          const isAhead = prefilling.indexOf(other) >= 0 && prefilling.indexOf(other) < index;
          return { slot: other, cached: other.cached, ahead: isAhead ? other.answer!.prompt : null };
        });
      const least = Math.max(leastCopied, Math.ceil(this.#context.contextPerSequence * copiedShare));
      const head = headFrom(answer.prompt, slot.cached.tokens.length, neighbours, least);
      if (head === "wait") return false;
      if (head !== null) this.#takeOver(slot, head.from.slot, head.tokens);
      return true;
    });
  }

  #takeOver(slot: Slot, from: Slot, tokens: number): void {
    const isCopied = this.#context.copy(from.index, slot.index);
    // No promise of a repeat comes with it: whoever wants one finds the neighbour's own.
    if (isCopied) Object.assign(slot.cached, { tokens: [...from.cached.tokens], blocks: 0, cold: 0 });
    const kept = this.#keep(slot, isCopied ? tokens : 0);
    this.#canCopy = kept > 0;
    slot.answer!.begin(kept);
  }

  /** One token of each of these slots. */
  #generate(slots: readonly Slot[]): void {
    const context = this.#context;
    context.clearBatch();
    const computed: { slot: Slot; index: number }[] = [];
    for (const slot of slots) {
      if (!this.#makeRoom(slot)) continue;
      const answer = slot.answer!;
      const { tokens } = slot.cached;
      computed.push({ slot, index: context.add(answer.next, tokens.length, slot.index, true) });
      tokens.push(answer.next);
    }
    if (computed.length === 0) return;
    this.#useThreads(slots[0]!);
    const failure = attempt(() => context.step());
    this.#request.threads.end(this.#request.makers.now() / 1e6);
    for (const { slot, index } of computed) {
      if (failure === null) this.#sample(slot, index);
      else this.#drop(slot, failure);
    }
  }

  /**
   * The next batch of prompts, on another thread: of the first slot as much as may be, of the others what
   * room is left. A prompt's last part gives its first token.
   */
  async #prefill(slots: readonly Slot[], shared: boolean): Promise<void> {
    const context = this.#context;
    const { now } = this.#request.makers;
    context.clearBatch();
    const limit = shared && !slots[0]!.answer!.job.deterministic ? this.#sharedChunk() : context.capacity;
    const parts = this.#fillBatch(slots, limit);
    const beginNs = now();
    this.#useThreads(slots[0]!);
    this.#aside = parts.map((part) => part.slot);
    const failure = await attemptAside(() => context.stepAside());
    this.#aside = [];
    const endNs = now();
    this.#request.threads.end(endNs / 1e6);
    if (failure === null && context.count >= 16) this.#promptTokenNs = (endNs - beginNs) / context.count;

    const aborted = parts.some(({ slot }) => slot.cancelled);
    for (const part of parts) {
      if (part.slot.cancelled) {
        this.#keep(part.slot, part.from);
        part.slot.release();
      } else if (failure === null) {
        this.#prefilled(part);
      } else if (aborted) {
        // A neighbour's reader left in the middle: this part is computed again.
        this.#keep(part.slot, part.from);
      } else {
        this.#drop(part.slot, failure);
      }
    }
  }

  #fillBatch(slots: readonly Slot[], limit: number): PromptPart[] {
    const context = this.#context;
    const parts: PromptPart[] = [];
    for (const slot of slots) {
      const { prompt } = slot.answer!;
      const from = slot.cached.tokens.length;
      const room = limit - context.count;
      if (parts.length > 0 && room < Math.min(leastPart, prompt.length - from)) break;
      if (slots.length > 1 || limit < context.capacity) slot.onGrid = false;
      const to = chunkEnd(from, prompt.length, room, slot.onGrid);
      let index = 0;
      for (let at = from; at < to; at++) {
        index = context.add(prompt[at]!, at, slot.index, at === prompt.length - 1);
      }
      slot.fresh = false;
      parts.push({ slot, from, to, index });
    }
    return parts;
  }

  #prefilled({ slot, from, to, index }: PromptPart): void {
    const answer = slot.answer!;
    const { prompt } = answer;
    for (let at = from; at < to; at++) slot.cached.tokens.push(prompt[at]!);
    if (to < prompt.length) return;
    if (slot.onGrid) {
      slot.cached.blocks = blocksEnd(prompt.length);
      slot.cached.cold = coldEnd(prompt.length);
    }
    slot.generating = true;
    const done = answer.promptDone();
    if (done !== null) this.#finish(slot, "", 0, done);
    else this.#sample(slot, index);
  }

  /** The count of threads shows in the last bits of long contexts, so a deterministic job has a fixed one. */
  #useThreads(slot: Slot): void {
    const { threads, makers } = this.#request;
    const fixed = slot.answer!.job.deterministic;
    this.#context.useThreads(fixed ? threads.most : threads.begin(makers.now() / 1e6));
  }

  #sharedChunk(): number {
    const tokens = Math.floor(sharedChunkNs / this.#promptTokenNs / 8) * 8;
    return Math.max(leastPart, Math.min(this.#context.capacity - 1, tokens));
  }

  #sample(slot: Slot, index: number): void {
    try {
      const piece = slot.answer!.take(this.#context.pointer, index);
      if (piece.done !== null) this.#finish(slot, piece.text, piece.tokens, piece.done);
      else if (piece.text !== "") this.#events.push({ id: slot.id, ...piece, error: null });
    } catch (error) {
      this.#drop(slot, error);
    }
  }

  /** On a full window drops the older half of what may go, or ends the answer. */
  #makeRoom(slot: Slot): boolean {
    const answer = slot.answer!;
    const { tokens } = slot.cached;
    if (tokens.length < answer.window) return true;
    if (!answer.job.shift || !this.#context.canShift) {
      const { text, tokens: count, done } = answer.full();
      this.#finish(slot, text, count, done!);
      return false;
    }
    const { numKeep } = answer.job;
    const asked = numKeep < 0 ? answer.prompt.length : numKeep;
    const keep = Math.min(Math.max(asked, 1), answer.window - Math.min(4, answer.window - 1));
    const dropped = Math.max(1, Math.floor((tokens.length - keep) / 2));
    this.#context.cutOut(slot.index, keep, keep + dropped);
    tokens.splice(keep, dropped);
    slot.cached.cold = Math.min(slot.cached.cold, keep);
    slot.cached.blocks = Math.min(slot.cached.blocks, keep);
    answer.shifted(dropped);
    return true;
  }

  #finish(slot: Slot, text: string, tokens: number, done: GenerateDone): void {
    this.#events.push({ id: slot.id, text, tokens, done, error: null });
    this.#paused.delete(slot.id);
    slot.release();
  }

  /** A step failed: what the slot's cache holds is not known any more. */
  #drop(slot: Slot, error: unknown): void {
    const { id } = slot;
    this.#keep(slot, 0);
    slot.release();
    this.#fail(id, error);
  }

  #fail(id: number, error: unknown): void {
    this.#paused.delete(id);
    const reason = error instanceof Error ? error.message : String(error);
    const named =
      error instanceof LocallmError ? error : new LocallmError("decode_failed", { reason }, { cause: error });
    this.#events.push({ id, text: "", tokens: 0, done: null, error: named });
  }
}

/** Tokens [from, to) of a slot's prompt in the batch, the last of them at `index`. */
interface PromptPart {
  readonly slot: Slot;
  readonly from: number;
  readonly to: number;
  readonly index: number;
}

/** A sequence of the context: what its cache holds, and the job that has it. */
class Slot {
  readonly index: number;
  readonly cached: { -readonly [Key in keyof Cached]: Key extends "tokens" ? number[] : Cached[Key] } = {
    tokens: [],
    blocks: 0,
    cold: 0,
  };
  id = -1;
  answer: Answer | null = null;
  generating = false;
  cancelled = false;
  /** Nothing of its prompt is computed yet. */
  fresh = false;
  /** Whether the prompt is computed as a cold prefill alone would, so far and from now on. */
  onGrid = false;
  lastTurn = 0;

  constructor(index: number) {
    this.index = index;
  }

  take(id: number, answer: Answer, repeatable: boolean, turn: number): void {
    this.id = id;
    this.answer = answer;
    this.generating = false;
    this.cancelled = false;
    this.fresh = true;
    this.onGrid = repeatable;
    this.lastTurn = turn;
  }

  release(): void {
    this.answer?.free();
    this.answer = null;
    this.id = -1;
  }
}

function attempt(step: () => StepOutcome): unknown {
  try {
    return failureOf(step());
  } catch (error) {
    return error;
  }
}

async function attemptAside(step: () => Promise<StepOutcome>): Promise<unknown> {
  try {
    return failureOf(await step());
  } catch (error) {
    return error;
  }
}

function failureOf(outcome: StepOutcome): LocallmError | null {
  if (outcome === "done") return null;
  return new LocallmError("decode_failed", { reason: outcome });
}
