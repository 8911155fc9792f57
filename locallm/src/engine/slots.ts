import { LocallmError } from "../wire/errors.ts";
import type { GenerateDone, GenerateJob, TextDetails } from "../wire/inference/generate.ts";
import { Answer, type AnswerMakers, type Piece } from "./answer.ts";
import type { Checkpoint } from "./checkpoints.ts";
import type { Context } from "./context.ts";
import type { KeptStates } from "./kept/kept-states.ts";
import { NextTurn } from "./next-turn.ts";
import { type Part, planStep } from "./plan.ts";
import { commonLength, headFrom, reusable } from "./prefix.ts";
import { Slot } from "./slot.ts";
import type { Threads } from "./threads.ts";

/** What a step produced for one job. `done` or `error` is the job's last event. */
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
  /** How many checkpoints a slot keeps. 0 if the cache can be cut anywhere. */
  readonly checkpoints: number;
  readonly threads: Threads;
  /** Null if states are not kept: a slot's cache is then lost when another conversation takes the slot. */
  readonly kept: KeptStates | null;
  /** Receives all events of one step in one call. */
  readonly onStep: (events: readonly SlotEvent[]) => void;
  /** Resolves once the process has read its messages. */
  readonly breathe: () => Promise<void>;
}

/** Prompt rows may lengthen a step that also computes answers by about this much. */
const sharedPromptNs = 100e6;
const leastPromptRows = 32;
/** A step of prompt rows takes about this long while numbers of threads are compared. */
const measuredPromptNs = 150e6;
/** Steps slower than this are computed on another thread, so that the process still reads its messages. */
const slowStepNs = 500e6;
/**
 * A job gets the slot with the best cache if that cache holds at least this share of the prompt. Otherwise it
 * gets the oldest slot.
 */
const worthwhileShare = 0.1;

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

/**
 * The slots of one context. Each step is planned (which tokens of which slots), computed in one call of the
 * library, and committed output by output. If all slots are busy, jobs wait in order.
 */
export class Slots {
  readonly #request: SlotsRequest;
  readonly #context: Context;
  readonly #slots: readonly Slot[];
  readonly #waiting: Waiting[] = [];
  #events: SlotEvent[] = [];
  /**
   * The parts of the current step until they are committed. Messages can arrive before that, even in a quick
   * step.
   */
  #current: readonly Part[] = [];
  /** The slot whose cache is being replaced. */
  #switching: Slot | null = null;
  readonly #nextTurn = new NextTurn();
  /** True while the beginning of an expected turn is computed. */
  #isAhead = false;
  #running: Promise<void> | null = null;
  #isAsked = false;
  #turns = 0;
  #arrivals = 0;
  #promptTokenNs = 4e6;
  /** The duration of the last small step. Infinite until the first one. */
  #stepNs = Number.POSITIVE_INFINITY;
  /** False if a copy has shown that this kind of memory cannot be cut. */
  #canCopy: boolean;

  constructor(request: SlotsRequest) {
    this.#request = request;
    this.#context = request.context;
    this.#slots = Array.from({ length: request.slots }, (_, index) => new Slot(index, request.checkpoints));
    this.#canCopy = request.slots > 1;
  }

  /** `cells` is the job's prompt if it is already encoded. */
  submit(id: number, job: GenerateJob, cells: readonly number[] | null = null): void {
    this.#waiting.push({ id, job, cells });
    if (this.#isAhead) this.#context.abort();
    this.#wake();
  }

  /** Cancels a job. It sends no further event, and its slot is free before the next step. */
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
      // Do not abort a step that computes answers of other clients: it is short, and they would have to
      // repeat it.
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

  /** Pauses a job whose reader is slow. Does nothing if the job has already ended. */
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
   * A number that grows with each turn of the loop and with each operation of the current step. Reading it
   * makes an idle loop run a turn, so if the number stays the same, the loop hangs.
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
      if (this.#hasWork()) return this.#wake();
      this.#context.rest();
      this.#request.threads.rest();
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
    await this.#computeAhead();
  }

  /**
   * While no request waits, computes the tokens that a template puts after an answer. The next turn of the
   * conversation then has fewer tokens to compute. A request that arrives ends this.
   */
  async #computeAhead(): Promise<void> {
    const { threads, makers } = this.#request;
    const context = this.#context;
    for (const slot of this.#slots) {
      const from = slot.cached.length;
      const tokens = slot.isFree ? slot.ahead(this.#nextTurn.expected) : [];
      if (tokens.length === 0) continue;
      if (tokens.length > Math.min(context.capacity, context.contextPerSequence - from)) continue;
      if (this.#hasWork()) return;
      context.batch.clear();
      for (const [at, token] of tokens.entries()) context.batch.add(token, from + at, slot.index, false);
      context.useThreads(threads.begin(makers.now() / 1e6, "prompts"));
      this.#isAhead = true;
      const outcome = await context.stepAside().catch(decodeFailure);
      this.#isAhead = false;
      threads.end(makers.now() / 1e6, 0);
      if (outcome === "done") slot.expects(tokens);
      else if (!context.truncate(slot.index, outcome === "aborted" ? from : 0) || outcome !== "aborted")
        slot.empty();
    }
  }

  /**
   * Saves the conversations that replaced another one. If conversations alternate, the next one will probably
   * need the same slot again. Saving while no request waits spares it the wait.
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

  /** Gives free slots to waiting jobs. Each job gets the slot whose cache holds most of its prompt. */
  async #admit(): Promise<void> {
    while (this.#waiting.length > 0 && this.#slots.some((slot) => slot.isFree)) {
      const { id, job, cells } = this.#waiting.shift()!;
      try {
        await this.#place(id, new Answer(this.#request.makers, job, this.#context.contextPerSequence, cells));
      } catch (error) {
        const slot = this.#slots.find((candidate) => candidate.id === id);
        if (slot !== undefined) this.#drop(slot);
        this.#fail(id, error);
      }
    }
  }

  /**
   * If a kept state contains clearly more of the prompt than any slot, restores it into the oldest slot.
   * First saves the other conversation in that slot's cache. Both happen between two steps, so other jobs
   * wait.
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
    const fork = job.deterministic ? 0 : this.#fork(prompt);
    const isOwn = found === null && best.tokens >= prompt.length * worthwhileShare;
    const { slot, tokens } = isOwn ? best : oldest;
    const following = job.deterministic ? null : slot.following(prompt);
    if (following !== null) this.#nextTurn.saw(following);
    slot.begin(id, answer, ++this.#arrivals);
    let reused = tokens;
    if (kept !== null) {
      this.#switching = slot;
      try {
        const isOther = found !== null || job.deterministic;
        const isKept = kept.isWorthKeeping(slot, isOther ? 0 : commonLength(slot.cached, prompt));
        slot.isSwitched = isKept || found !== null;
        if (isKept) await kept.keep(slot);
        if (found !== null) reused = (await kept.restore(found, slot)) ? found.tokens : 0;
      } finally {
        this.#switching = null;
      }
    }
    slot.resume(this.#cut(slot, reused));
    if (fork - slot.cached.length >= leastFork) slot.stopAt(fork);
    else if (slot.cached.length === 0) this.#stopEarly(slot);
    this.#stopBeforeEnd(slot);
    if (slot.isCancelled) slot.release();
  }

  /** How many tokens of a prompt a slot can reuse from its cache. */
  #reusable(slot: Slot, prompt: readonly number[]): number {
    return this.#cuttable(slot, reusable(slot.cached, prompt)).tokens;
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

  /** Cuts a slot's cache to at most `most` of its first tokens. Returns how many remain. */
  #cut(slot: Slot, most: number): number {
    return this.#cutTo(slot, this.#cuttable(slot, most));
  }

  #cutTo({ index }: Slot, { tokens, from }: Cut): number {
    const context = this.#context;
    const isThere = from === null || context.goBack(index, from.bytes);
    return context.truncate(index, isThere ? tokens : 0) && isThere ? tokens : 0;
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

  /** How many of a prompt's first tokens another conversation has, less a few. 0 if no checkpoint is stored there. */
  #fork(prompt: readonly number[]): number {
    if (this.#request.checkpoints < 2) return 0;
    const common = this.#slots.map(({ cached }) => commonLength(cached, prompt));
    return Math.max(this.#request.kept?.longestCommon(prompt) ?? 0, ...common) - checkpointTail.tokens;
  }

  /**
   * Stores a checkpoint. A cache with a sliding window is then filled from it, because that changes the order of its
   * cells, and with it the last bits of the outputs: they should be the same when a slot goes back to the checkpoint.
   * Returns false if the slot's memory is lost.
   */
  #remember(slot: Slot): boolean {
    const context = this.#context;
    const { index, cached, checkpoints } = slot;
    const bytes = context.checkpointBytes(index);
    if (bytes === 0) return true;
    const added = checkpoints.add(cached.length, bytes, (into) => context.saveCheckpoint(index, into));
    return added === null || context.kind.slidingWindow === 0 || context.goBack(index, added.bytes);
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
    const { threads } = this.#request;
    const ready = this.#slots.filter((slot) => this.#isReady(slot) && this.#hasRoom(slot));
    const prompts = ready.filter((slot) => !slot.isGenerating).sort((a, b) => a.arrived - b.arrived);
    const waiting = new Set(prompts.filter((slot, index) => !this.#hasHead(slot, prompts.slice(0, index))));
    const parts = planStep(
      ready.filter((slot) => !waiting.has(slot)),
      {
        rows: this.#context.capacity,
        promptRows: threads.measuresPrompts ? this.#rowsIn(measuredPromptNs) : this.#context.capacity,
        sharedPromptRows: this.#rowsIn(sharedPromptNs),
      },
    );
    const [first] = parts;
    for (const slot of ready)
      if (first?.slot.isAlone ? slot === first.slot : !slot.isAlone) slot.served = this.#turns;
    return parts;
  }

  /** How many prompt rows take about this long. */
  #rowsIn(ns: number): number {
    return Math.max(leastPromptRows, Math.floor(ns / this.#promptTokenNs / 8) * 8);
  }

  /**
   * Copies the prompt's beginning from another slot's cache before the prompt is computed. Returns false if
   * the slot should wait, because an earlier prompt is about to compute more of it.
   */
  #hasHead(slot: Slot, ahead: readonly Slot[]): boolean {
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
    const fork = this.#fork(slot.answer.prompt);
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
    const { isAlone } = parts[0]!.slot;
    const kind = rows === parts.length ? "answers" : "prompts";
    context.useThreads(isAlone ? threads.most : threads.begin(beginNs / 1e6, kind));
    const isQuick = kind === "answers" && this.#stepNs < slowStepNs;
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
    if (!isAlone) threads.end(endNs / 1e6, computed === "done" ? rows : 0);
    if (computed === "done") {
      if (rows >= 16) this.#promptTokenNs = (endNs - beginNs) / rows;
      // A small step takes at most this long, so this is an upper bound.
      this.#stepNs = kind === "answers" ? endNs - beginNs : Math.min(this.#stepNs, endNs - beginNs);
    }
    return computed;
  }

  #commit({ slot, tokens }: Part, outputs: readonly number[], computed: Computed): void {
    if (computed === "done") {
      const wasGenerating = slot.isGenerating;
      slot.commit(tokens);
      if (slot.isAtStop && !this.#remember(slot)) {
        this.#commitFailed(slot, new LocallmError("decode_failed", { reason: "a checkpoint was rejected" }));
        return;
      }
      if (slot.isCancelled) slot.release();
      else if (!wasGenerating && slot.isGenerating) this.#begin(slot, outputs);
      else for (const output of outputs) this.#take(slot, output);
    } else if (computed === "aborted") {
      // Another slot's client left: this part is computed again.
      slot.rollBack(this.#undo(slot));
      if (slot.isCancelled) slot.release();
    } else this.#commitFailed(slot, computed);
  }

  /** Removes what an aborted step added to a slot's cache. Returns how many tokens remain. */
  #undo(slot: Slot): number {
    const { length } = slot.cached;
    if (this.#context.canCutTo(slot.index, length)) return this.#cutTo(slot, { tokens: length, from: null });
    const from = slot.checkpoints.upTo(length);
    return this.#cutTo(slot, { tokens: from?.tokens ?? 0, from });
  }

  #commitFailed(slot: Slot, error: LocallmError): void {
    const { id, isCancelled } = slot;
    this.#drop(slot);
    if (!isCancelled) this.#fail(id, error);
  }

  /** Called when the prompt is computed. */
  #begin(slot: Slot, outputs: readonly number[]): void {
    const done = slot.answer.promptDone();
    if (done !== null) this.#finish(slot, { text: "", tokens: 0, done });
    else for (const output of outputs) this.#take(slot, output);
  }

  /** Samples the token of an output. */
  #take(slot: Slot, output: number): void {
    const { id, answer } = slot;
    try {
      const { token, ...piece } = answer.take(this.#context, output);
      if (piece.done === null) slot.push(token);
      if (piece.done !== null) this.#finish(slot, piece, token);
      else if (piece.text !== "") this.#events.push({ id, ...piece, error: null });
    } catch (error) {
      this.#drop(slot);
      this.#fail(id, error);
    }
  }

  /**
   * If the window is full, drops the older half of the tokens that may be dropped. If this kind of memory cannot do
   * that, the tokens after them are computed again. Returns false if it ended the answer instead.
   */
  #hasRoom(slot: Slot): boolean {
    const { answer, cached } = slot;
    if (!slot.isGenerating || cached.length < answer.window) return true;
    if (!answer.job.shift) {
      this.#finish(slot, answer.full());
      return false;
    }
    const { numKeep } = answer.job;
    const asked = numKeep < 0 ? answer.prompt.length : numKeep;
    const keep = Math.min(Math.max(asked, 1), answer.window - Math.min(4, answer.window - 1));
    const dropped = Math.max(1, Math.floor((cached.length - keep) / 2));
    if (this.#context.canCutOut(slot.index, keep)) {
      this.#context.cutOut(slot.index, keep, keep + dropped);
      slot.shift(keep, dropped);
    } else {
      const kept = this.#cut(slot, keep);
      cached.splice(keep, dropped);
      slot.rollBack(kept);
    }
    answer.shifted(dropped);
    return true;
  }

  /** `last` is the token of the answer that the cache lacks, or -1. */
  #finish(slot: Slot, piece: Omit<Piece, "token">, last = -1): void {
    const { done } = piece;
    const hasEnded = last >= 0 || (done?.reason === "stop" && done.stopString === null);
    if (hasEnded && !this.#context.kind.hasState && !slot.isAlone && !slot.isShifted) slot.endAnswer(last);
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

interface Waiting {
  readonly id: number;
  readonly job: GenerateJob;
  readonly cells: readonly number[] | null;
}

/** To how many tokens a slot's cache is cut, and the checkpoint that this needs. */
interface Cut {
  readonly tokens: number;
  readonly from: Checkpoint | null;
}

/** How a step ended. */
type Computed = "done" | "aborted" | LocallmError;

function decodeFailure(error: unknown): LocallmError {
  if (error instanceof LocallmError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new LocallmError("decode_failed", { reason }, { cause: error });
}
