import type { Embeddings, EmbedJob } from "../wire/inference/embed.ts";
import type { GenerateEvent, GenerateJob, PromptText } from "../wire/inference/generate.ts";
import type { KeptEntry } from "../wire/inference/kept-state.ts";
import type { LoadRequest, ModelInfo } from "../wire/inference/load.ts";
import type { HeartbeatLimits } from "./heartbeat.ts";

/** How a runner process ended. */
export interface RunnerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether `close` or `kill` asked for it. */
  readonly asked: boolean;
  /** Whether it was ended because it made no progress. */
  readonly stalled: boolean;
  /** Its last log lines. */
  readonly log: readonly string[];
}

export interface RunnerStart {
  /** Added to the environment of the process, for GPU visibility. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the start, even in the middle of a load; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** 0 to 1, while the weights are read. */
  readonly onProgress?: (fraction: number) => void;
  /** The engine's own log, line by line. */
  readonly onLog?: (line: string) => void;
  /** Where the states of its conversations are kept; by default they are not. */
  readonly conversations?: Conversations;
  /** When a loaded runner counts as stalled; by default `heartbeatLimits`. */
  readonly heartbeat?: HeartbeatLimits;
}

/** The states of all runners' conversations. They outlive the runner. */
export interface Conversations {
  /**
   * For one runner. `moved` is called with each change of a state that fits the load; null: the state is gone. Returns
   * null if this load's states could not be told apart from others'.
   */
  open(load: LoadRequest, moved: (id: number, entry: KeptEntry | null) => void): Shelf | null;
}

/** What a runner may do with the states of its group. */
export interface Shelf {
  readonly group: string;
  /** The states that currently fit the load. */
  entries(): readonly KeptEntry[];
  /** Reserves memory of this size and returns its number; null if there is none. */
  reserve(bytes: number): number | null;
  /** The reserved memory is filled: `path` opens it as long as the runner lives. */
  keep(id: number, path: string, replaced: readonly number[]): void;
  used(id: number): void;
  release(id: number): void;
  damaged(id: number): void;
  /** The runner has ended. */
  close(): void;
}

/**
 * One loaded model in its own process. When the process dies, each open call fails with `runner_died` and `exited`
 * settles. When it hangs, it is ended and the error is `runner_stalled`. The server continues.
 */
export interface Runner {
  readonly pid: number;
  readonly info: ModelInfo;
  readonly slots: number;
  readonly exited: Promise<RunnerExit>;
  /** False while it does not answer: its requests wait until it continues or is ended. */
  readonly responds: boolean;
  /**
   * Leaving the loop or aborting the signal frees the slot within one step; after an abort the loop throws the
   * signal's reason. Jobs beyond the number of slots wait, first in, first out. A reader that does not ask for more
   * pauses its slot; the others continue.
   */
  generate(job: GenerateJob, signal?: AbortSignal): AsyncIterable<GenerateEvent>;
  embed(job: EmbedJob, signal?: AbortSignal): Promise<Embeddings>;
  /** If the text has more tokens than `limit`, tokenizing ends early, and the result has only the first ones. */
  tokenize(
    text: PromptText,
    options: { readonly addSpecial: boolean; readonly parseSpecial: boolean; readonly limit?: number },
    signal?: AbortSignal,
  ): Promise<number[]>;
  detokenize(tokens: readonly number[]): Promise<string>;
  /** Asks the process to end, and kills it if that takes too long. Open calls fail with `shutting_down`. */
  close(): Promise<RunnerExit>;
  kill(): Promise<RunnerExit>;
}

/** How the scheduler starts a model; its tests use their own. */
export type StartRunner = (load: LoadRequest, start?: RunnerStart) => Promise<Runner>;
