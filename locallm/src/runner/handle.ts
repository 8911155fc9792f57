import type { SendHandle } from "node:child_process";
import type { Embeddings, EmbedJob } from "../wire/inference/embed.ts";
import type { GenerateEvent, GenerateJob, PromptText } from "../wire/inference/generate.ts";
import type { KeptEntry } from "../wire/inference/kept-state.ts";
import type { LineShape } from "../wire/inference/line-shape.ts";
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
  /**
   * Called when the model needs so many of its spare bytes. Returns how many it may use. By default it may use all of
   * them.
   */
  readonly onGrow?: (bytes: number) => number;
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
  /** Memory that the model may use and has not used yet, so that the system counts it as available. */
  readonly unusedBytes: number;
  /** Memory that the model has allocated, and uses only once `onGrow` has granted it. */
  readonly spareBytes: number;
  /**
   * Runs a job. Leaving the loop or aborting the signal frees the slot within one step; after an abort the
   * loop throws the signal's reason. If all slots are busy, jobs wait in the order of arrival. A reader that
   * stops reading pauses its own slot only. Through an `outlet` the runner writes texts to the client itself; their
   * events come later and in larger pieces.
   */
  generate(job: GenerateJob, signal?: AbortSignal, outlet?: Outlet | null): AsyncIterable<GenerateEvent>;
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

/**
 * A client's connection that can be lent to the runner of its job. It has one writer at a time: the server's side
 * writes nothing while the connection is lent.
 */
export interface Outlet {
  /** What a process can be sent; null if the connection has ended. */
  readonly handle: SendHandle | null;
  /** Called when the job's reader waits and has read all events. Null if the next text is not plain for certain. */
  offer(): Offer | null;
  /** Called when the connection is offered to the runner. */
  lent(): void;
  /** Called when the runner writes no more. `rest` has to be written before anything else. */
  back(rest: Uint8Array | null): void;
  /** Called if tokens were written that no event counts, because the job's reader has left. */
  late(tokens: number): void;
  /** Closes the connection, because nobody knows whether the runner still writes. */
  cut(): void;
}

/** How texts are written. No marker may begin in them, or white space before one. */
export interface Offer {
  readonly shape: LineShape;
  readonly markers: readonly string[];
  /** The number of the next line. */
  readonly number: number;
}

/** A model whose vocabulary is loaded, and perhaps no more. */
export interface LoadedVocabulary {
  readonly runner: Pick<Runner, "tokenize" | "detokenize">;
  readonly info: VocabularyInfo;
}

/** Starts a model for the scheduler. The scheduler's tests replace it. */
export type StartRunner = (load: LoadRequest, start?: RunnerStart) => Promise<Runner>;
