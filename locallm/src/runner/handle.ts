import type { Embeddings, EmbedJob } from "../wire/inference/embed.ts";
import type { GenerateEvent, GenerateJob, PromptText } from "../wire/inference/generate.ts";
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
  /** Ends the start, also in the middle of a load; the promise is refused with the signal's reason. */
  readonly signal?: AbortSignal;
  /** 0 to 1, while the weights are read. */
  readonly onProgress?: (fraction: number) => void;
  /** The engine's own log, line by line. */
  readonly onLog?: (line: string) => void;
  /** When a loaded runner counts as hanging; `heartbeatLimits` by default. */
  readonly heartbeat?: HeartbeatLimits;
}

/**
 * One loaded model in a process of its own. When the process dies, each open call ends with one `runner_died` error
 * and `exited` settles; when it hangs, it is ended and the error is `runner_stalled`. The server goes on.
 */
export interface Runner {
  readonly pid: number;
  readonly info: ModelInfo;
  readonly slots: number;
  readonly exited: Promise<RunnerExit>;
  /** False while it does not answer: requests to it hang until it goes on or is ended. */
  readonly responds: boolean;
  /**
   * Leaving the loop or aborting the signal frees the slot within one decode step; after an abort the loop
   * throws the signal's reason. More jobs than slots wait, first in first out. A reader that does not ask
   * for more pauses its slot; the others go on.
   */
  generate(job: GenerateJob, signal?: AbortSignal): AsyncIterable<GenerateEvent>;
  embed(job: EmbedJob, signal?: AbortSignal): Promise<Embeddings>;
  tokenize(
    text: PromptText,
    options: { readonly addSpecial: boolean; readonly parseSpecial: boolean },
    signal?: AbortSignal,
  ): Promise<number[]>;
  detokenize(tokens: readonly number[]): Promise<string>;
  /** Lets the process end by itself; kills it when that takes too long. Open calls end with `shutting_down`. */
  close(): Promise<RunnerExit>;
  kill(): Promise<RunnerExit>;
}

/** How the scheduler starts a model; its tests bring one of their own. */
export type StartRunner = (load: LoadRequest, start?: RunnerStart) => Promise<Runner>;
