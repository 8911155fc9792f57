import { describe, expect, it } from "vitest";
import { mergeOptions, type Options } from "../wire/options.ts";
import { generateJob } from "./generate-job.ts";

const job = (options: Options, wish = {}) =>
  generateJob(mergeOptions(options), { prompt: "x", numCtx: 64, ...wish });

describe("generateJob", () => {
  it.each<[Options, object]>([
    [{ temperature: 1.5 }, { temperature: 1.5 }],
    [{ top_k: 7 }, { topK: 7 }],
    [{ top_k: -1 }, { topK: 0 }],
    [{ top_p: 0.5 }, { topP: 0.5 }],
    [{ min_p: 0.1 }, { minP: 0.1 }],
    [{ typical_p: 0.3 }, { typicalP: 0.3 }],
    [{ repeat_last_n: -1 }, { repeatLastN: -1 }],
    [{ repeat_penalty: 1.3 }, { repeatPenalty: 1.3 }],
    [{ presence_penalty: -1 }, { presencePenalty: -1 }],
    [{ frequency_penalty: 2 }, { frequencyPenalty: 2 }],
    [{ mirostat: 2 }, { mirostat: 2 }],
    [{ mirostat_tau: 3 }, { mirostatTau: 3 }],
    [{ mirostat_eta: 0.2 }, { mirostatEta: 0.2 }],
    [{ min_keep: 2 }, { minKeep: 2 }],
    [{ xtc_probability: 0.5, xtc_threshold: 0.2 }, { xtc: { probability: 0.5, threshold: 0.2 } }],
    [
      {
        ...{ dry_multiplier: 0.8, dry_base: 2, dry_allowed_length: 3, dry_penalty_last_n: 9 },
        dry_sequence_breakers: ["\n", ""],
      },
      { dry: { multiplier: 0.8, base: 2, allowedLength: 3, lastN: 9, breakers: ["\n"] } },
    ],
    [{ logit_bias: { "5": -3 } }, { logitBias: [{ token: 5, bias: -3 }] }],
    [{ seed: 9 }, { seed: 9 }],
    [{ repeat_penalty: 0 }, { repeatPenalty: 1 }],
    [{ seed: 2 ** 32 - 1 }, { seed: 2 ** 32 - 1 }],
    [{ seed: 2 ** 32 + 9 }, { seed: 8 }],
    [{ seed: Number("5577006791947779410") }, { seed: 1_251_573_281 }],
    [{ seed: 2 ** 63 }, { seed: 2 ** 31 }],
    [{ seed: -2 }, { seed: 1 }],
    [{ seed: -1 }, { seed: null }],
  ])("passes %j to the sampler", (options, sampling) => {
    expect(job(options).sampling).toEqual({ ...job({}).sampling, ...sampling });
  });

  it.each<[Options, object]>([
    [{ num_predict: 5 }, { numPredict: 5 }],
    [{ num_predict: -2 }, { numPredict: -1 }],
    [{ num_keep: 0 }, { numKeep: 0 }],
    [{ deterministic: true }, { deterministic: true }],
    [{ stop: ["a", ""] }, { stop: ["a"] }],
  ])("passes %j to the engine", (options, fields) => {
    expect(job(options)).toEqual({ ...job({}), ...fields });
  });

  it("adds the dialogue's stop strings to the request's", () => {
    expect(job({ stop: ["a"] }, { stop: ["<|end|>"] }).stop).toEqual(["a", "<|end|>"]);
  });

  it("uses Ollama's defaults", () => {
    expect(job({})).toMatchObject({ numPredict: -1, numKeep: 4, stop: [], truncate: false, shift: false });
    expect(job({}).sampling).toEqual({
      ...{ temperature: 0.8, topK: 40, topP: 0.9, minP: 0, typicalP: 1, seed: null, logitBias: [] },
      ...{ repeatLastN: 64, repeatPenalty: 1, presencePenalty: 0, frequencyPenalty: 0 },
      ...{ minKeep: 0, xtc: { probability: 0, threshold: 0.1 } },
      dry: { multiplier: 0, base: 1.75, allowedLength: 2, lastN: -1, breakers: ["\n", ":", '"', "*"] },
      ...{ mirostat: 0, mirostatTau: 5, mirostatEta: 0.1 },
    });
  });
});
