import type { CountedPrompt, PicturedTokens } from "../dialogue/fit.ts";
import { isPictured, isPlace, type TurnPrompt } from "../dialogue/prompt-text.ts";
import { type Turn, withPlaces } from "../dialogue/turn.ts";
import type { LoadedVocabulary } from "../scheduler/lease.ts";
import type { PictureParts } from "../vision/vision.ts";
import type { PromptText } from "../wire/inference/generate.ts";
import { isPicture } from "../wire/inference/picture.ts";
import type { LocalRun } from "./run.ts";

/** A turn whose images and sounds have left their places, and what stands in these places. */
export interface SeenTurn {
  readonly turn: Turn;
  readonly pictures: readonly PictureParts[];
}

/** Encodes a turn's images and sounds one after the other, so that other requests get their turn between them. */
export async function seenTurn(run: LocalRun, asked: Turn): Promise<SeenTurn> {
  const { turn, media } = withPlaces(asked);
  const pictures: PictureParts[] = [];
  for (const medium of media) pictures.push(await run.perceive(medium));
  return { turn, pictures };
}

/** Tokenizes a prompt for a loaded model, and puts its pictures into their places. */
export async function seenPrompt(
  prompt: TurnPrompt,
  pictures: readonly PictureParts[],
  { runner }: Pick<LoadedVocabulary, "runner">,
  { limit, signal }: { readonly limit: number | null; readonly signal: AbortSignal },
): Promise<CountedPrompt> {
  const options = { parseSpecial: true, ...(limit === null ? {} : { limit }) };
  const tokenize = (text: PromptText, addSpecial: boolean) =>
    runner.tokenize(text, { ...options, addSpecial }, signal);
  if (!isPictured(prompt)) return await tokenize(prompt, true);
  const { parts } = prompt;
  const first = parts[0];
  // The first token stands before a picture, too.
  const all: PictureParts[] = first !== undefined && isPlace(first) ? [[await tokenize("", true)]] : [];
  for (const [index, part] of parts.entries())
    all.push(isPlace(part) ? (pictures[part.picture] ?? []) : [await tokenize(part, index === 0)]);
  return withLength(all.flat());
}

function withLength(parts: PictureParts): PicturedTokens {
  const length = parts.reduce((sum, part) => sum + (isPicture(part) ? part.cells : part.length), 0);
  return { length, parts };
}
