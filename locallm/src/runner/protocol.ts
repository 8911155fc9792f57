import { type ErrorCode, LocallmError } from "../wire/errors.ts";
import type { EmbedJob } from "../wire/inference/embed.ts";
import type { GenerateDone, GenerateJob, PromptText, TextDetails } from "../wire/inference/generate.ts";
import type { KeptEntry } from "../wire/inference/kept-state.ts";
import type { LoadRequest, ModelInfo } from "../wire/inference/load.ts";

/** An error as it is sent through the pipe. */
export interface SentError {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, string | number>>;
}

/**
 * From server to runner. `id` is the server's number for a call. `load` comes first, once. `group`: what kept states
 * and this load must have in common; null: nothing is kept.
 */
export type Command =
  | { readonly kind: "load"; readonly load: LoadRequest; readonly group: string | null }
  /** The answer to `reserve`. */
  | { readonly kind: "reserved"; readonly id: number; readonly state: number | null }
  /** Where a kept state is now; null: it is gone. */
  | { readonly kind: "state"; readonly id: number; readonly entry: KeptEntry | null }
  | { readonly kind: "generate"; readonly id: number; readonly job: GenerateJob }
  | { readonly kind: "embed"; readonly id: number; readonly job: EmbedJob }
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

/** From runner to server. `steps`: what one or more steps gave, in order. */
export type Report =
  | { readonly kind: "loading"; readonly fraction: number }
  /** A number for each loop that computes steps. It differs from the last one unless the loop hangs. */
  | { readonly kind: "progress"; readonly loops: readonly number[] }
  | { readonly kind: "ready"; readonly info: ModelInfo }
  | { readonly kind: "rejected"; readonly error: SentError }
  | {
      readonly kind: "steps";
      readonly texts: readonly (readonly [id: number, text: string, tokens: number, details?: TextDetails])[];
    }
  | { readonly kind: "done"; readonly id: number; readonly done: GenerateDone }
  | { readonly kind: "failed"; readonly id: number; readonly error: SentError }
  /** All vectors in one, as base64 of 32-bit floats in the machine's byte order. */
  | {
      readonly kind: "embedded";
      readonly id: number;
      readonly floats: string;
      readonly length: number;
      readonly tokens: readonly number[];
    }
  /** Asks for a place for the state of a conversation. */
  | { readonly kind: "reserve"; readonly id: number; readonly bytes: number }
  /** The state is in shared memory, under this descriptor of the runner. */
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
