import { LocallmError } from "../wire/errors.ts";
import type { GenerateDone, GenerateJob, TextDetails } from "../wire/inference/generate.ts";
import { picturesOf } from "../wire/inference/picture.ts";
import type { Adapters } from "./adapters.ts";
import { Answer, type AnswerMakers, type Drafts, type Piece } from "./answer.ts";
import type { Context } from "./context.ts";
import { withDrafts } from "./draft-rows.ts";
import { Growth, type Pace } from "./growth.ts";
import type { Found, KeptStates } from "./kept/kept-states.ts";
import { NextTurn } from "./next-turn.ts";
import { Parking } from "./parking.ts";
import { choosePlace } from "./place.ts";
import type { Part } from "./plan.ts";
import { commonLength } from "./prefix.ts";
import { Reuse } from "./reuse.ts";
import { Room } from "./room.ts";
import { Slot } from "./slot.ts";
import { type Computed, decodeFailure, Steps } from "./steps.ts";
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
  readonly adapters: Pick<Adapters, "use">;
  /** Null if states are not kept: a slot's cache is then lost when another conversation takes the slot. */
  readonly kept: KeptStates | null;
  /** Receives all events of one step in one call. */
  readonly onStep: (events: readonly SlotEvent[]) => void;
  /** Asks for the rows of a picture of a job's prompt, which came without them; see `supply`. */
  readonly onWant: (id: number, identity: string) => void;
  /** Resolves once the process has read its messages. */
  readonly breathe: () => Promise<void>;
}

/** So many pictures may be known before any is forgotten. */
const leastPictures = 4096;

/**
 * The slots of one context. Each step is planned (which tokens of which slots), computed in one call of the
 * library, and committed output by output. If all slots are busy, jobs wait in order.
 */
export class Slots {
  readonly #request: SlotsRequest;
  readonly #context: Context;
  readonly #slots: readonly Slot[];
  readonly #reuse: Reuse;
  readonly #steps: Steps;
  readonly #room: Room | null;
  /** Null if each slot has a cache of its own. */
  readonly #parking: Parking | null;
  /** Null if the whole cache may be used. */
  #growth: Growth | null = null;
  readonly #waiting: Waiting[] = [];
  #events: SlotEvent[] = [];
  /**
   * The parts of the current step until they are committed. Messages can arrive before that, even in a quick
   * step.
   */
  #current: readonly Part[] = [];
  /** The slots whose cache is being replaced. */
  readonly #switching = new Set<Slot>();
  readonly #nextTurn = new NextTurn();
  /** True while the beginning of an expected turn is computed. */
  #isAhead = false;
  #running: Promise<void> | null = null;
  #isAsked = false;
  /** True if something has happened since the current turn began. */
  #isWoken = false;
  #turns = 0;
  #arrivals = 0;
  /** The number of known pictures from which on those that nothing holds are forgotten. */
  #mostPictures = leastPictures;

  constructor(request: SlotsRequest) {
    const { context, checkpoints, kept, threads, adapters, makers } = request;
    this.#request = request;
    this.#context = context;
    const room = context.sharedCells === null ? null : new Room(context.sharedCells, request.slots);
    this.#room = room;
    this.#slots = Array.from(
      { length: request.slots },
      (_, index) => new Slot(index, checkpoints, makers.pictures, room),
    );
    const slots = this.#slots;
    const during = (slot: Slot, work: () => Promise<void>) => this.#during(slot, work);
    const growth = () => this.#growth;
    this.#reuse = new Reuse({
      ...{ context, checkpoints, slots, room, pictures: makers.pictures },
      longestKept: (prompt) => kept?.longestCommon(prompt) ?? 0,
    });
    const reuse = this.#reuse;
    this.#parking = room && new Parking({ context, room, slots, reuse, kept, growth, during });
    const rowCost = makers.drafts?.rowCost ?? null;
    this.#steps = new Steps({
      ...{ context, threads, adapters, rowCost },
      ...{ now: makers.now, pictures: makers.pictures },
    });
  }

  /** Uses so many cells of a shared cache only if `ask` grants them. Call it before the first job. */
  spare(cells: number, ask: (cells: number) => Promise<number>, pace?: Pace): void {
    const { now } = this.#request.makers;
    const paced = pace === undefined ? {} : { pace };
    if (this.#room !== null)
      this.#growth = new Growth({ room: this.#room, spare: cells, ask, now, ...paced });
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
    if (this.#switching.has(slot)) {
      slot.isCancelled = true;
    } else if (this.#current.some((part) => part.slot === slot)) {
      slot.isCancelled = true;
      // Do not abort a step that computes answers of other clients: it is short, and they would have to
      // repeat it.
      if (!this.#current.some((part) => part.slot.isGenerating)) this.#context.abort();
    } else {
      this.#release(slot);
    }
    this.#wake();
  }

  /** Ends a step on another thread, so that the process can exit. */
  stop(): void {
    this.#context.abort();
    this.#request.makers.drafts?.model?.abort();
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

  /** Takes rows that were asked for. Does nothing if the job has ended. The job fails if they do not fit its picture. */
  supply(id: number, identity: string, rows: Float32Array): void {
    const slot = this.#slots.find((candidate) => candidate.id === id);
    if (slot === undefined) return;
    try {
      for (const picture of picturesOf(slot.answer.job.prompt)) {
        if (picture.identity !== identity) continue;
        if (rows.length === 0) throw new Error(`no rows came for the picture ${identity}`);
        this.#context.checkPicture({ ...picture, rows });
        slot.answer.supply(this.#request.makers.pictures.numberOf(picture), rows);
      }
    } catch (error) {
      this.cancel(id);
      this.#fail(id, error);
      // A turn of the loop reports it.
      this.#isAsked = true;
    }
    this.#wake();
  }

  /**
   * A number that grows with each turn of the loop and with each operation of the current step. Reading it
   * makes an idle loop run a turn, so if the number stays the same, the loop hangs.
   */
  progress(): number {
    this.#isAsked = true;
    this.#wake();
    return this.#turns + this.#context.progress + (this.#request.makers.drafts?.model?.progress ?? 0);
  }

  #wake(): void {
    this.#isWoken = true;
    for (const slot of this.#slots) slot.isHeld = false;
    this.#running ??= this.#run().then(
      () => {
        this.#running = null;
        // Work may have arrived between the loop's last check and its end.
        if (this.#hasWork()) return this.#wake();
        this.#context.rest();
        this.#request.threads.rest();
      },
      // A fault of the loop itself: what the slots hold is unknown, so the process ends with it.
      (error: unknown) => {
        setImmediate(() => {
          throw error;
        });
      },
    );
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) {
      this.#isAsked = false;
      this.#isWoken = false;
      await this.#admit();
      await this.#makeRoom();
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
    const { contextPerSequence, capacity } = this.#context;
    for (const slot of this.#slots) {
      const { position } = slot;
      const left = Math.min(contextPerSequence - slot.cached.length, this.#room?.free ?? Infinity);
      const tokens = slot.isFree ? slot.ahead(this.#nextTurn.expected) : [];
      if (tokens.length === 0 || tokens.length > Math.min(capacity, left)) continue;
      if (this.#hasWork()) return;
      this.#isAhead = true;
      const computed = await this.#steps.computeAhead(slot, tokens);
      this.#isAhead = false;
      if (computed === "done") slot.expects(tokens);
      else if (
        !this.#context.truncate(slot.index, computed === "aborted" ? position : 0) ||
        computed === null
      )
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
    return this.#isAsked || this.#slots.some((slot) => this.#isReady(slot)) || this.#canAdmit;
  }

  get #canAdmit(): boolean {
    if (this.#waiting.length === 0 || !this.#slots.some((slot) => slot.isFree)) return false;
    return this.#parking?.isFull !== true;
  }

  #isReady(slot: Slot): boolean {
    if (slot.isFree || slot.isPaused || slot.isHeld) return false;
    return !slot.awaitsRows || slot.lacksRows;
  }

  /**
   * Asks for the rows of the next picture that a slot computes and that has none, so that they come while what stands
   * before it is computed.
   */
  #wantRows(slot: Slot): void {
    if (slot.isFree || !slot.answer.hasPictures) return;
    const { id, answer, pending } = slot;
    const { makers, onWant } = this.#request;
    const cell = pending.find((next) => next < 0 && answer.rowsOf(next).length === 0);
    if (cell !== undefined && answer.wants(cell)) onWant(id, makers.pictures.of(cell).identity);
  }

  /** Forgets pictures that nothing holds any more, whenever their number has doubled. */
  #forgetPictures(): void {
    const { makers, kept } = this.#request;
    if (makers.pictures.count < this.#mostPictures) return;
    makers.pictures.keepOnly([
      ...this.#slots.flatMap((slot) => (slot.isFree ? [slot.cached] : [slot.cached, slot.answer.prompt])),
      ...this.#waiting.map(({ cells }) => cells ?? []),
      ...(kept?.cells() ?? []),
    ]);
    this.#mostPictures = Math.max(leastPictures, makers.pictures.count * 2);
  }

  /** Gives free slots to waiting jobs. Each job gets the slot whose cache holds most of its prompt. */
  async #admit(): Promise<void> {
    while (this.#canAdmit) {
      this.#forgetPictures();
      const { id, job, cells } = this.#waiting.shift()!;
      try {
        for (const picture of picturesOf(job.prompt)) this.#context.checkPicture(picture);
        await this.#place(id, new Answer(this.#request.makers, job, this.#context.contextPerSequence, cells));
      } catch (error) {
        const slot = this.#slots.find((candidate) => candidate.id === id);
        if (slot !== undefined) this.#drop(slot);
        this.#fail(id, error);
      }
      await this.#makeRoom();
    }
  }

  /** Makes room for the next step where all slots share a cache. */
  async #makeRoom(): Promise<void> {
    if (this.#parking === null) return;
    // What is at the end of its window needs no further cell.
    for (const slot of this.#slots) if (!slot.isFree && !slot.isParked) this.#hasRoom(slot);
    await this.#parking.makeRoom();
  }

  /** Does work on a slot's cache during which its client may leave. */
  async #during(slot: Slot, work: () => Promise<void>): Promise<void> {
    this.#switching.add(slot);
    try {
      await work();
    } finally {
      this.#switching.delete(slot);
    }
    if (slot.isCancelled) slot.release();
  }

  /**
   * If a kept state contains clearly more of the prompt than any slot, restores it into the oldest slot.
   * First saves the other conversation in that slot's cache. Both happen between two steps, so other jobs
   * wait.
   */
  async #place(id: number, answer: Answer): Promise<void> {
    const { prompt, job } = answer;
    const isTuned = job.lora !== undefined;
    const isFromStart = job.deterministic || isTuned;
    const { kept } = this.#request;
    const free = this.#slots.filter((slot) => slot.isFree);
    const shares = free.map((slot) => ({
      slot,
      tokens: isFromStart ? 0 : this.#reuse.reusable(slot, prompt),
    }));
    const most = Math.max(...shares.map(({ tokens }) => tokens));
    const found = isFromStart ? null : (kept?.find(prompt, most) ?? null);
    const fork = isFromStart ? 0 : this.#reuse.fork(prompt);
    const { slot, tokens } = choosePlace(shares, prompt.length, found !== null);
    const following = isFromStart ? null : slot.following(prompt);
    if (following !== null) this.#nextTurn.saw(following);
    slot.begin(id, answer, ++this.#arrivals);
    let reused = tokens;
    if (kept !== null) {
      this.#switching.add(slot);
      try {
        const isOther = found !== null || isFromStart;
        const isKept = kept.isWorthKeeping(slot, isOther ? 0 : commonLength(slot.cached, prompt));
        slot.isSwitched = isKept || found !== null;
        if (isKept) await kept.keep(slot);
        if (found !== null) reused = (await this.#restore(found, slot)) ? found.tokens : 0;
      } finally {
        this.#switching.delete(slot);
      }
    }
    slot.isTuned = isTuned;
    this.#reuse.begin(slot, reused, fork);
    if (slot.isCancelled) slot.release();
  }

  /** Keeps the slots' states before the process ends. Nothing may be running. */
  async keepAll(): Promise<void> {
    const { kept } = this.#request;
    if (kept === null || this.#slots.some((slot) => !slot.isFree)) return;
    await this.#running;
    for (const slot of this.#slots) if (kept.isWorthKeeping(slot, 0)) await kept.keep(slot);
  }

  /** Fills a slot from a kept state. Returns false if that failed, or if a shared cache has no room for it. */
  async #restore(found: Found, slot: Slot): Promise<boolean> {
    if (this.#parking !== null) {
      this.#context.truncate(slot.index, 0);
      slot.empty();
      if (!(await this.#parking.clear(found.known.state.tokens.length))) return false;
    }
    return await this.#request.kept!.restore(found, slot);
  }

  async #step(): Promise<void> {
    const planned = this.#plan();
    if (planned.length === 0) return;
    this.#current = planned;
    const { drafts } = this.#request.makers;
    const parts = drafts === null ? planned : await this.#withDrafts(planned, drafts);
    this.#current = parts;
    const { outputs, computed } = await this.#steps.compute(parts);
    this.#current = [];
    for (const [index, part] of parts.entries()) this.#commit(part, outputs[index]!, computed);
  }

  #withDrafts(parts: readonly Part[], { model }: Drafts): Promise<readonly Part[]> {
    const cells = this.#room?.free ?? Number.POSITIVE_INFINITY;
    return withDrafts(parts, { rows: this.#context.capacity, cells }, model);
  }

  #plan(): Part[] {
    const busy = this.#slots.filter(
      (slot) => !slot.isFree && !slot.isPaused && !slot.isParked && this.#hasRoom(slot),
    );
    const prompts = busy.filter((slot) => !slot.isGenerating).sort((a, b) => a.arrived - b.arrived);
    const waiting = new Set(
      prompts.filter((slot, index) => !this.#reuse.hasHead(slot, prompts.slice(0, index))),
    );
    for (const slot of this.#slots) if (!waiting.has(slot)) this.#wantRows(slot);
    const ready = busy.filter((slot) => !waiting.has(slot) && !slot.awaitsRows);
    // They wait for a prompt that waits for rows. Without a mark, the loop would turn until these come. What happened
    // while room was made, such as a client that left, may let them go on: then another turn looks again.
    if (ready.length === 0 && !this.#isWoken)
      for (const slot of this.#slots) if (waiting.has(slot) || slot.isParked) slot.isHeld = true;
    return this.#steps.plan(ready, this.#turns);
  }

  #commit({ slot, tokens, draft }: Part, outputs: readonly number[], computed: Computed): void {
    if (computed === "done") {
      const wasGenerating = slot.isGenerating;
      slot.commit(tokens);
      if (draft !== undefined) {
        this.#judge(slot, draft, outputs);
        return;
      }
      if (slot.isAtStop && !this.#reuse.remember(slot)) {
        this.#commitFailed(slot, new LocallmError("decode_failed", { reason: "a checkpoint was rejected" }));
        return;
      }
      if (slot.isCancelled) this.#release(slot);
      else if (!wasGenerating && slot.isGenerating) this.#begin(slot, outputs);
      else for (const output of outputs) this.#take(slot, output);
    } else if (computed === "aborted") {
      // Another slot's client left: this part is computed again.
      slot.rollBack(this.#reuse.undo(slot));
      if (slot.isCancelled) slot.release();
    } else this.#commitFailed(slot, computed);
  }

  /** Frees a slot whose client has left. */
  #release(slot: Slot): void {
    this.#reuse.settle(slot);
    slot.release();
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

  /**
   * Samples from the outputs of an answer's last token and of the draft after it, as long as the draft is what was
   * sampled. Removes the rest of it from the cache.
   */
  #judge(slot: Slot, draft: readonly number[], outputs: readonly number[]): void {
    const { id, answer, index } = slot;
    const all = slot.cached.length + draft.length;
    if (!slot.isCancelled) {
      answer.judge(draft);
      for (const [at, output] of outputs.entries()) {
        this.#take(slot, output);
        // The answer may have ended.
        if (slot.id !== id || slot.pending[0] !== draft[at]) break;
        slot.commit(1);
      }
    }
    if (slot.cached.length < all && !this.#context.truncate(index, slot.position)) {
      const error = new LocallmError("decode_failed", { reason: "a draft could not be removed" });
      if (slot.id === id) this.#commitFailed(slot, error);
      else slot.empty();
    } else if (slot.isCancelled) this.#release(slot);
  }

  /** Samples the token of an output. */
  #take(slot: Slot, output: number): void {
    const { id, answer } = slot;
    const again = slot.replayed();
    if (again >= 0) {
      slot.push(again);
      return;
    }
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
   * If the window is full, drops the older half of the cells that may be dropped, with all of a picture that would be
   * cut. If this kind of memory cannot do that, the cells after them are computed again. Returns false if it ended the
   * answer instead.
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
    answer.shifted(this.#reuse.cutOut(slot, keep, dropped));
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
