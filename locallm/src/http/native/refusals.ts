import { LocallmError } from "../../wire/errors.ts";

/** Rejects `logprobs`, which is not supported yet, instead of silently ignoring it. */
export function refuseLogprobs(body: {
  readonly logprobs?: boolean | undefined;
  readonly top_logprobs?: number | undefined;
}): void {
  const topLogprobs = body.top_logprobs ?? 0;
  if (topLogprobs < 0 || topLogprobs > 20)
    throw new LocallmError("invalid_field", { field: "top_logprobs", problem: "must be between 0 and 20" });
  if (body.logprobs === true || topLogprobs > 0)
    throw new LocallmError("invalid_field", {
      field: body.logprobs === true ? "logprobs" : "top_logprobs",
      problem: "is not supported",
    });
}
