import { LocallmError } from "../wire/errors.ts";
import type { SamplingFields } from "../wire/openai/chat-completions.ts";

/** OpenAI's sampling fields and Anthropic's additions. */
interface GivenSampling extends SamplingFields {
  readonly top_k?: number | undefined;
}

/** Sampling fields as native options. Omits absent fields, so that the model's parameters apply. */
export function samplingOptions(body: GivenSampling, maxTokens = body.max_tokens): Record<string, unknown> {
  const stop = body.stop === undefined ? undefined : [body.stop].flat();
  const bias =
    body.logit_bias !== undefined && Object.keys(body.logit_bias).length > 0 ? body.logit_bias : undefined;
  const given = {
    temperature: body.temperature,
    top_p: body.top_p,
    top_k: body.top_k,
    frequency_penalty: body.frequency_penalty,
    presence_penalty: body.presence_penalty,
    seed: body.seed,
    stop,
    logit_bias: bias,
    num_predict: maxTokens,
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...body.options, ...Object.fromEntries(set) };
}

/** Rejects a field that would change the answer if it were ignored. */
export function refuse(field: string, isAsked: boolean, hint = ""): void {
  if (isAsked) throw new LocallmError("unsupported_parameter", { field, hint });
}
