import { type ErrorCode, LocallmError } from "../wire/errors.ts";
import type { EmbedJob } from "../wire/inference/embed.ts";
import type { GenerateDone, GenerateJob, PromptText, TextDetails } from "../wire/inference/generate.ts";
import type { KeptEntry } from "../wire/inference/kept-state.ts";
import type { LoadRequest, ModelInfo, VocabularyInfo, WindowChoice } from "../wire/inference/load.ts";
import type { RankJob, Ranks } from "../wire/inference/rank.ts";
import type { Offer } from "./handle.ts";

/** An error as it is sent through the pipe. */
export interface SentError {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, string | number>>;
}

/**
 * Commands from server to runner. `id` is the server's number of a call. `load` is the first command and is
 * sent once. `group` names what kept states and this load must have in common. If it is null, nothing is
 * kept. With `awaitsWindow`, the runner reports `vocabulary` and waits for `window` before it reserves memory for
 * the window, and before it loads weights on GPUs: how many layers fit there depends on the window.
 */
export type Command =
  | {
      readonly kind: "load";
      readonly load: LoadRequest;
      readonly group: string | null;
      readonly awaitsWindow: boolean;
    }
  | { readonly kind: "window"; readonly choice: WindowChoice }
  /** The answer to `grow`: so many bytes may be used, at most those asked for. */
  | { readonly kind: "grown"; readonly id: number; readonly bytes: number }
  /** The answer to `reserve`. */
  | { readonly kind: "reserved"; readonly id: number; readonly state: number | null }
  /** Where a kept state is now. Null means that the state is gone. */
  | { readonly kind: "state"; readonly id: number; readonly entry: KeptEntry | null }
  /** `lends` says that the client's connection may be lent; see `lend`. */
  | { readonly kind: "generate"; readonly id: number; readonly job: GenerateJob; readonly lends: boolean }
  | Lend
  /** The answer to `want`. */
  | { readonly kind: "rows"; readonly id: number; readonly identity: string; readonly rows: Float32Array }
  | { readonly kind: "embed"; readonly id: number; readonly job: EmbedJob }
  | { readonly kind: "rank"; readonly id: number; readonly job: RankJob }
  | {
      readonly kind: "tokenize";
      readonly id: number;
      readonly text: PromptText;
      readonly addSpecial: boolean;
      readonly parseSpecial: boolean;
      readonly limit?: number;
    }
  | { readonly kind: "detokenize"; readonly id: number; readonly tokens: readonly number[] }
  | { readonly kind: "cancel" | "pause" | "resume"; readonly id: number }
  /** Asks for `progress`. */
  | { readonly kind: "ask" }
  /** Keeps what the slots hold, and ends. */
  | { readonly kind: "close" };

/**
 * Lends the connection of a job's client, so that the runner writes texts itself. It comes with the connection's handle
 * the first time. `seen` is how many events with text the server has received and written; if the runner has sent more,
 * it does not take the loan. `number` is that of the next line.
 */
export interface Lend extends Offer {
  readonly kind: "lend";
  readonly id: number;
  readonly seen: number;
}

/** Reports from runner to server, which come as arrays. `steps` contains the results of one or more steps in order. */
export type Report =
  | { readonly kind: "loading"; readonly fraction: number }
  /**
   * One number per loop that computes steps. Each number differs from the previous one unless its loop hangs.
   */
  | { readonly kind: "progress"; readonly loops: readonly number[] }
  | { readonly kind: "vocabulary"; readonly info: VocabularyInfo }
  /** `fullBytes` is the anonymous memory that the process has once all of it is in use, or null. */
  | { readonly kind: "ready"; readonly info: ModelInfo; readonly fullBytes: number | null }
  /** So many of `fullBytes` are not used before they are granted, and may go to other models. */
  | { readonly kind: "spare"; readonly bytes: number }
  /** Asks for some of the spare bytes. */
  | { readonly kind: "grow"; readonly id: number; readonly bytes: number }
  | { readonly kind: "rejected"; readonly error: SentError }
  | {
      readonly kind: "steps";
      readonly texts: readonly (readonly [id: number, text: string, tokens: number, details?: TextDetails])[];
    }
  /** The runner has the handle of the connection of the job's client. */
  | { readonly kind: "holds"; readonly id: number }
  /**
   * The runner writes to the connection no more. `rest` is the part of a line that was not written, and comes before
   * anything else. `tokens` were written and no event counts them. `isSlow` says that the client reads slowly.
   */
  | {
      readonly kind: "back";
      readonly id: number;
      readonly rest: Uint8Array | null;
      readonly tokens: number;
      readonly isSlow: boolean;
    }
  /** Asks for the rows of a picture of the job, because no cache has its cells. */
  | { readonly kind: "want"; readonly id: number; readonly identity: string }
  | { readonly kind: "done"; readonly id: number; readonly done: GenerateDone }
  | { readonly kind: "failed"; readonly id: number; readonly error: SentError }
  /** All vectors as one base64 string of 32-bit floats in the machine's byte order. */
  | {
      readonly kind: "embedded";
      readonly id: number;
      readonly floats: string;
      readonly length: number;
      readonly tokens: readonly number[];
    }
  | { readonly kind: "ranked"; readonly id: number; readonly ranks: Ranks }
  /** Asks for a place for the state of a conversation. */
  | { readonly kind: "reserve"; readonly id: number; readonly bytes: number }
  /** The state is in shared memory, which this descriptor of the runner refers to. */
  | {
      readonly kind: "kept";
      readonly state: number;
      readonly fd: number;
      readonly replaced: readonly number[];
    }
  | { readonly kind: "used" | "released" | "damaged"; readonly state: number }
  /** Everything that the slots held is saved; the runner ends at the next `close`. */
  | { readonly kind: "closing" }
  | { readonly kind: "tokens"; readonly id: number; readonly tokens: readonly number[] }
  | { readonly kind: "text"; readonly id: number; readonly text: string };

export function sendError(error: unknown): SentError {
  if (error instanceof LocallmError) return { code: error.code, details: error.details };
  const reason = error instanceof Error ? error.message : String(error);
  return { code: "decode_failed", details: { reason } };
}

export function receiveError(sent: SentError): LocallmError {
  return new LocallmError(sent.code, sent.details as never);
}
