import type { Choice, Needs, PlacementWish } from "../gpu/placement.ts";
import type { RunnableModel } from "./lease.ts";
import type { MeasuredLoad } from "./memory-needs.ts";
import type { SchedulerParts, SchedulerSettings } from "./parts.ts";

/** How the slots of a model hold what they have read, with the memory that this needs and where it is. */
export interface Fit {
  /** The tokens of the cache that all slots share. Undefined: each has a window of its own. */
  readonly cells: number | undefined;
  readonly needs: Needs;
  readonly choice: Choice;
}

export interface Fitting {
  readonly model: RunnableModel;
  readonly load: Pick<MeasuredLoad, "numCtx" | "numBatch"> & PlacementWish;
  /** Whether there is room for a choice. */
  fits(choice: Choice): boolean;
}

/** Slots that share a cache have a window together, and each but one has this share of a window besides. */
const shareOfWindow = 1 / 4;

/**
 * Finds how the slots can have this window. Windows of their own come first: steps of many answers are faster with them
 * (docs/decisions/0020). Where these do not fit, or would keep layers off a GPU, the slots share a cache. If `isCramped`,
 * it may be as small as one window. Returns the last way that was tried if none fits.
 */
export async function fitSlots(
  settings: SchedulerSettings,
  parts: SchedulerParts,
  { model, load, fits }: Fitting,
  isCramped: boolean,
): Promise<Fit & { readonly fits: boolean }> {
  const { slots, kvCacheType, flashAttention, drafts } = settings;
  let best: Fit | null = null;
  for (const cells of cacheSizes(settings, load.numCtx, isCramped)) {
    const { numCtx, numBatch } = load;
    const shared = cells === undefined ? {} : { cells };
    const asked = { numCtx, numBatch, slots, kvCacheType, flashAttention, drafts, ...shared };
    const needs = await parts.needs(model, asked);
    // The model's kind of memory cannot be shared.
    if (best !== null && needs.total >= best.needs.total) break;
    const choice = await parts.place(needs, load);
    const isBetter = best === null || !fits(best.choice) || !choice.isCut;
    if (isBetter) best = { cells, needs, choice };
    if (fits(choice) && !choice.isCut) break;
  }
  return { ...best!, fits: fits(best!.choice) };
}

/** The sizes to try, in this order. */
function cacheSizes(
  { slots, sharedCache }: SchedulerSettings,
  numCtx: number,
  isCramped: boolean,
): (number | undefined)[] {
  if (slots === 1 || sharedCache === "off") return [undefined];
  const further = Math.ceil(numCtx * shareOfWindow) * (slots - 1);
  const cramped = isCramped ? [numCtx + Math.ceil(further / 4), numCtx] : [];
  const sizes = [numCtx + further, ...cramped];
  return sharedCache === "on" ? sizes : [undefined, ...sizes];
}
