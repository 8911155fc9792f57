/** What a slot's cache holds, and how it was computed. */
export interface Cached {
  readonly tokens: readonly number[];
  /**
   * Tokens at the head that are bit-equal to a cold prefill: those below `blocks` in big batches, those
   * below `cold` in small ones.
   */
  readonly blocks: number;
  readonly cold: number;
}

/**
 * How a prompt is cut into batches decides the last bits of what the engine computes: on a CPU, flash
 * attention takes another way for 64 rows and more, matrix products another for one row, and packed
 * weights another for what is left over of groups of 4 or 8 rows. So a prompt whose answer must repeat
 * is computed in blocks of 128 and, behind the last of them, in pieces below 64, both on a grid of 8. What
 * is reused was then computed in the same way as if it had not been there.
 */
const blockTokens = 128;
const gridTokens = 8;
const pieceTokens = 56;
const smallTokens = 63;
/** A row alone is computed differently from two. */
const leastTokens = 2;

const floorTo = (value: number, step: number) => Math.max(0, Math.floor(value / step) * step);

/** Where the blocks of a prompt end. */
export function blocksEnd(promptTokens: number): number {
  return floorTo(promptTokens - leastTokens, blockTokens);
}

/** Where the cold tokens end once a prompt is computed on the grid. */
export function coldEnd(promptTokens: number): number {
  return floorTo(promptTokens, gridTokens);
}

/** Where the next batch of a prompt ends. `repeatable`: on the grid. */
export function chunkEnd(from: number, promptTokens: number, limit: number, repeatable: boolean): number {
  if (!repeatable) return Math.min(promptTokens, from + limit);
  const blocks = blocksEnd(promptTokens);
  if (from < blocks) return Math.min(blocks, from + Math.max(blockTokens, floorTo(limit, blockTokens)));
  return promptTokens - from <= smallTokens ? promptTokens : from + pieceTokens;
}

/** How many of the cache's tokens a prompt may take over. At least one is computed, for its logits. */
export function reusable(cached: Cached, prompt: readonly number[], repeatable: boolean): number {
  const common = commonLength(cached.tokens, prompt);
  if (!repeatable) return Math.min(common, prompt.length - 1);
  const cold = Math.min(common, cached.cold);
  const blocks = blocksEnd(prompt.length);
  if (blocks === cached.blocks && cold >= blocks) {
    return Math.min(floorTo(cold, gridTokens), floorTo(prompt.length - leastTokens, gridTokens));
  }
  return floorTo(Math.min(cold, cached.blocks, blocks), blockTokens);
}

/** A slot as another one's prompt sees it. */
export interface Neighbour {
  readonly cached: Cached;
  /** The prompt that is computed there before ours; null: none. */
  readonly ahead: readonly number[] | null;
}

/**
 * Where a prompt gets its head from, of which its own cache has the first `own` tokens: copied from a neighbour,
 * or, once a neighbour that is about to compute more of it has done so, from there. Less than `least` tokens are
 * not worth it.
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
    const there = reusable(neighbour.cached, prompt, false);
    if (there > tokens) {
      tokens = there;
      from = neighbour;
    }
    if (neighbour.ahead !== null) coming = Math.max(coming, commonLength(neighbour.ahead, prompt));
  }
  const had = from === null ? own : tokens;
  if (Math.min(coming, prompt.length - 1) >= had + least) return "wait";
  return from === null ? null : { from, tokens };
}

export function commonLength(a: readonly number[], b: readonly number[]): number {
  const end = Math.min(a.length, b.length);
  let length = 0;
  while (length < end && a[length] === b[length]) length++;
  return length;
}

/** A prompt cut to `room` tokens: its first `keep` and its last. */
export function cutPrompt(prompt: readonly number[], keep: number, room: number): number[] {
  if (prompt.length <= room) return [...prompt];
  const head = Math.min(Math.max(0, keep), room - 1);
  return [...prompt.slice(0, head), ...prompt.slice(prompt.length - (room - head))];
}
