import type { Pictures } from "./pictures.ts";

/**
 * Returns how many cached tokens a prompt can reuse. The prompt's last token is always computed, because its
 * output is needed.
 */
export function reusable(cached: readonly number[], prompt: readonly number[]): number {
  return Math.min(commonLength(cached, prompt), prompt.length - 1);
}

/** Another slot whose cache a prompt may copy. */
export interface Neighbour {
  readonly cached: readonly number[];
  /** The prompt that this slot will compute before ours. Null if there is none. */
  readonly ahead: readonly number[] | null;
  /** To how many of its first tokens a copy of its cache can be cut, at most `tokens`. */
  cuttable(tokens: number): number;
}

/** The neighbour whose cache has, or will have, the prompt's first `tokens`. */
export interface Head<Slot> {
  readonly from: Slot;
  readonly tokens: number;
  /** Whether the neighbour has yet to compute them. */
  readonly isAhead: boolean;
}

/**
 * Finds the neighbour whose cache has most of the prompt's beginning, or is about to have more of it. The prompt's own
 * cache has the first `own` tokens. Returns null if no neighbour has at least `least` more. `border` is to how many of its
 * first tokens, at most so many, the prompt can be cut.
 */
export function headFrom<Slot extends Neighbour>(
  prompt: readonly number[],
  own: number,
  neighbours: readonly Slot[],
  least: number,
  border = (tokens: number) => tokens,
): Head<Slot> | null {
  let had: Head<Slot> | null = null;
  let coming: Head<Slot> | null = null;
  for (const neighbour of neighbours) {
    const { cached, ahead } = neighbour;
    const common = reusable(cached, prompt);
    const most: number = had?.tokens ?? own + least - 1;
    const tokens = common > most ? neighbour.cuttable(common) : 0;
    if (tokens > most) had = { from: neighbour, tokens, isAhead: false };
    // If its cache already differs from the prompt, nothing more is coming.
    if (ahead === null || common < cached.length) continue;
    const soon = border(reusable(ahead, prompt));
    if (soon > (coming?.tokens ?? 0)) coming = { from: neighbour, tokens: soon, isAhead: true };
  }
  return coming !== null && coming.tokens >= (had?.tokens ?? own) + least ? coming : had;
}

export function commonLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const end = Math.min(a.length, b.length);
  let length = 0;
  while (length < end && a[length] === b[length]) length++;
  return length;
}

/**
 * Cuts a prompt to at most `room` cells: its first `keep` cells and its last ones, without pictures that would be cut.
 * Returns null if nothing of its end is left.
 */
export function cutPrompt(
  prompt: readonly number[],
  keep: number,
  room: number,
  pictures: Pictures,
): number[] | null {
  if (prompt.length <= room) return [...prompt];
  const head = pictures.borderBefore(prompt, Math.min(Math.max(0, keep), room - 1));
  const tail = pictures.borderAfter(prompt, prompt.length - (room - head));
  return tail === prompt.length ? null : [...prompt.slice(0, head), ...prompt.slice(tail)];
}
