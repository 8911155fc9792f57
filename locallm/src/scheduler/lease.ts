import type { LoadedVocabulary, Offer, Outlet, Runner } from "../runner/handle.ts";
import type { LoadRequest, ModelInfo } from "../wire/inference/load.ts";

export type { LoadedVocabulary, Offer, Outlet };

/** A model that can be loaded. Names with the same weights and adapters share a runner. */
export interface RunnableModel {
  /** The name that `ps` shows. */
  readonly name: string;
  /** The digest of the manifest as hex digits without a prefix. */
  readonly digest: string;
  readonly modelPath: string;
  /** The remaining files of a split model, in order. */
  readonly furtherPaths?: readonly string[];
  /** Identity of the weights, such as their blob's digest. */
  readonly weights: string;
  readonly adapters: readonly { readonly path: string; readonly scale: number }[];
  /** A smaller model with the same tokens, which guesses answers ahead. Missing if there is none. */
  readonly draftPath?: string;
  /** The projector with which the model sees; missing if it cannot. */
  readonly senses?: {
    readonly projectorPath: string;
    readonly sees: boolean;
    readonly hears: boolean;
    readonly wholePicture: number;
  };
  /** Context length the model was trained with; null if its file does not say. */
  readonly trainContext: number | null;
}

/** The files of a load, and what of them its size depends on. */
export function filesOf({
  modelPath,
  furtherPaths,
  senses,
  draftPath,
}: RunnableModel): Pick<LoadRequest, "modelPath" | "furtherPaths" | "wholePicture" | "draftPath"> {
  return {
    modelPath,
    ...(senses === undefined ? {} : { wholePicture: senses.wholePicture }),
    ...(furtherPaths === undefined ? {} : { furtherPaths }),
    ...(draftPath === undefined ? {} : { draftPath }),
  };
}

/** Load options of a request. The model may be loaded with a larger `numCtx`; the others must match. */
export interface LoadWish {
  readonly numCtx: number;
  /** The reason for `numCtx`, which `ps` shows. */
  readonly whyCtx?: string;
  /** Uses the whole window of a loaded model, even if that is larger than `numCtx`. */
  readonly isAutomatic?: boolean;
  readonly numBatch: number | null;
  readonly numThread: number | null;
  /** The number of layers to place on GPUs. Null places as many as fit. */
  readonly numGpu: number | null;
  /** The index of the GPU to fill first. Null selects the GPU with the most free memory. */
  readonly mainGpu: number | null;
  /** The experts of so many first layers stay on the CPU. Missing or null means what the server is set to. */
  readonly cpuExperts?: number | null;
  /** Divides the layers among the GPUs. Missing or null means by their memory. */
  readonly shares?: readonly number[] | null;
  readonly useMmap: boolean | null;
}

export interface LeaseRequest {
  readonly model: RunnableModel;
  readonly load: LoadWish;
  /** `Infinity` means that the model stays loaded until another model needs its memory. */
  readonly keepAliveMs: number;
  /**
   * `slot` occupies one of the model's parallel slots. `load` only requires the model to be loaded with these
   * options. `visit` is like `load` but accepts any context length.
   */
  readonly uses: "slot" | "load" | "visit";
  /** Chooses the window while the model is loaded for this request. */
  readonly sizing?: WindowSizing | undefined;
  /** The id of the API key that sent the request, so that keys take turns. */
  readonly key?: string | null;
  readonly signal: AbortSignal;
}

/**
 * Returns the load with the window that a request needs. Null if the request's own `numCtx` is enough. Called as soon as
 * the vocabulary is loaded, so that the model need not be loaded a second time.
 */
export type WindowSizing = (vocabulary: LoadedVocabulary) => Promise<LoadWish | null>;

/** Keeps a model loaded until `release` is called. */
export interface Lease {
  readonly runner: Runner;
  readonly info: ModelInfo;
  /**
   * The requested context length, capped at the model's training context. If it is automatic, the whole
   * window.
   */
  readonly numCtx: number;
  /** Time spent queueing and loading. */
  readonly waitedMs: number;
  /** Further calls do nothing. */
  release(): void;
}

export interface ResidentView {
  readonly model: RunnableModel;
  readonly state: "loading" | "ready" | "leaving";
  readonly numCtx: number;
  readonly whyCtx: string;
  /** The load options of the request that loaded the model. */
  readonly load: LoadWish;
  readonly sizeBytes: number;
  /** Memory on each GPU; empty if the model runs on the CPU only. */
  readonly devices: ModelInfo["devices"];
  /** Why the model was placed on these devices. */
  readonly whyThere: string;
  /** When the model unloads. Null if it stays until another model needs its memory. */
  readonly expiresAtMs: number | null;
  readonly loadedAtMs: number;
  readonly slots: number;
  /** The tokens of the cache that the slots share. Null if each has a window of its own. */
  readonly sharedCells: number | null;
  /** What the shared cache did not get when it last asked for memory. Null if it got all. */
  readonly refusedGrowth: { readonly bytes: number; readonly why: string; readonly atMs: number } | null;
  readonly activeSlots: number;
  readonly waiting: number;
  readonly keepAliveMs: number;
  readonly pid: number | null;
  /** False while the runner process does not respond. */
  readonly responds: boolean;
}

/** The largest window that a model can have, and what limits it. */
export interface WindowLimit {
  readonly tokens: number;
  readonly why: string;
}

/** One action of the scheduler and its reason. */
export interface Decision {
  readonly atMs: number;
  readonly model: string;
  /** `evict` means unloaded to make room for another model. `unload` means unloaded for any other reason. */
  readonly what: "load" | "retry" | "ready" | "evict" | "unload" | "fail" | "died" | "refuse" | "drain";
  readonly why: string;
  /** Duration of the load, for `ready` only. */
  readonly tookMs: number | null;
}

export interface SchedulerView {
  readonly residents: readonly ResidentView[];
  readonly waiting: readonly { readonly model: string; readonly count: number; readonly oldestMs: number }[];
  readonly decisions: readonly Decision[];
}

export interface Scheduler {
  /** Rejects with `queue_full`, `shutting_down`, `model_too_large`, the load error or the signal's reason. */
  lease(request: LeaseRequest): Promise<Lease>;
  /**
   * Unloads the matching models after their running and waiting requests have finished. Resolves when their
   * memory is free, or at once if no matching model is loaded or requested.
   */
  unload(matches: (model: RunnableModel) => boolean, why: string): Promise<void>;
  /**
   * Returns how large an automatic window can get: at most the first step that has `wanted` tokens, and never
   * less than the window of a loaded model. Counts only memory that no running answer uses.
   */
  windowLimit(model: RunnableModel, load: LoadWish, wanted?: number): Promise<WindowLimit>;
  /** Sets `keep_alive: 0` on a model without loading it. */
  expire(model: RunnableModel): void;
  view(): SchedulerView;
  /**
   * The host memory that is available, without what the loaded models have allocated and not used yet: the system
   * counts that as available too.
   */
  freeBytes(): number;
  /** The host memory that a load can use: what is free, and what kept conversations take. */
  loadableBytes(): number;
  /** False while the queue is full or the server is shutting down. */
  accepts(): boolean;
  /** Seconds after which a refused client may try again. */
  retryAfterSeconds(): number;
  /** Rejects new requests, lets running ones finish until the deadline, then stops all runners. */
  close(deadlineMs: number): Promise<void>;
}
