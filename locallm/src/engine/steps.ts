import { LocallmError } from "../wire/errors.ts";
import type { Adapters } from "./adapters.ts";
import type { Context } from "./context.ts";
import { type Pictures, positionInPicture } from "./pictures.ts";
import { type Part, planStep } from "./plan.ts";
import type { RowCost } from "./row-cost.ts";
import type { Slot } from "./slot.ts";
import type { Threads } from "./threads.ts";

export interface StepsRequest {
  readonly context: Pick<
    Context,
    "batch" | "capacity" | "sharedCells" | "useThreads" | "useCausal" | "step" | "stepAside"
  >;
  readonly pictures: Pictures;
  readonly threads: Threads;
  readonly adapters: Pick<Adapters, "use">;
  /** Learns what guesses cost. Null if nothing is guessed, or if it is not measured. */
  readonly rowCost: Pick<RowCost, "saw"> | null;
  /** Nanoseconds since an arbitrary fixed time. */
  readonly now: () => number;
}

/** A prompt may lengthen a step that also computes answers by about this much, if no other one waits. */
const sharedPromptNs = 100e6;
/** Several prompts may lengthen it by about this much. */
const mostSharedPromptNs = 1e9;
const leastPromptRows = 32;
/** A step of prompt rows takes about this long while numbers of threads are compared. */
const measuredPromptNs = 150e6;
/**
 * From 64 rows on, the flash attention of a processor computes all rows with all cells that any of them sees: if the
 * slots share a cache, that is what all of them hold.
 */
const answersOfSharedCache = 63;
/** Steps slower than this are computed on another thread, so that the process still reads its messages. */
const slowStepNs = 500e6;
/** How a step ended. */
export type Computed = "done" | "aborted" | LocallmError;

/** What the next step computes, and how: its rows, its number of threads, and on which thread it runs. */
export class Steps {
  readonly #request: StepsRequest;
  #promptTokenNs = 4e6;
  /** The duration of the last small step. Infinite until the first one. */
  #stepNs = Number.POSITIVE_INFINITY;

  constructor(request: StepsRequest) {
    this.#request = request;
  }

  /** Plans a step for slots that are ready. Records that it serves them at this `turn`. */
  plan(ready: readonly Slot[], turn: number): Part[] {
    const { context, threads } = this.#request;
    const parts = planStep(ready, {
      rows: context.capacity,
      promptRows: threads.measuresPrompts ? this.#rowsIn(measuredPromptNs) : context.capacity,
      sharedPromptRows: this.#rowsIn(sharedPromptNs),
      mostSharedPromptRows: this.#rowsIn(mostSharedPromptNs),
      mostAnswers: context.sharedCells === null ? null : answersOfSharedCache,
    });
    const [first] = parts;
    const computed = new Set(parts.map(({ slot }) => slot));
    const { isGenerating: isOfAnswers = false } = first?.slot ?? {};
    for (const slot of ready) {
      if (first?.slot.isAlone ? slot !== first.slot : slot.isAlone || slot.kind !== first?.slot.kind)
        continue;
      // Not all answers may be in a step, and in a shared cache no prompts are beside them.
      const isServed =
        context.sharedCells === null || computed.has(slot) || (!slot.isGenerating && !isOfAnswers);
      if (isServed) slot.served = turn;
    }
    return parts;
  }

  /** Computes the parts. Returns the rows of each part that have an output, and how the step ended. */
  async compute(parts: readonly Part[]): Promise<{ outputs: readonly number[][]; computed: Computed }> {
    const { context, threads, adapters, now } = this.#request;
    const outputs = this.#fill(parts);
    const { rows } = context.batch;
    const beginNs = now();
    // The number of threads affects the last bits in long contexts.
    const { isAlone } = parts[0]!.slot;
    const drafted = parts.reduce((sum, { draft }) => sum + (draft?.length ?? 0), 0);
    const kind = rows - drafted === parts.length ? "answers" : "prompts";
    adapters.use(parts[0]!.slot.answer.job.lora);
    context.useCausal(parts[0]!.slot.kind !== "whole picture");
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
    const endNs = now();
    // The time of a drafted step says nothing of one with a row for each answer.
    if (!isAlone) threads.end(endNs / 1e6, computed === "done" && drafted === 0 ? rows : 0);
    if (computed === "done") {
      if (kind === "answers" && !isAlone)
        this.#request.rowCost?.saw({ answers: parts.length, guessed: drafted, ns: endNs - beginNs });
      if (rows >= 16) this.#promptTokenNs = (endNs - beginNs) / rows;
      // A small step takes at most this long, so this is an upper bound.
      this.#stepNs = kind === "answers" ? endNs - beginNs : Math.min(this.#stepNs, endNs - beginNs);
    }
    return { outputs, computed };
  }

  /**
   * Computes tokens that follow what a slot's cache holds, on another thread. Nothing else may run. Returns null if
   * the step failed.
   */
  async computeAhead(slot: Slot, tokens: readonly number[]): Promise<"done" | "aborted" | null> {
    const { context, threads, adapters, now } = this.#request;
    const from = slot.position;
    context.batch.clear();
    for (const [at, token] of tokens.entries()) context.batch.add(token, from + at, slot.index, false);
    adapters.use(undefined);
    context.useCausal(true);
    context.useThreads(threads.begin(now() / 1e6, "prompts"));
    const outcome = await context.stepAside().catch(() => "no_room" as const);
    threads.end(now() / 1e6, 0);
    return outcome === "no_room" ? null : outcome;
  }

  /** Fills the batch. Returns the rows of each part that have an output. */
  #fill(parts: readonly Part[]): number[][] {
    const { batch } = this.#request.context;
    batch.clear();
    return parts.map((part) => {
      const { slot, tokens, outputs, draft } = part;
      if (slot.kind !== "token") return this.#fillPicture(part);
      const from = slot.position;
      const rows: number[] = [];
      for (let at = 0; at < tokens; at++) {
        const isOutput = at >= tokens - outputs;
        const row = batch.add(slot.pending[at]!, from + at, slot.index, isOutput);
        if (isOutput) rows.push(row);
      }
      if (draft !== undefined)
        for (const [at, token] of draft.entries())
          rows.push(batch.add(token, from + tokens + at, slot.index, true));
      return rows;
    });
  }

  #fillPicture({ slot, tokens, outputs }: Part): number[] {
    const { context, pictures } = this.#request;
    const cell = slot.pending[0]!;
    const picture = pictures.of(cell);
    const rows = slot.answer.rowsOf(cell);
    const length = rows.length / picture.cells;
    const done = slot.inPicture;
    const first = slot.positionOf(slot.cached.length - done);
    const outputRows: number[] = [];
    for (let at = done; at < done + tokens; at++) {
      const isOutput = at >= done + tokens - outputs;
      const numbers = rows.subarray(at * length, (at + 1) * length);
      const position = positionInPicture(picture, first, at);
      const row = context.batch.addRow(numbers, position, slot.index, isOutput);
      if (isOutput) outputRows.push(row);
    }
    return outputRows;
  }

  /** How many prompt rows take about this long. */
  #rowsIn(ns: number): number {
    return Math.max(leastPromptRows, Math.floor(ns / this.#promptTokenNs / 8) * 8);
  }
}

export function decodeFailure(error: unknown): LocallmError {
  if (error instanceof LocallmError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new LocallmError("decode_failed", { reason }, { cause: error });
}
