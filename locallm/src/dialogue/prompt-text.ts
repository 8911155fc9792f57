import type { PromptText } from "../wire/inference/generate.ts";

export function promptText(pieces: readonly string[]): PromptText {
  return pieces.length === 1 ? pieces[0]! : { pieces };
}

export function wholeText(prompt: PromptText): string {
  return typeof prompt === "string" ? prompt : prompt.pieces.join("");
}

/** Removes `start` if the prompt begins with it. */
export function withoutStart(prompt: PromptText, start: string): PromptText {
  const [first = "", ...rest] = typeof prompt === "string" ? [prompt] : prompt.pieces;
  return first.startsWith(start) ? promptText([first.slice(start.length), ...rest]) : prompt;
}
