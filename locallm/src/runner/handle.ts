import type { Embeddings, EmbedJob } from "../wire/inference/embed.ts";
import type { GenerateEvent, GenerateJob, PromptText } from "../wire/inference/generate.ts";
import type { KeptEntry } from "../wire/inference/kept-state.ts";
import type { LoadRequest, ModelInfo, VocabularyInfo, WindowChoice } from "../wire/inference/load.ts";
import type { RankJob, Ranks } from "../wire/inference/rank.ts";
import type { HeartbeatLimits } from "./heartbeat.ts";

/** How a runner process ended. */
export interface RunnerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether `close` or `kill` caused the end. */
  readonly asked: boolean;
  /** Whether the server ended the process because it made no progress. */
  readonly stalled: boolean;
  /** The last log lines of the process. */
  readonly log: readonly string[];
}

export interface RunnerStart {
  /** Added to the environment of the process, for GPU visibility. */
  readonly env?: Readonly<Record<string, string>>;
  /** Aborts the start, even in the middle of a load. The promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called with a number from 0 to 1 while the weights are read. */
  readonly onProgress?: (fraction: number) => void;
  /**
   * Chooses the window as soon as the vocabulary is loaded, and the devices for it. By default they are the load's.
   * A model that was to be loaded on the CPU is already loaded there, and stays.
   */
  readonly chooseWindow?: (vocabulary: LoadedVocabulary) => Promise<WindowChoice>;
  /** Called with each line of the engine's own log. */
  readonly onLog?: (line: string) => void;
  /** Keeps the states of the runner's conversations. By default they are not kept. */
  readonly conversations?: Conversations;
  /** The limits after which a loaded runner counts as stalled. Defaults to `heartbeatLimits`. */
  readonly heartbeat?: HeartbeatLimits;
}

/** The states of all runners' conversations. They outlive the runner. */
export interface Conversations {
  /**
   * Opens the shelf for one runner. `moved` is called with each change of a state that fits the load; null
   * means that the state is gone. Returns null if this load's states could not be distinguished from those of
   * other loads.
   */
  open(load: LoadRequest, moved: (id: number, entry: KeptEntry | null) => void): Shelf | null;
}

/** What a runner can do with the states of its group. */
export interface Shelf {
  readonly group: string;
  /** The states that currently fit the load. */
  entries(): readonly KeptEntry[];
  /** Reserves memory of this size and returns its number. Returns null if not enough memory is available. */
  reserve(bytes: number): number | null;
  /** Reports that the reserved memory is filled. `path` can be opened as long as the runner lives. */
  keep(id: number, path: string, replaced: readonly number[]): void;
  used(id: number): void;
  release(id: number): void;
  damaged(id: number): void;
  /** Called when the runner has ended. */
  close(): void;
}

/**
 * One loaded model in its own process. If the process dies, each open call fails with `runner_died` and
 * `exited` settles. If the process hangs, the server kills it and the error is `runner_stalled`. The server
 * keeps running.
 */
export interface Runner {
  readonly pid: number;
  readonly info: ModelInfo;
  readonly slots: number;
  readonly exited: Promise<RunnerExit>;
  /**
   * False while the process does not respond. Its requests then wait until it responds again or is killed.
   */
  readonly responds: boolean;
  /** Memory that the model has allocated and not used yet, so that the system counts it as available. */
  readonly unusedBytes: number;
  /**
   * Runs a job. Leaving the loop or aborting the signal frees the slot within one step; after an abort the
   * loop throws the signal's reason. If all slots are busy, jobs wait in the order of arrival. A reader that
   * stops reading pauses its own slot only.
   */
  generate(job: GenerateJob, signal?: AbortSignal): AsyncIterable<GenerateEvent>;
  embed(job: EmbedJob, signal?: AbortSignal): Promise<Embeddings>;
  rank(job: RankJob, signal?: AbortSignal): Promise<Ranks>;
  /** Tokenizes a text. If it has more tokens than `limit`, stops early and returns only the first ones. */
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

/** A model whose vocabulary is loaded, and perhaps no more. */
export interface LoadedVocabulary {
  readonly runner: Pick<Runner, "tokenize" | "detokenize">;
  readonly info: VocabularyInfo;
}

/** Starts a model for the scheduler. The scheduler's tests replace it. */
export type StartRunner = (load: LoadRequest, start?: RunnerStart) => Promise<Runner>;
