import type { SampledLogprob } from "../../wire/inference/generate.ts";

/** Omits an empty list of alternatives, like Ollama. */
export function shownLogprobs(logprobs: readonly SampledLogprob[] | undefined) {
  return logprobs?.map(({ top_logprobs, ...rest }) =>
    top_logprobs.length === 0 ? rest : { ...rest, top_logprobs },
  );
}
