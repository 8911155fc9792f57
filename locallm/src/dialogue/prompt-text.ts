import type { PromptText } from "../wire/inference/generate.ts";

/** Where a picture or sound stands in a prompt: its number among those of the turn. */
export interface PicturePlace {
  readonly picture: number;
}

/** The prompt of a turn with pictures. Each text is tokenized on its own. */
export interface PicturedText {
  readonly parts: readonly (PromptText | PicturePlace)[];
}

/** The prompt of a turn, before its pictures are put into their places. */
export type TurnPrompt = PromptText | PicturedText;

export function isPictured(prompt: TurnPrompt): prompt is PicturedText {
  return typeof prompt !== "string" && "parts" in prompt;
}

export function isPlace(part: PromptText | PicturePlace): part is PicturePlace {
  return typeof part !== "string" && "picture" in part;
}

export function promptText(pieces: readonly string[]): PromptText {
  return pieces.length === 1 ? pieces[0]! : { pieces };
}

/** All text of a prompt, without its pictures. */
export function wholeText(prompt: TurnPrompt): string {
  if (isPictured(prompt)) return prompt.parts.map((part) => (isPlace(part) ? "" : wholeText(part))).join("");
  return typeof prompt === "string" ? prompt : prompt.pieces.join("");
}

/** Removes `start` if the prompt begins with it. */
export function withoutStart<Prompt extends TurnPrompt>(prompt: Prompt, start: string): Prompt;
export function withoutStart(prompt: TurnPrompt, start: string): TurnPrompt {
  if (!isPictured(prompt)) return textWithoutStart(prompt, start);
  const [first, ...rest] = prompt.parts;
  if (first === undefined || isPlace(first)) return prompt;
  return { parts: [textWithoutStart(first, start), ...rest] };
}

function textWithoutStart(prompt: PromptText, start: string): PromptText {
  const [first = "", ...rest] = typeof prompt === "string" ? [prompt] : prompt.pieces;
  return first.startsWith(start) ? promptText([first.slice(start.length), ...rest]) : prompt;
}
