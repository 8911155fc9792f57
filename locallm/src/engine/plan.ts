import type { Slot } from "./slot.ts";

/** What a step computes for one slot: its first `tokens` pending tokens. */
export interface Part<Planned extends Plannable = Slot> {
  readonly slot: Planned;
  readonly tokens: number;
  /** The last `outputs` of them give an output. */
  readonly outputs: number;
}

/** What the plan depends on. */
export type Plannable = Pick<Slot, "index" | "pending" | "isGenerating" | "isAlone" | "arrived" | "served">;

export interface Budget {
  /** Rows in one step. */
  readonly rows: number;
  /** Rows of prompts in a step that also computes answers. */
  readonly sharedPromptRows: number;
  /** The end of a prompt that is computed in a step of its own. */
  readonly tail: Tail;
}

interface Tail {
  readonly tokens: number;
  /** Only if the part has at least this many tokens. */
  readonly from: number;
}

/** Another prompt joins a step only with at least this many tokens, or with all its remaining tokens. */
const leastPart = 32;

/**
 * From 64 rows on, the CPU's flash attention computes differently, and the outputs differ visibly. The last token of a
 * long prompt is therefore computed alone, as it is when the same prompt comes again and all others are cached: else a
 * repeat with a seed would often differ. It costs one row.
 */
export const lastAlone: Tail = { tokens: 1, from: 64 };

/**
 * A cache that cannot be cut is remembered as it is before the prompt's last tokens: these often differ in the next
 * turn, where templates end a prompt with the beginning of an answer.
 */
export const checkpointTail: Tail = { tokens: 16, from: 32 };

/**
 * Plans the next step: one token of each answer and, in the same batch, as many tokens of prompts as the budget
 * allows, the oldest prompt first. A slot that must be alone takes turns with the others.
 */
export function planStep<Planned extends Plannable>(
  slots: readonly Planned[],
  budget: Budget,
): Part<Planned>[] {
  const ready = slots.filter((slot) => slot.pending.length > 0);
  const [first] = ready.toSorted((a, b) => a.served - b.served);
  if (first === undefined) return [];
  const together = first.isAlone ? [first] : ready.filter((slot) => !slot.isAlone);
  const parts: Part<Planned>[] = [];
  let rows = 0;
  const add = (slot: Planned, tokens: number) => {
    rows += tokens;
    parts.push({ slot, tokens, outputs: tokens === slot.pending.length ? 1 : 0 });
  };
  for (const slot of together) if (slot.isGenerating) add(slot, slot.pending.length);
  const limit = rows === 0 ? budget.rows : Math.min(budget.rows, rows + budget.sharedPromptRows);
  const prompts = together.filter((slot) => !slot.isGenerating).sort((a, b) => a.arrived - b.arrived);
  for (const [index, slot] of prompts.entries()) {
    const room = limit - rows;
    const least = index === 0 ? 1 : Math.min(leastPart, slot.pending.length);
    if (room < least) break;
    const hasTail = slot.pending.length <= room && slot.pending.length >= budget.tail.from;
    add(slot, hasTail ? slot.pending.length - budget.tail.tokens : Math.min(room, slot.pending.length));
  }
  // The engine computes sequences together only if their numbers are consecutive.
  return parts.sort((a, b) => a.slot.index - b.slot.index);
}
