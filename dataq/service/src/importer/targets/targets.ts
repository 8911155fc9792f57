import type { Target } from "../target.ts";
import { hotRanks } from "./hot-ranks.ts";
import { journals } from "./journals.ts";
import { judgments } from "./judgments.ts";
import { keyedTargets } from "./keyed.ts";
import { papers } from "./papers.ts";
import { patents } from "./patents.ts";
import { referenceTargets } from "./reference.ts";
import { scholars } from "./scholars.ts";

/** Everything that is imported row by row. Laws are folded from versions, the lexicon is words: both apart. */
export const targets: readonly Target[] = [
  judgments,
  papers,
  patents,
  journals,
  scholars,
  hotRanks,
  ...keyedTargets,
  ...referenceTargets,
];

export function findTarget(name: string): Target | undefined {
  return targets.find((target) => target.name === name);
}
