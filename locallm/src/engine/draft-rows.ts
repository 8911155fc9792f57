import type { DraftModel } from "./draft-model.ts";
import type { Part } from "./plan.ts";

/** From 64 rows on, the flash attention of a processor computes differently; see `plan.ts`. */
export const mostRows = 63;

/**
 * Adds to the answers of a step what may follow in them, in equal shares of the rows and cells that are left: what the
 * text says, or else what the draft model does. A step with a prompt's rows has none: these come first. `cells` are those
 * that are free in a cache that all slots share.
 */
export async function withDrafts(
  parts: readonly Part[],
  limits: { readonly rows: number; readonly cells: number },
  model: Pick<DraftModel, "guess"> | null,
): Promise<readonly Part[]> {
  const isAnswers = parts.every(({ slot, tokens }) => slot.isGenerating && tokens === 1);
  if (!isAnswers) return parts;
  const most = Math.min(limits.rows, mostRows, limits.cells);
  let left = most - parts.length;
  const shares: number[] = [];
  const drafted = parts.map((part, index) => {
    const share = Math.floor(left / (parts.length - index));
    const { answer, cached } = part.slot;
    // The window ends after the answer's last token and its draft.
    shares[index] = Math.min(share, answer.window - cached.length - 1);
    const draft = answer.draft(shares[index]);
    left -= draft.length > 0 || model === null ? draft.length : share;
    return draft.length === 0 ? part : { ...part, draft };
  });
  if (model === null) return drafted;
  const wishes = drafted.flatMap((part, index) => {
    if (part.draft !== undefined || part.slot.answer.hasPictures) return [];
    const room = part.slot.answer.draftRoom(Math.min(shares[index]!, mostByModel));
    return room === 0 ? [] : [{ index, slot: part.slot, most: room }];
  });
  if (wishes.length === 0) return drafted;
  const guesses = await model.guess(wishes);
  for (const [at, { index }] of wishes.entries())
    if (guesses[at]!.length > 0) drafted[index] = { ...drafted[index]!, draft: guesses[at]! };
  return drafted;
}

/** The most tokens that a draft model guesses at once: each takes a step of its own. */
const mostByModel = 8;
