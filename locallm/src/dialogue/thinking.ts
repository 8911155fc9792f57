import { TemplateError } from "../template/limits.ts";
import type { Prompter } from "./prompter.ts";
import { type Message, plainTurn } from "./turn.ts";

/** The tags that a model writes around its thinking. */
export interface ThinkingTags {
  readonly open: string;
  readonly close: string;
}

const knownTags: readonly ThinkingTags[] = [
  { open: "<think>", close: "</think>" },
  { open: "<|START_THINKING|>", close: "<|END_THINKING|>" },
  { open: "[THINK]", close: "[/THINK]" },
  { open: "<seed:think>", close: "</seed:think>" },
  { open: "<thinking>", close: "</thinking>" },
  { open: "<thought>", close: "</thought>" },
];

/**
 * Returns the tags that a template contains, or that it prints around a message's thinking. Returns null for
 * a model that does not think.
 */
export function findThinking(text: string, prompter: Pick<Prompter, "render">): ThinkingTags | null {
  const known = knownTags.find(({ open, close }) => text.includes(open) || text.includes(close));
  return known ?? (/thinking|reasoning/i.test(text) ? probe(prompter) : null);
}

/** Renders a message with and without a thought. The tags are the text that is added around the thought. */
function probe({ render }: Pick<Prompter, "render">): ThinkingTags | null {
  const question: Message = { role: "user", content: "probe-question" };
  const answer: Message = { role: "assistant", content: "probe-answer" };
  const thought = "probe-thought";
  for (const think of [null, true]) {
    try {
      const without = render(plainTurn([question, answer], { think }));
      const text = render(plainTurn([question, { ...answer, thinking: thought }], { think }));
      const at = text.indexOf(thought);
      const open = /(<[^<>\s]{1,40}>|\[[A-Z_:]{1,40}\])\s*$/.exec(text.slice(0, Math.max(at, 0)))?.[1];
      const close = /^\s*(<[^<>\s]{1,40}>|\[\/[A-Z_:]{1,40}\])/.exec(text.slice(at + thought.length))?.[1];
      if (at === -1 || open === undefined || close === undefined) continue;
      if (!without.includes(open) && !without.includes(close)) return { open, close };
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
    }
  }
  return null;
}
