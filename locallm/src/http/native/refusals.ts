import { LocallmError } from "../../wire/errors.ts";
import type { Run } from "../run.ts";

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

export function refuseImages(run: Run, images: readonly string[] | undefined, field: string): void {
  if (images === undefined || images.length === 0) return;
  const bad = images.findIndex((image) => !isBase64(image));
  if (bad >= 0) throw new LocallmError("invalid_image", { field: `${field}[${bad}]` });
  throw new LocallmError("unsupported_capability", { model: run.typedName, capability: "vision" });
}

function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 !== 1 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
}
