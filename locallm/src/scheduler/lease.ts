import type { Runner } from "../runner/handle.ts";
import type { ModelInfo } from "../wire/inference/load.ts";

/** A model as the scheduler needs it. Names that share weights and adapters share a runner. */
export interface RunnableModel {
  /** As shown in `ps`. */
  readonly name: string;
  /** Of the manifest, bare hex. */
  readonly digest: string;
  readonly modelPath: string;
  /** The other files of split weights, in order. */
  readonly furtherPaths?: readonly string[];
  /** Identity of the weights, such as their blob's digest. */
  readonly weights: string;
  readonly adapters: readonly { readonly path: string; readonly scale: number }[];
  /** Tokens that the model was trained on; null where its file does not say. */
  readonly trainContext: number | null;
}

/** How a request wants its model loaded. Only `numCtx` may be more than asked for. */
export interface LoadWish {
  readonly numCtx: number;
  readonly numBatch: number | null;
  readonly numThread: number | null;
  /** Layers on GPUs; null: as many as fit. */
  readonly numGpu: number | null;
  /** The GPU to fill first; null: the one with most memory free. */
  readonly mainGpu: number | null;
  readonly useMmap: boolean | null;
}

export interface LeaseRequest {
  readonly model: RunnableModel;
  readonly load: LoadWish;
  /** `Infinity`: the model stays until its place is needed. */
  readonly keepAliveMs: number;
  /**
   * `slot`: one of the model's parallel places; `load`: that it is loaded as wished; `visit`: that it is loaded
   * at all, with whatever window.
   */
  readonly uses: "slot" | "load" | "visit";
  readonly signal: AbortSignal;
}

/** The right to use a loaded model until it is released. */
export interface Lease {
  readonly runner: Runner;
  readonly info: ModelInfo;
  /** The request's own window: what it asked for, cut to what the model was trained on. */
  readonly numCtx: number;
  /** From asking to holding: queue and load together. */
  readonly waitedMs: number;
  /** Once; later calls do nothing. */
  release(): void;
}

export interface ResidentView {
  readonly model: RunnableModel;
  readonly state: "loading" | "ready" | "leaving";
  readonly numCtx: number;
  readonly sizeBytes: number;
  /** What of it lies on which GPU. None: it runs on the processor alone. */
  readonly devices: ModelInfo["devices"];
  /** Why it runs where it runs. */
  readonly whyThere: string;
  /** Null: not before its place is needed. */
  readonly expiresAtMs: number | null;
  readonly loadedAtMs: number;
  readonly slots: number;
  readonly activeSlots: number;
  readonly waiting: number;
  readonly keepAliveMs: number;
  readonly pid: number | null;
  /** False while its process does not answer. */
  readonly responds: boolean;
}

/** One thing that the scheduler did, and why. */
export interface Decision {
  readonly atMs: number;
  readonly model: string;
  /** `evict`: it lost its place to another model; whatever else ends its process is `unload`. */
  readonly what: "load" | "retry" | "ready" | "evict" | "unload" | "fail" | "died" | "refuse" | "drain";
  readonly why: string;
  /** For `ready`: how long the load took. */
  readonly tookMs: number | null;
}

export interface SchedulerView {
  readonly residents: readonly ResidentView[];
  readonly waiting: readonly { readonly model: string; readonly count: number; readonly oldestMs: number }[];
  readonly decisions: readonly Decision[];
}

export interface Scheduler {
  /** Refused with `queue_full`, `shutting_down`, `model_too_large`, a load's failure or the signal's reason. */
  lease(request: LeaseRequest): Promise<Lease>;
  /**
   * Unloads when the last request has ended, of those that wait, too; settled once the memory is back, at once if it
   * is neither loaded nor waited for.
   */
  unload(matches: (model: RunnableModel) => boolean, why: string): Promise<void>;
  /** Starts no load: `keep_alive: 0` for a model that may or may not be loaded. */
  expire(model: RunnableModel): void;
  view(): SchedulerView;
  /** False while the queue is full or the server stops. */
  accepts(): boolean;
  /** Seconds after which a refused client may try again. */
  retryAfterSeconds(): number;
  /** Takes no more requests, gives the running ones until the deadline, then ends all children. */
  close(deadlineMs: number): Promise<void>;
}
