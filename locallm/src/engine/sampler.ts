import type { Sampling } from "../wire/inference/generate.ts";
import type { Candidates } from "./candidates.ts";
import type { DryStages } from "./dry-stages.ts";
import type { GrammarGate } from "./grammar.ts";
import type { Functions, Pointer } from "./libllama/functions.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface SamplerMakers extends StageMakers<Vocabulary> {
  readonly candidates: Candidates;
}

export interface StageMakers<Words = Pick<Vocabulary, "size">> {
  readonly library: Functions;
  readonly vocabulary: Words;
  readonly dry: DryStages;
}

/** Samples the tokens of one answer. Holds native memory until `free`. */
export class Sampler {
  readonly #library: Functions;
  readonly #chain: Pointer;
  readonly #gate: GrammarGate | null;
  readonly #seesTokens: boolean;
  readonly #candidates: Candidates;
  /** How many of the most likely tokens the chain can draw. 0 if it has to see them all. */
  readonly #reach: number;

  constructor(
    makers: SamplerMakers,
    sampling: Sampling,
    seed: number,
    window: number,
    gate: GrammarGate | null,
  ) {
    const { library, vocabulary } = makers;
    this.#library = library;
    this.#gate = gate;
    this.#candidates = makers.candidates;
    const stages = samplerStages(sampling, seed, window);
    const [first] = stages;
    this.#reach = first?.name === "greedy" ? 1 : first?.name === "top_k" ? first.k : 0;
    this.#seesTokens = stages.some(({ name }) => name === "penalties" || name === "dry");
    // Do everything that can fail before the library allocates memory, because nobody would free it.
    vocabulary.checkIds(sampling.logitBias.map((bias) => bias.token));
    this.#chain = library.llama_sampler_chain_init({ no_perf: true });
    for (const stage of stages) library.llama_sampler_chain_add(this.#chain, makeStage(makers, stage));
  }

  /** Adds the prompt's tokens to the history, because penalties and DRY count them too. Pictures have none. */
  seePrompt(cells: readonly number[]): void {
    if (!this.#seesTokens) return;
    for (const token of cells) if (token >= 0) this.#library.llama_sampler_accept(this.#chain, token);
  }

  /** Samples and accepts the token for the output at `index` of the last step. */
  sample(context: Pointer, index: number): number {
    const [library, chain, reach] = [this.#library, this.#chain, this.#reach];
    if (this.#gate !== null) return this.#gate.sample(chain, this.#seesTokens, reach, context, index);
    const token = reach > 0 ? this.#candidates.drawLikeliest(chain, context, index, reach) : null;
    if (token === null) return library.llama_sampler_sample(chain, context, index);
    library.llama_sampler_accept(chain, token);
    return token;
  }

  free(): void {
    this.#library.llama_sampler_free(this.#chain);
  }
}

export type Stage =
  | { readonly name: "logit_bias"; readonly biases: Sampling["logitBias"] }
  | {
      readonly name: "penalties";
      readonly lastN: number;
      readonly repeat: number;
      readonly frequency: number;
      readonly presence: number;
    }
  | { readonly name: "dry"; readonly settings: Sampling["dry"] }
  | { readonly name: "top_k"; readonly k: number }
  | { readonly name: "typical_p" | "top_p" | "min_p"; readonly p: number; readonly minKeep: number }
  | ({ readonly name: "xtc"; readonly seed: number; readonly minKeep: number } & Sampling["xtc"])
  | { readonly name: "temperature"; readonly temperature: number }
  | { readonly name: "greedy" }
  | { readonly name: "dist"; readonly seed: number }
  | { readonly name: "mirostat"; readonly seed: number; readonly tau: number; readonly eta: number }
  | { readonly name: "mirostat_v2"; readonly seed: number; readonly tau: number; readonly eta: number };

/**
 * The stages in llama.cpp's default order: bias, penalties, DRY, top_k, typical_p, top_p, min_p, XTC, temperature,
 * final sampling. Omits stages that are off. Mirostat replaces top_k to XTC.
 */
export function samplerStages(sampling: Sampling, seed: number, window: number): Stage[] {
  const stages: Stage[] = [];
  if (sampling.logitBias.length > 0) stages.push({ name: "logit_bias", biases: sampling.logitBias });
  // The engine allocates memory for this many tokens.
  const inWindow = (tokens: number) => (tokens < 0 ? window : Math.min(tokens, window));
  const lastN = inWindow(sampling.repeatLastN);
  const { repeatPenalty: repeat, frequencyPenalty: frequency, presencePenalty: presence } = sampling;
  if (lastN > 0 && (repeat !== 1 || frequency !== 0 || presence !== 0)) {
    stages.push({ name: "penalties", lastN, repeat, frequency, presence });
  }
  const { dry, xtc } = sampling;
  if (dry.multiplier > 0 && inWindow(dry.lastN) > 0)
    stages.push({ name: "dry", settings: { ...dry, lastN: inWindow(dry.lastN) } });
  if (sampling.temperature < coldest) return [...stages, { name: "greedy" }];
  const temperature: Stage = { name: "temperature", temperature: sampling.temperature };
  if (sampling.mirostat !== 0) {
    const name = sampling.mirostat === 1 ? "mirostat" : "mirostat_v2";
    return [...stages, temperature, { name, seed, tau: sampling.mirostatTau, eta: sampling.mirostatEta }];
  }
  if (sampling.topK > 0) stages.push({ name: "top_k", k: sampling.topK });
  const { minKeep } = sampling;
  if (sampling.typicalP < 1) stages.push({ name: "typical_p", p: sampling.typicalP, minKeep });
  if (sampling.topP < 1) stages.push({ name: "top_p", p: sampling.topP, minKeep });
  if (sampling.minP > 0) stages.push({ name: "min_p", p: sampling.minP, minKeep });
  // Above one half, at most one token is likely enough, and it stays.
  if (xtc.probability > 0 && xtc.threshold <= 0.5) stages.push({ name: "xtc", ...xtc, seed, minKeep });
  return [...stages, temperature, { name: "dist", seed }];
}

/**
 * Below this temperature only the most likely token can be sampled, and dividing a logit by it may overflow.
 */
const coldest = 1e-6;

/** The number of tokens in the mirostat paper's estimate. */
const mirostatTokens = 100;

/** Exported for the test. */
export function makeStage({ library, vocabulary, ...makers }: StageMakers, stage: Stage): Pointer {
  switch (stage.name) {
    case "logit_bias":
      return library.llama_sampler_init_logit_bias(vocabulary.size, stage.biases.length, stage.biases);
    case "penalties":
      return library.llama_sampler_init_penalties(
        vocabulary.size,
        stage.lastN,
        stage.repeat,
        stage.frequency,
        stage.presence,
      );
    case "dry":
      return makers.dry.make(stage.settings);
    case "top_k":
      return library.llama_sampler_init_top_k(stage.k);
    case "typical_p":
      return library.llama_sampler_init_typical(stage.p, stage.minKeep);
    case "top_p":
      return library.llama_sampler_init_top_p(stage.p, stage.minKeep);
    case "min_p":
      return library.llama_sampler_init_min_p(stage.p, stage.minKeep);
    case "xtc":
      return library.llama_sampler_init_xtc(stage.probability, stage.threshold, stage.minKeep, stage.seed);
    case "temperature":
      return library.llama_sampler_init_temp(stage.temperature);
    case "greedy":
      return library.llama_sampler_init_greedy();
    case "dist":
      return library.llama_sampler_init_dist(stage.seed);
    case "mirostat":
      return library.llama_sampler_init_mirostat(
        vocabulary.size,
        stage.seed,
        stage.tau,
        stage.eta,
        mirostatTokens,
      );
    case "mirostat_v2":
      return library.llama_sampler_init_mirostat_v2(stage.seed, stage.tau, stage.eta);
  }
}
