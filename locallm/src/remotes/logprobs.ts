import type { SampledLogprob, TokenLogprob } from "../wire/inference/generate.ts";
import { asList, asObject } from "./json-body.ts";

/** Reads the log probabilities of a chat (`content`) or of a completion (lists). Null if there are none. */
export function logprobsOf(value: unknown): SampledLogprob[] | null {
  const object = asObject(value);
  if (object === null) return Array.isArray(value) ? value.flatMap(sampled) : null;
  if (Array.isArray(object["content"])) return object["content"].flatMap(sampled);
  const tops = asList(object["top_logprobs"]);
  return asList(object["tokens"]).flatMap((token, index) => {
    const top = Object.entries(asObject(tops[index]) ?? {});
    return sampled({
      token,
      logprob: asList(object["token_logprobs"])[index],
      top_logprobs: top.map(([name, logprob]) => ({ token: name, logprob })),
    });
  });
}

function sampled(value: unknown): SampledLogprob[] {
  const tops = asList(asObject(value)?.["top_logprobs"]).flatMap(tokenLogprob);
  return tokenLogprob(value).map((token) => ({ ...token, top_logprobs: tops }));
}

function tokenLogprob(value: unknown): TokenLogprob[] {
  const { token, logprob, bytes } = (asObject(value) ?? {}) as Record<string, unknown>;
  if (typeof token !== "string" || typeof logprob !== "number") return [];
  const given = Array.isArray(bytes) && bytes.every((byte) => typeof byte === "number") ? bytes : null;
  return [{ token, logprob, bytes: given ?? [...Buffer.from(token)] }];
}
