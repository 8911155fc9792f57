import type { Turn } from "./turn.ts";

export interface DialogueSource {
  readonly template: { readonly language: "go" | "jinja"; readonly text: string };
  /** How the vocabulary writes its first and last token; "" where it has none. */
  readonly bosText: string;
  readonly eosText: string;
}

/** One kind of template with the conversation's conventions around it: a turn in, the whole prompt out. */
export interface Prompter {
  readonly traits: { readonly tools: boolean; readonly insert: boolean };
  /** What ends the model's turn, where the template itself does not come with such a list. */
  readonly stop?: readonly string[];
  /** Throws TemplateError. */
  render(turn: Turn): string;
  /** The prompt that asks for what stands between `prompt` and `suffix`. Throws TemplateError. */
  insert(prompt: string, suffix: string): string;
}
