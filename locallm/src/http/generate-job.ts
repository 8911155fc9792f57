import type { GenerateJob } from "../wire/inference/generate.ts";
import type { CompleteOptions } from "../wire/options.ts";

/** The job options that the route adds to the request's options. */
export interface JobWish {
  readonly prompt: GenerateJob["prompt"];
  readonly numCtx: number;
  /** Added to the stop strings of the options. */
  readonly stop?: readonly string[];
  readonly truncate?: boolean;
  readonly shift?: boolean;
  readonly grammar?: GenerateJob["grammar"];
  readonly wantContext?: boolean;
  /** Emit control tokens as text, for readers that search for them. */
  readonly renderSpecial?: boolean;
  readonly logprobs?: GenerateJob["logprobs"];
}

/** The engine's job for a request's options. */
export function generateJob(options: CompleteOptions, wish: JobWish): GenerateJob {
  return {
    prompt: wish.prompt,
    numCtx: wish.numCtx,
    sampling: {
      temperature: options.temperature,
      topK: Math.max(options.top_k, 0),
      topP: options.top_p,
      minP: options.min_p,
      typicalP: options.typical_p,
      minKeep: options.min_keep,
      xtc: { probability: options.xtc_probability, threshold: options.xtc_threshold },
      dry: {
        multiplier: options.dry_multiplier,
        base: options.dry_base,
        allowedLength: options.dry_allowed_length,
        lastN: options.dry_penalty_last_n,
        // The engine skips empty ones with a line in its log.
        breakers: options.dry_sequence_breakers.filter((text) => text !== ""),
      },
      repeatLastN: options.repeat_last_n,
      repeatPenalty: options.repeat_penalty || 1,
      presencePenalty: options.presence_penalty,
      frequencyPenalty: options.frequency_penalty,
      mirostat: options.mirostat as 0 | 1 | 2,
      mirostatTau: options.mirostat_tau,
      mirostatEta: options.mirostat_eta,
      logitBias: Object.entries(options.logit_bias ?? {}).map(([token, bias]) => ({
        token: Number(token),
        bias,
      })),
      seed: options.seed === -1 ? null : engineSeed(options.seed),
    },
    // An empty stop string would fire before the first token.
    stop: [...options.stop, ...(wish.stop ?? [])].filter((text) => text !== ""),
    numPredict: Math.max(options.num_predict, -1),
    numKeep: options.num_keep,
    truncate: wish.truncate ?? false,
    shift: wish.shift ?? false,
    deterministic: options.deterministic,
    ...(options.lora === undefined ? {} : { lora: options.lora }),
    grammar: wish.grammar ?? null,
    wantContext: wish.wantContext ?? false,
    renderSpecial: wish.renderSpecial ?? false,
    ...(wish.logprobs === undefined ? {} : { logprobs: wish.logprobs }),
  };
}

/** Converts a seed to the engine's 32 bits. Combines both halves of a longer seed and keeps a 32-bit seed. */
function engineSeed(seed: number): number {
  const bits = BigInt.asUintN(64, BigInt(seed));
  return Number((bits >> 32n) ^ (bits & 0xffff_ffffn));
}
