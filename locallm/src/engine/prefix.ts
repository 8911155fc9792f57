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
}

/**
 * Finds the neighbour whose cache has most of the prompt's beginning. The prompt's own cache has the first
 * `own` tokens. Returns `wait` if a neighbour is about to compute more of it. Does not copy fewer than
 * `least` additional tokens.
 */
export function headFrom<Slot extends Neighbour>(
  prompt: readonly number[],
  own: number,
  neighbours: readonly Slot[],
  least: number,
): { readonly from: Slot; readonly tokens: number } | "wait" | null {
  let tokens = own + least - 1;
  let from: Slot | null = null;
  let coming = 0;
  for (const neighbour of neighbours) {
    const found = reusable(neighbour.cached, prompt);
    if (found > tokens) {
      tokens = found;
      from = neighbour;
    }
    if (neighbour.ahead !== null) coming = Math.max(coming, commonLength(neighbour.ahead, prompt));
  }
  const had = from === null ? own : tokens;
  if (Math.min(coming, prompt.length - 1) >= had + least) return "wait";
  return from === null ? null : { from, tokens };
}

export function commonLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const end = Math.min(a.length, b.length);
  let length = 0;
  while (length < end && a[length] === b[length]) length++;
  return length;
}

/** Cuts a prompt to `room` tokens: its first `keep` tokens and its last ones. */
export function cutPrompt(prompt: readonly number[], keep: number, room: number): number[] {
  if (prompt.length <= room) return [...prompt];
  const head = Math.min(Math.max(0, keep), room - 1);
  return [...prompt.slice(0, head), ...prompt.slice(prompt.length - (room - head))];
}
