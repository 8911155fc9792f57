import type { LoadRequest } from "../wire/inference/load.ts";
import type { Drafts } from "./answer.ts";
import type { MemoryKind } from "./context.ts";
import { mostRows } from "./draft-rows.ts";
import { type GuessRule, TextGuesses } from "./guesses.ts";

/** When text that repeats is a guess, and what a row of a guess costs; measured in docs/decisions/0023. */
interface Policy extends GuessRule {
  readonly rowCost: number;
}

const onDevices: Policy = { least: 3, most: 15, rowCost: 0.1 };
/** A row costs nearly half a step, so only long matches are worth it. */
const onProcessor: Policy = { least: 8, most: 15, rowCost: 0.45 };

type DraftedLoad = Pick<LoadRequest, "drafts" | "placement" | "slots">;

/** What guesses the answers of a load with this window. Null if nothing does. */
export function draftsOf(request: DraftedLoad, memory: MemoryKind, window: number): Drafts | null {
  const policy = policyOf(request, memory, window);
  if (policy === null) return null;
  return { rowCost: policy.rowCost, guess: (prompt) => new TextGuesses(prompt, policy) };
}

/** The most outputs of one step: one for each slot, and one for each guess. */
export function outputsOf(request: DraftedLoad, memory: MemoryKind, window: number): number {
  const policy = policyOf(request, memory, window);
  const { slots } = request;
  return policy === null ? slots : Math.max(slots, Math.min(slots * (1 + policy.most), mostRows));
}

function policyOf({ drafts, placement }: DraftedLoad, memory: MemoryKind, window: number): Policy | null {
  const isOnDevice = placement.devices.length > 0;
  if (drafts !== "on" && !(drafts === "auto" && isOnDevice)) return null;
  const { hasState, slidingWindow } = memory;
  // Wrong guesses must leave no trace. Layers with a sliding window give cells to guesses that other tokens still need.
  if (hasState || (slidingWindow > 0 && slidingWindow < window)) return null;
  return isOnDevice ? onDevices : onProcessor;
}
