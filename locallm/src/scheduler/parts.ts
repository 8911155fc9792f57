import type { Choice, Needs, PlacementWish } from "../gpu/placement.ts";
import type { StartRunner } from "../runner/handle.ts";
import type { DraftSetting } from "../wire/inference/load.ts";
import type { Clock } from "./clock.ts";
import type { Decision, RunnableModel } from "./lease.ts";
import type { MeasuredLoad } from "./memory-needs.ts";

export interface SchedulerSettings {
  /** The number of parallel slots of each loaded model. */
  readonly slots: number;
  readonly maxLoadedModels: number;
  readonly maxQueue: number;
  /** A load fails if it makes no progress for this long. */
  readonly loadTimeoutMs: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly kvCacheType: "f16" | "q8_0" | "q4_0";
  /** Whether the slots of a model share one cache. `auto`: where windows of their own do not fit. */
  readonly sharedCache: "auto" | "on" | "off";
  readonly drafts: DraftSetting;
  /** Variables that are added to every runner's environment. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Kept conversations. They are discarded when a model needs their memory. */
export interface DiscardableMemory {
  readonly memoryBytes: number;
  /** Discards conversations until this much host memory is free. */
  makeRoom(bytes: number): void;
}

/** The scheduler's dependencies; tests inject their own. */
export interface SchedulerParts {
  readonly clock: Clock;
  readonly startRunner: StartRunner;
  /** Returns the memory that a load would take. Throws if the file is invalid. */
  readonly needs: (model: RunnableModel, load: MeasuredLoad) => Promise<Needs>;
  /** Chooses devices by their free memory. */
  readonly place: (needs: Needs, wish: PlacementWish) => Promise<Choice>;
  /** Returns the host memory in bytes that the system reports as available. */
  readonly availableBytes: () => number;
  readonly conversations?: DiscardableMemory;
  readonly onDecision?: (decision: Decision) => void;
  readonly onLog?: (model: string, line: string) => void;
}
