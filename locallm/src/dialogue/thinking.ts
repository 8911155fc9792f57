import type { DialogueSource } from "./dialogue.ts";

/** The marks that a model puts around its thinking. */
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

/** The tags that a template speaks of, or null for a model that does not think. */
export function findThinking({ text }: DialogueSource["template"]): ThinkingTags | null {
  return knownTags.find(({ open, close }) => text.includes(open) || text.includes(close)) ?? null;
}
