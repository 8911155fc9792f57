import type { ErrorCode, FailureDetails } from "@dataq/contract";
import { Payload } from "./payload.ts";

/** The final outcome of a call as it is kept for a retry under the same Idempotency-Key. */
export type KeptReply =
  | { readonly payload: Payload }
  | { readonly code: ErrorCode; readonly details: FailureDetails };

export function writeKept(kept: KeptReply): Buffer {
  return "payload" in kept
    ? Buffer.concat([answered, kept.payload.bytes()])
    : Buffer.from(JSON.stringify(kept));
}

export function readKept(bytes: Buffer): KeptReply {
  return bytes.subarray(0, answered.length).equals(answered)
    ? { payload: new Payload([bytes.subarray(answered.length)]) }
    : (JSON.parse(bytes.toString()) as KeptReply);
}

/** Stands before the bytes of an answer; a failure begins with its brace. */
const answered = Buffer.from("answer\n");
