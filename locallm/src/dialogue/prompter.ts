import type { Turn } from "./turn.ts";

export interface DialogueSource {
  readonly template: { readonly language: "go" | "jinja"; readonly text: string };
  /** The texts of the vocabulary's first and last token, or "" if it has none. */
  readonly bosText: string;
  readonly eosText: string;
  /** The texts of the vocabulary's tokens for writing between two texts. Used if the template has no place for a suffix. */
  readonly infill?: { readonly prefix: string; readonly suffix: string; readonly middle: string } | null;
}

/** Renders whole prompts with one template, by the conventions of its language. */
export interface Prompter {
  readonly traits: { readonly tools: boolean; readonly insert: boolean };
  /** Stop strings that end the model's turn. */
  readonly stop?: readonly string[];
  /** Throws TemplateError. */
  render(turn: Turn): string;
  /** Returns the prompt that asks for the text between `prompt` and `suffix`. Throws TemplateError. */
  insert(prompt: string, suffix: string): string;
}
