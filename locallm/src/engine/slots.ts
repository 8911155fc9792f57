import { LocallmError } from "../wire/errors.ts";
import type { GenerateDone, GenerateJob, TextDetails } from "../wire/inference/generate.ts";
import { Answer, type AnswerMakers, type Piece } from "./answer.ts";
import type { Context } from "./context.ts";
import type { KeptStates } from "./kept/kept-states.ts";
import { checkpointTail, lastAlone, type Part, planStep } from "./plan.ts";
import { commonLength, headFrom, reusable } from "./prefix.ts";
import { Slot } from "./slot.ts";
import type { Threads } from "./threads.ts";

/** What a step produced for one job. After `done` or `error` nothing more follows. */
export interface SlotEvent extends TextDetails {
  readonly id: number;
  readonly text: string;
  readonly tokens: number;
  readonly done: GenerateDone | null;
  readonly error: LocallmError | null;
}

export interface SlotsRequest {
  readonly makers: AnswerMakers;
  readonly context: Context;
  readonly slots: number;
  readonly threads: Threads;
  /** Null: a slot's cache is lost when another conversation takes the slot. */
  readonly kept: KeptStates | null;
  /** All events of one step in one call. */
  readonly onStep: (events: readonly SlotEvent[]) => void;
  /** Resolves once the process has read its messages. */
  readonly breathe: () => Promise<void>;
}

/** Rows of prompts may delay a step of other answers by about this long. */
const sharedPromptNs = 100e6;
const leastSharedRows = 32;
/** Steps slower than this are computed on another thread, so that the process still reads its messages. */
const slowStepNs = 500e6;
/** A slot is chosen for its cache if that holds at least this share of the prompt; otherwise the oldest slot is. */
const worthwhileShare = 0.1;

/**
 * The least part of the window that is worth copying from another slot's cache. A large cache is copied whole: a cell
 * takes 5 µs, and computing a token takes 3,400 µs (SmolLM2 135M; larger models increase the difference).
 */
const copiedShare = 1 / 256;
const leastCopied = 8;

/**
 * The slots of one context. Each step is planned (which tokens of which slots), computed in one call of the library,
 * and committed output by output. Jobs beyond the slots wait in order.
 */
export class Slots {
  readonly #request: SlotsRequest;
  readonly #context: Context;
  readonly #slots: readonly Slot[];
  readonly #waiting: { readonly id: number; readonly job: GenerateJob }[] = [];
  #events: SlotEvent[] = [];
  /** The parts of the current step, until they are committed: messages can arrive before that, also in a quick step. */
  #current: readonly Part[] = [];
  /** The slot whose cache is being replaced. */
  #switching: Slot | null = null;
  #running: Promise<void> | null = null;
  #isAsked = false;
  #turns = 0;
  #arrivals = 0;
  #promptTokenNs = 4e6;
  /** How long the last small step took; unknown at first. */
  #stepNs = Number.POSITIVE_INFINITY;
  /** False once a copy has shown that this kind of memory cannot be cut. */
  #canCopy: boolean;

  constructor(request: SlotsRequest) {
    this.#request = request;
    this.#context = request.context;
    this.#slots = Array.from({ length: request.slots }, (_, index) => new Slot(index));
    this.#canCopy = request.slots > 1 && request.context.canCut;
  }

  submit(id: number, job: GenerateJob): void {
    this.#waiting.push({ id, job });
    this.#wake();
  }

  /** No further event of the job is sent. Its slot is free before the next step. */
  cancel(id: number): void {
    this.#events = this.#events.filter((event) => event.id !== id);
    const waiting = this.#waiting.findIndex((entry) => entry.id === id);
    if (waiting >= 0) this.#waiting.splice(waiting, 1);
    const slot = this.#slots.find((candidate) => candidate.id === id);
    if (slot === undefined) return;
    if (this.#switching === slot) {
      slot.isCancelled = true;
    } else if (this.#current.some((part) => part.slot === slot)) {
      slot.isCancelled = true;
      // A step that others wait for is short: after an abort they would have to compute it again.
      if (!this.#current.some((part) => part.slot.isGenerating)) this.#context.abort();
    } else {
      slot.release();
    }
    this.#wake();
  }

  /** Ends a step on another thread, so that the process can exit. */
  stop(): void {
    this.#context.abort();
  }

  /** The job's reader is slow. A pause that arrives after the job's end does nothing. */
  pause(id: number): void {
    const slot = this.#slots.find((candidate) => candidate.id === id);
    if (slot !== undefined) slot.isPaused = true;
  }

  resume(id: number): void {
    const slot = this.#slots.find((candidate) => candidate.id === id);
    if (slot !== undefined) slot.isPaused = false;
    this.#wake();
  }

  /**
   * Grows with each turn of the loop and with each operation of the current step. Asking makes an idle loop take a
   * turn: if the number stays the same, the loop hangs.
   */
  progress(): number {
    this.#isAsked = true;
    this.#wake();
    return this.#turns + this.#context.progress;
  }

  #wake(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      // Work may have arrived between the loop's last check and its end.
      if (this.#hasWork()) this.#wake();
      else this.#context.rest();
    });
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) {
      this.#isAsked = false;
      await this.#admit();
      await this.#step();
      if (this.#events.length > 0) {
        this.#request.onStep(this.#events);
        this.#events = [];
      }
      this.#turns++;
      await this.#request.breathe();
    }
    await this.#keepSwitched();
  }

  /**
   * Conversations alternate: the next one will probably need the slot that the last one was given. What that slot holds
   * is saved while nobody waits, so that the next one does not wait for it.
   */
  async #keepSwitched(): Promise<void> {
    const { kept } = this.#request;
    for (const slot of this.#slots) {
      if (kept === null || !slot.isFree || !slot.isSwitched) continue;
      slot.isSwitched = false;
      if (kept.isWorthKeeping(slot, 0)) await kept.keep(slot);
    }
  }

  #hasWork(): boolean {
    return (
      this.#isAsked ||
      this.#slots.some((slot) => this.#isReady(slot)) ||
      (this.#waiting.length > 0 && this.#slots.some((slot) => slot.isFree))
    );
  }

  #isReady(slot: Slot): boolean {
    return !slot.isFree && !slot.isPaused;
  }

  /** Gives free slots to waiting jobs, to each the slot whose cache has most of its prompt. */
  async #admit(): Promise<void> {
    while (this.#waiting.length > 0 && this.#slots.some((slot) => slot.isFree)) {
      const { id, job } = this.#waiting.shift()!;
      try {
        await this.#place(id, new Answer(this.#request.makers, job, this.#context.contextPerSequence));
      } catch (error) {
        const slot = this.#slots.find((candidate) => candidate.id === id);
        if (slot !== undefined) this.#drop(slot);
        this.#fail(id, error);
      }
    }
  }

  /**
   * If a kept state has clearly more of the prompt than any slot, the oldest slot gets it. What that slot's cache holds
   * of another conversation is kept first. Both happen between two steps, so other jobs wait for it.
   */
  async #place(id: number, answer: Answer): Promise<void> {
    const { prompt, job } = answer;
    const { kept } = this.#request;
    const free = this.#slots.filter((slot) => slot.isFree);
    const shares = free.map((slot) => ({
      slot,
      tokens: job.deterministic ? 0 : this.#reusable(slot, prompt),
    }));
    const best = shares.reduce((a, b) => (b.tokens > a.tokens ? b : a));
    const oldest = shares.reduce((a, b) => (b.slot.arrived < a.slot.arrived ? b : a));
    const found = job.deterministic ? null : (kept?.find(prompt, best.tokens) ?? null);
    const isOwn = found === null && best.tokens >= prompt.length * worthwhileShare;
    const { slot, tokens } = isOwn ? best : oldest;
    slot.begin(id, answer, ++this.#arrivals);
    let reused = tokens;
    if (kept !== null) {
      this.#switching = slot;
      try {
        const isKept = kept.isWorthKeeping(slot, found === null ? tokens : 0);
        slot.isSwitched = isKept || found !== null;
        if (isKept) await kept.keep(slot);
        if (found !== null) reused = (await kept.restore(found, slot)) ? found.tokens : 0;
      } finally {
        this.#switching = null;
      }
    }
    slot.resume(this.#cut(slot, reused) ? reused : 0);
    if (slot.isCancelled) slot.release();
  }

  /** How many tokens of a prompt a slot can reuse from its cache. */
  #reusable(slot: Slot, prompt: readonly number[]): number {
    if (this.#context.canCut) return reusable(slot.cached, prompt);
    const common = Math.min(commonLength(slot.cached, prompt), prompt.length - 1);
    const states = [slot.cached.length, ...slot.checkpoints.map(({ tokens }) => tokens)];
    return Math.max(0, ...states.filter((tokens) => tokens <= common));
  }

  /** Cuts a slot's cache to its first `tokens`. Returns false if it is then empty. */
  #cut(slot: Slot, tokens: number): boolean {
    const context = this.#context;
    const isWhole = context.canCut || tokens === 0 || tokens === slot.cached.length;
    const checkpoint = slot.checkpoints.find((one) => one.tokens === tokens);
    if (isWhole || (checkpoint !== undefined && context.goBack(slot.index, checkpoint.bytes)))
      return context.truncate(slot.index, tokens);
    context.truncate(slot.index, 0);
    return false;
  }

  /** Keeps the slots' states before the process ends. Nothing may be running. */
  async keepAll(): Promise<void> {
    const { kept } = this.#request;
    if (kept === null || this.#slots.some((slot) => !slot.isFree)) return;
    await this.#running;
    for (const slot of this.#slots) if (kept.isWorthKeeping(slot, 0)) await kept.keep(slot);
  }

  async #step(): Promise<void> {
    const parts = this.#plan();
    if (parts.length === 0) return;
    const outputs = this.#fill(parts);
    this.#current = parts;
    const failure = await this.#compute(parts);
    this.#current = [];
    for (const [index, part] of parts.entries()) this.#commit(part, outputs[index]!, failure);
  }

  #plan(): Part[] {
    const ready = this.#slots.filter((slot) => this.#isReady(slot) && this.#hasRoom(slot));
    const prompts = ready.filter((slot) => !slot.isGenerating).sort((a, b) => a.arrived - b.arrived);
    const waiting = new Set(prompts.filter((slot, index) => !this.#hasHead(slot, prompts.slice(0, index))));
    const parts = planStep(
      ready.filter((slot) => !waiting.has(slot)),
      {
        rows: this.#context.capacity,
        sharedPromptRows: Math.max(leastSharedRows, Math.floor(sharedPromptNs / this.#promptTokenNs / 8) * 8),
        tail: this.#context.canCut ? lastAlone : checkpointTail,
      },
    );
    const [first] = parts;
    for (const slot of ready)
      if (first?.slot.isAlone ? slot === first.slot : !slot.isAlone) slot.served = this.#turns;
    return parts;
  }

  /**
   * Copies what another slot's cache has of a prompt, before its first part is computed. Returns false if the slot
   * should wait, because an earlier prompt is about to compute more of it.
   */
  #hasHead(slot: Slot, ahead: readonly Slot[]): boolean {
    if (!this.#canCopy || !slot.isFresh || slot.isAlone) return true;
    const { prompt } = slot.answer;
    const neighbours = this.#slots
      .filter((other) => other !== slot)
      .map((other) => ({
        slot: other,
        cached: other.cached,
        ahead: ahead.includes(other) ? other.answer.prompt : null,
      }));
    const least = Math.max(leastCopied, Math.ceil(this.#context.contextPerSequence * copiedShare));
    const head = headFrom(prompt, slot.cached.length, neighbours, least);
    if (head === "wait") return false;
    if (head !== null) this.#takeOver(slot, head.from.slot, head.tokens);
    return true;
  }

  #takeOver(slot: Slot, from: Slot, tokens: number): void {
    const isCopied = this.#context.copy(from.index, slot.index);
    const kept = this.#context.truncate(slot.index, isCopied ? tokens : 0) && isCopied ? tokens : 0;
    this.#canCopy = kept > 0;
    slot.isShifted ||= from.isShifted;
    for (let index = slot.cached.length; index < kept; index++) slot.cached.push(from.cached[index]!);
    slot.resume(kept);
  }

  /** Fills the batch. Returns the rows of each part that have an output. */
  #fill(parts: readonly Part[]): number[][] {
    const { batch } = this.#context;
    batch.clear();
    return parts.map(({ slot, tokens, outputs }) => {
      const from = slot.cached.length;
      const rows: number[] = [];
      for (let at = 0; at < tokens; at++) {
        const isOutput = at >= tokens - outputs;
        const row = batch.add(slot.pending[at]!, from + at, slot.index, isOutput);
        if (isOutput) rows.push(row);
      }
      return rows;
    });
  }

  async #compute(parts: readonly Part[]): Promise<Computed> {
    const { threads, makers } = this.#request;
    const context = this.#context;
    const { rows } = context.batch;
    const beginNs = makers.now();
    // The number of threads affects the last bits in long contexts.
    context.useThreads(parts[0]!.slot.isAlone ? threads.most : threads.begin(beginNs / 1e6));
    const isQuick = rows === parts.length && this.#stepNs < slowStepNs;
    let computed: Computed;
    try {
      const outcome = isQuick ? context.step() : await context.stepAside();
      computed =
        outcome === "no_room"
          ? new LocallmError("decode_failed", { reason: "the context has no room left" })
          : outcome;
    } catch (error) {
      computed = decodeFailure(error);
    }
    const endNs = makers.now();
    threads.end(endNs / 1e6);
    if (computed === "done") {
      if (rows >= 16) this.#promptTokenNs = (endNs - beginNs) / rows;
      // A small step takes no longer than a large one.
      this.#stepNs = rows === parts.length ? endNs - beginNs : Math.min(this.#stepNs, endNs - beginNs);
    }
    return computed;
  }

  #commit({ slot, tokens }: Part, outputs: readonly number[], computed: Computed): void {
    if (computed === "done") {
      const wasGenerating = slot.isGenerating;
      slot.commit(tokens);
      if (!wasGenerating && slot.pending.length === checkpointTail.tokens && !this.#context.canCut)
        slot.remember(this.#context.checkpoint(slot.index));
      if (slot.isCancelled) slot.release();
      else if (!wasGenerating && slot.isGenerating) this.#begin(slot, outputs);
      else for (const output of outputs) this.#take(slot, output);
    } else if (computed === "aborted") {
      // Another slot's client left: this part is computed again.
      slot.rollBack(this.#context.truncate(slot.index, slot.cached.length) ? slot.cached.length : 0);
      if (slot.isCancelled) slot.release();
    } else {
      const { id, isCancelled } = slot;
      this.#drop(slot);
      if (!isCancelled) this.#fail(id, computed);
    }
  }

  /** The prompt is computed. */
  #begin(slot: Slot, outputs: readonly number[]): void {
    const done = slot.answer.promptDone();
    if (done !== null) this.#finish(slot, { text: "", tokens: 0, done });
    else for (const output of outputs) this.#take(slot, output);
  }

  /** Takes the token of an output. */
  #take(slot: Slot, output: number): void {
    const { id, answer } = slot;
    try {
      const { token, ...piece } = answer.take(this.#context, output);
      if (piece.done === null) slot.push(token);
      if (piece.done !== null) this.#finish(slot, piece);
      else if (piece.text !== "") this.#events.push({ id, ...piece, error: null });
    } catch (error) {
      this.#drop(slot);
      this.#fail(id, error);
    }
  }

  /** If the window is full, drops the older half of what may be dropped, or ends the answer (false). */
  #hasRoom(slot: Slot): boolean {
    const { answer, cached } = slot;
    if (!slot.isGenerating || cached.length < answer.window) return true;
    if (!answer.job.shift || !this.#context.canShift) {
      this.#finish(slot, answer.full());
      return false;
    }
    const { numKeep } = answer.job;
    const asked = numKeep < 0 ? answer.prompt.length : numKeep;
    const keep = Math.min(Math.max(asked, 1), answer.window - Math.min(4, answer.window - 1));
    const dropped = Math.max(1, Math.floor((cached.length - keep) / 2));
    this.#context.cutOut(slot.index, keep, keep + dropped);
    cached.splice(keep, dropped);
    slot.isShifted = true;
    answer.shifted(dropped);
    return true;
  }

  #finish(slot: Slot, piece: Omit<Piece, "token">): void {
    this.#events.push({ id: slot.id, ...piece, error: null });
    slot.release();
  }

  /** Empties the slot, because after a failure its cache may contain anything. */
  #drop(slot: Slot): void {
    this.#context.truncate(slot.index, 0);
    slot.empty();
    slot.release();
  }

  #fail(id: number, error: unknown): void {
    this.#events.push({ id, text: "", tokens: 0, done: null, error: decodeFailure(error) });
  }
}

/** How a step ended. */
type Computed = "done" | "aborted" | LocallmError;

function decodeFailure(error: unknown): LocallmError {
  if (error instanceof LocallmError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new LocallmError("decode_failed", { reason }, { cause: error });
}
