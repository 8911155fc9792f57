import type { LoadRequest } from "../wire/inference/load.ts";
import type { MemoryKind } from "./context.ts";
import { mostRows } from "./draft-rows.ts";
import type { GuessRule } from "./guesses.ts";

/** When text that repeats is a guess, and what a row of a guess costs; measured in docs/decisions/0023. */
export interface DraftPolicy extends GuessRule {
  readonly rowCost: number;
  /** Whether what a row costs is measured while answers are computed. */
  readonly isMeasured: boolean;
}

/** Rows are cheap, and a repeat should be guessed in the same places. */
const onDevices: DraftPolicy = { least: 3, most: 15, rowCost: 0.1, isMeasured: false };
/** A row costs half a step to nearly a whole one, so only long matches are worth it. */
const onProcessor: DraftPolicy = { least: 8, most: 15, rowCost: 0.6, isMeasured: true };

type DraftedLoad = Pick<LoadRequest, "drafts" | "placement" | "slots">;

/** How the answers of a load with this window are guessed. Null if they are not. */
export function draftPolicy(
  { drafts, placement }: DraftedLoad,
  memory: MemoryKind,
  window: number,
): DraftPolicy | null {
  const isOnDevice = placement.devices.length > 0;
  if (drafts !== "on" && !(drafts === "auto" && isOnDevice)) return null;
  // Wrong guesses must leave no trace.
  if (!canTakeBack(memory, window)) return null;
  return isOnDevice ? onDevices : onProcessor;
}

/**
 * Whether the last tokens of a sequence can be removed wherever it ends. Layers with a sliding window give cells to
 * guesses that other tokens still need.
 */
export function canTakeBack({ hasState, slidingWindow }: MemoryKind, window: number): boolean {
  return !hasState && (slidingWindow === 0 || slidingWindow >= window);
}

/** The most outputs of one step: one for each slot, and one for each guess. */
export function outputsOf(request: DraftedLoad, memory: MemoryKind, window: number): number {
  const policy = draftPolicy(request, memory, window);
  const { slots } = request;
  return policy === null ? slots : Math.max(slots, Math.min(slots * (1 + policy.most), mostRows));
}
