import type { SampledLogprob } from "../../wire/inference/generate.ts";

/** Like Ollama, without an empty list of alternatives. */
export function shownLogprobs(logprobs: readonly SampledLogprob[] | undefined) {
  return logprobs?.map(({ top_logprobs, ...rest }) =>
    top_logprobs.length === 0 ? rest : { ...rest, top_logprobs },
  );
}
