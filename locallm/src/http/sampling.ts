import { LocallmError } from "../wire/errors.ts";
import { engineFields, type SamplingFields } from "../wire/openai/chat-completions.ts";

/** Sampling fields as native options. Omits absent fields, so that the model's parameters apply. */
export function samplingOptions(body: SamplingFields, maxTokens = body.max_tokens): Record<string, unknown> {
  const stop = body.stop === undefined ? undefined : [body.stop].flat();
  const bias =
    body.logit_bias !== undefined && Object.keys(body.logit_bias).length > 0 ? body.logit_bias : undefined;
  const given = {
    ...Object.fromEntries(
      Object.entries(engineFields).flatMap(([field, option]) => {
        const value = body[field as keyof typeof engineFields];
        return value === undefined ? [] : [[option, value]];
      }),
    ),
    temperature: body.temperature,
    top_p: body.top_p,
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
