import type { Part } from "./plan.ts";

/** From 64 rows on, the flash attention of a processor computes differently; see `plan.ts`. */
export const mostRows = 63;

/**
 * Adds to the answers of a step what may follow in them, in equal shares of the rows and cells that are left. A step
 * with a prompt's rows has none: these come first. `cells` are those that are free in a cache that all slots share.
 */
export function withDrafts(
  parts: readonly Part[],
  limits: { readonly rows: number; readonly cells: number },
): Part[] {
  const isAnswers = parts.every(({ slot, tokens }) => slot.isGenerating && tokens === 1);
  if (!isAnswers) return [...parts];
  const most = Math.min(limits.rows, mostRows, limits.cells);
  let left = most - parts.length;
  return parts.map((part, index) => {
    const share = Math.floor(left / (parts.length - index));
    const { answer, cached } = part.slot;
    // The window ends after the answer's last token and its draft.
    const draft = answer.draft(Math.min(share, answer.window - cached.length - 1));
    left -= draft.length;
    return draft.length === 0 ? part : { ...part, draft };
  });
}
