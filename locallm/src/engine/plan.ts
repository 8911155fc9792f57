import type { Slot } from "./slot.ts";

/** What a step computes for one slot: so many of its pending tokens. */
export interface Part<Planned extends Plannable = Slot> {
  readonly slot: Planned;
  readonly tokens: number;
  /** So many of the last tokens give an output. */
  readonly outputs: number;
}

/** What a plan looks at. */
export type Plannable = Pick<Slot, "index" | "pending" | "isGenerating" | "isAlone" | "arrived" | "served">;

export interface Budget {
  /** Rows of one step. */
  readonly rows: number;
  /** Rows of prompts in a step that others wait for with their answers. */
  readonly sharedPromptRows: number;
}

/** A prompt joins the prompts of others only with at least so many tokens, or with all that it has left. */
const leastPart = 32;

/**
 * The next step: one token of each answer and, in the same batch, as much of the waiting prompts as the budget
 * allows, the oldest first. A slot that must be alone has steps of its own, in turn with the others.
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
    add(slot, Math.min(room, slot.pending.length));
  }
  // The engine computes rows of neighbouring sequences together, and others one after the other.
  return parts.sort((a, b) => a.slot.index - b.slot.index);
}
