import { type ErrorCode, errors, Failure, type FailureDetails } from "@dataq/contract";
import type { KeptOutcome } from "../ledger/settlement.ts";
import type { Call } from "./call.ts";
import { Payload } from "./payload.ts";

/** The final outcome of a call, as stored for a retry with the same Idempotency-Key. */
export type KeptReply =
  | { readonly payload: Payload }
  | { readonly code: ErrorCode; readonly details: FailureDetails };

/** The outcome to store; undefined for a call without a key. */
export function keptOutcome(call: Call, key: string | undefined, kept: KeptReply): KeptOutcome | undefined {
  if (key === undefined) return undefined;
  return { accountId: call.principal.account.id, key, outcome: writeKept(kept) };
}

export function keptFailure(call: Call, key: string | undefined, { code, details }: Failure) {
  return keptOutcome(call, key, { code, details });
}

/** A retry of the same question would fail the same way. */
export function isFinal(error: unknown): error is Failure {
  if (!(error instanceof Failure)) return false;
  const { status, retryable } = errors[error.code];
  return status < 500 && status !== 402 && !retryable && error.code !== "client_closed_request";
}

export function readKept(bytes: Buffer): KeptReply {
  return bytes.subarray(0, answered.length).equals(answered)
    ? { payload: new Payload([bytes.subarray(answered.length)]) }
    : (JSON.parse(bytes.toString()) as KeptReply);
}

function writeKept(kept: KeptReply): Buffer {
  return "payload" in kept
    ? Buffer.concat([answered, kept.payload.bytes()])
    : Buffer.from(JSON.stringify(kept));
}

/** Marks the bytes of an answer. A failure starts with its brace instead. */
const answered = Buffer.from("answer\n");
