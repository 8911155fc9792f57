import type { ErrorCode, FailureDetails } from "@dataq/contract";

/** The final outcome of a call as it is kept for a retry under the same Idempotency-Key. */
export type KeptReply =
  | { readonly payload: string }
  | { readonly code: ErrorCode; readonly details: FailureDetails };

export function writeKept(kept: KeptReply): Buffer {
  return Buffer.from(JSON.stringify(kept));
}

export function readKept(bytes: Buffer): KeptReply {
  return JSON.parse(bytes.toString("utf8")) as KeptReply;
}
