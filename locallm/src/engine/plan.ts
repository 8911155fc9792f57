import type { Slot } from "./slot.ts";

/** What a step computes for one slot: its first `tokens` pending cells, which are of one kind. */
export interface Part<Planned extends Plannable = Slot> {
  readonly slot: Planned;
  readonly tokens: number;
  /** The last `outputs` of these tokens produce an output. */
  readonly outputs: number;
  /** Tokens that may follow the pending ones of an answer. They produce outputs, too. Missing if there are none. */
  readonly draft?: readonly number[];
}

/** The properties of a slot that the plan depends on. */
export type Plannable = Pick<
  Slot,
  "index" | "pending" | "kind" | "untilStop" | "isGenerating" | "isAlone" | "arrived" | "served"
>;

export interface Budget {
  /** The maximum number of rows in one step. A picture that one step must compute has at most as many cells. */
  readonly rows: number;
  /** The maximum number of prompt rows in a step without answers. Does not apply to a slot that runs alone. */
  readonly promptRows: number;
  /** The maximum number of rows of one prompt in a step that also computes answers, if these have not more rows. */
  readonly sharedPromptRows: number;
  /** The same for several prompts together, if it is not less than `mostPromptShare` for each answer. */
  readonly mostSharedPromptRows: number;
  /**
   * The maximum number of answers in one step, which then has no rows of prompts. Null if there is no limit, and steps
   * have both.
   */
  readonly mostAnswers: number | null;
}

/** The prompts of a step that also computes answers have at most this many rows for each answer. */
const mostPromptShare = 4;

/** The minimum number of tokens with which another prompt joins a step, unless fewer remain. */
const leastPart = 32;

/**
 * With 64 or more rows, the CPU's flash attention computes differently, and the outputs differ visibly. If
 * the same prompt is repeated, only its last token is computed, because the others are cached. So the last
 * token is computed alone if its step would have this many rows. Otherwise a repeated request with a seed would
 * often give a different answer. This costs one row.
 */
const lastAloneFrom = 64;

/**
 * Plans the next step: one token of each answer and, in the same batch, as many prompt tokens as the budget
 * allows. The oldest prompt goes first. A slot that must run alone alternates with the others. So do steps of pictures
 * with those of tokens, because the engine takes either.
 */
export function planStep<Planned extends Plannable>(
  slots: readonly Planned[],
  budget: Budget,
): Part<Planned>[] {
  const ready = slots.filter((slot) => slot.pending.length > 0);
  const [first] = ready.toSorted((a, b) => a.served - b.served);
  if (first === undefined) return [];
  const { kind } = first;
  const together = first.isAlone ? [first] : ready.filter((slot) => !slot.isAlone && slot.kind === kind);
  const awaited = ready.filter((slot) => slot.isGenerating && !slot.isAlone).length;
  const parts: Part<Planned>[] = [];
  let rows = 0;
  const add = (slot: Planned, tokens: number) => {
    rows += tokens;
    parts.push({ slot, tokens, outputs: tokens === slot.pending.length ? 1 : 0 });
  };
  const answers = together.filter((slot) => slot.isGenerating);
  const { mostAnswers } = budget;
  if (mostAnswers !== null && first.isGenerating) {
    // Pieces of the same size, and those first that have waited longest.
    const count = Math.ceil(answers.length / Math.ceil(answers.length / mostAnswers));
    for (const slot of answers.sort((a, b) => a.served - b.served).slice(0, count))
      add(slot, slot.pending.length);
    return parts.sort((a, b) => a.slot.index - b.slot.index);
  }
  if (mostAnswers === null) for (const slot of answers) add(slot, slot.pending.length);
  const prompts = together.filter((slot) => !slot.isGenerating).sort((a, b) => a.arrived - b.arrived);
  const promptRows = awaited === 0 ? budget.promptRows : sharedRows(budget, prompts.length, awaited);
  const limit = first.isAlone ? budget.rows : Math.min(budget.rows, rows + promptRows);
  for (const [index, slot] of prompts.entries()) {
    if (kind === "whole picture") {
      // The engine cuts a step where one of its sequences ends, so it has no other one.
      add(slot, slot.untilStop);
      break;
    }
    const room = limit - rows;
    const least = index === 0 ? 1 : Math.min(leastPart, slot.pending.length);
    if (room < least) break;
    const tokens = Math.min(room, slot.untilStop);
    const isLast = kind === "token" && tokens === slot.pending.length && tokens >= lastAloneFrom;
    add(slot, isLast ? tokens - 1 : tokens);
  }
  // The engine computes sequences together only if their numbers are consecutive.
  return parts.sort((a, b) => a.slot.index - b.slot.index);
}

/**
 * How many prompt rows a step may have beside answers. Where one prompt waits, it holds them up little. Where several
 * do, they get more than as much each: of streams that arrive together, the last one would otherwise wait for the answers
 * of all others.
 */
function sharedRows(budget: Budget, prompts: number, answers: number): number {
  const all = prompts ** 2 * Math.max(budget.sharedPromptRows, answers);
  return Math.min(all, Math.max(budget.mostSharedPromptRows, answers * mostPromptShare));
}
