import {
  countedChars,
  type Prompt,
  type PromptPart,
  type PromptText,
  promptChars,
} from "../wire/inference/generate.ts";
import { isPicture } from "../wire/inference/picture.ts";
import type { Pictures } from "./pictures.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The cells of a prompt's beginning and end. */
export interface PromptEnds {
  readonly cells: readonly number[];
  /** The estimated number of cells in the middle, which is not in `cells`. */
  readonly skippedTokens: number;
}

/** The number of characters at the start of a slice whose tokens may differ from those of the whole text. */
const slackChars = 4096;

/**
 * Tokenizes the first `head` and the last `tail` tokens of a long prompt whose middle will be cut, so that a
 * small window does not require tokenizing megabytes of text. A picture that does not fit into the beginning is left
 * out. Returns null if tokenizing the whole prompt is no more work.
 */
export async function encodeEnds(
  vocabulary: Pick<Vocabulary, "tokenizeAside" | "encodePromptAside">,
  prompt: Prompt,
  pictures: Pictures,
  { head, tail }: { readonly head: number; readonly tail: number },
  signal?: AbortSignal,
): Promise<PromptEnds | null> {
  const parts = isText(prompt) ? [prompt] : prompt;
  const last = parts.at(-1);
  if (last === undefined || typeof last === "number" || !isText(last)) return null;
  const chars = promptChars(last);
  if (chars <= countedChars) return null;
  const options = { addSpecial: parts.length === 1, parseSpecial: true };
  for (let taken = Math.max(tail * 4, 16_384); taken < chars / 2; taken *= 2) {
    const ids = await vocabulary.tokenizeAside(endOf(last, taken + slackChars), options, signal);
    const perChar = ids.length / (taken + slackChars);
    if (ids.length - Math.ceil(perChar * slackChars) < tail) continue;
    const first = await vocabulary.encodePromptAside(prompt, pictures, head + 64, signal);
    const kept = pictures.borderBefore(first, Math.min(head, first.length));
    const whole = earlierTokens(parts) + Math.round(chars * perChar);
    return {
      cells: [...first.slice(0, kept), ...ids.slice(-tail)],
      skippedTokens: Math.max(0, whole - kept - tail),
    };
  }
  return null;
}

function isText(part: Prompt | PromptPart): part is PromptText {
  return typeof part === "string" || "pieces" in part;
}

/** Counts the token ids and the cells of pictures in the parts before the last one. Does not count texts there. */
function earlierTokens(parts: readonly (number | PromptPart)[]): number {
  return parts.slice(0, -1).reduce<number>((sum, part) => {
    if (isPicture(part)) return sum + part.cells;
    return sum + (typeof part === "object" && "length" in part ? part.length : 0);
  }, 0);
}

/** Returns the last `chars` characters and the borders inside them. */
function endOf(text: PromptText, chars: number): PromptText {
  if (typeof text === "string") return text.slice(-chars).toWellFormed();
  const pieces: string[] = [];
  let left = chars;
  for (const piece of text.pieces.toReversed()) {
    if (left <= 0) break;
    pieces.unshift(piece.slice(-left));
    left -= piece.length;
  }
  return { pieces };
}
