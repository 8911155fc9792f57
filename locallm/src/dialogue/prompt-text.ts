import type { PromptText } from "../wire/inference/generate.ts";

export function promptText(pieces: readonly string[]): PromptText {
  return pieces.length === 1 ? pieces[0]! : { pieces };
}

export function wholeText(prompt: PromptText): string {
  return typeof prompt === "string" ? prompt : prompt.pieces.join("");
}

/** Without its first characters, which are the same text. */
export function withoutStart(prompt: PromptText, start: string): PromptText {
  const [first = "", ...rest] = typeof prompt === "string" ? [prompt] : prompt.pieces;
  return first.startsWith(start) ? promptText([first.slice(start.length), ...rest]) : prompt;
}
