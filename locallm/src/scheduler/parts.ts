import type { Choice, Needs, PlacementWish } from "../gpu/placement.ts";
import type { StartRunner } from "../runner/handle.ts";
import type { Clock } from "./clock.ts";
import type { Decision, RunnableModel } from "./lease.ts";
import type { MeasuredLoad } from "./memory-needs.ts";

export interface SchedulerSettings {
  /** Parallel places of each loaded model. */
  readonly slots: number;
  readonly maxLoadedModels: number;
  readonly maxQueue: number;
  /** A load without progress for so long is given up. */
  readonly loadTimeoutMs: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvCacheType: "f16" | "q8_0" | "q4_0";
  /** Added to every runner's environment. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What the scheduler works with, so that tests can put their own in. */
export interface SchedulerParts {
  readonly clock: Clock;
  readonly startRunner: StartRunner;
  /** The memory that a load would take, piece by piece. Throws what is wrong with the file. */
  readonly needs: (model: RunnableModel, load: MeasuredLoad) => Promise<Needs>;
  /** Where a model that takes so much is to compute, by the memory that is free there now. */
  readonly place: (needs: Needs, wish: PlacementWish) => Promise<Choice>;
  /** The processor's memory that may still be taken, in bytes. */
  readonly availableBytes: () => number;
  readonly onDecision?: (decision: Decision) => void;
  readonly onLog?: (model: string, line: string) => void;
}
