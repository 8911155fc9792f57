import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import koffi from "koffi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seeded } from "../../test/crowd.ts";
import { loadOf } from "../../test/runner/jobs.ts";
import { smallLlama } from "../../test/small-llama.ts";
import { defaultSampling } from "../wire/inference/generate.ts";
import { Candidates } from "./candidates.ts";
import { DryStages } from "./dry-stages.ts";
import { Grammars } from "./grammar.ts";
import type { Functions } from "./libllama/functions.ts";
import { type Library, openLibrary } from "./libllama/library.ts";
import { hearLog } from "./libllama/log.ts";
import { Model } from "./model.ts";
import { makeStage, Sampler, type Stage, samplerStages } from "./sampler.ts";

const names = (changes: object) =>
  samplerStages({ ...defaultSampling, ...changes }, 1, 100).map((stage) => stage.name);

describe("samplerStages", () => {
  it("uses llama.cpp's order if every stage is on", () => {
    expect(
      names({
        logitBias: [{ token: 1, bias: 1 }],
        repeatPenalty: 1.1,
        dry: { ...defaultSampling.dry, multiplier: 1 },
        typicalP: 0.9,
        minP: 0.1,
        xtc: { probability: 0.5, threshold: 0.1 },
        temperature: 1,
      }),
    ).toEqual([
      ...["logit_bias", "penalties", "dry", "top_k", "typical_p", "top_p", "min_p", "xtc"],
      ...["temperature", "dist"],
    ]);
  });

  it("omits stages that are off", () => {
    expect(names({ topK: 0, topP: 1 })).toEqual(["temperature", "dist"]);
    expect(names({})).toEqual(["top_k", "top_p", "temperature", "dist"]);
    for (const on of [{ repeatPenalty: 1.1 }, { presencePenalty: 1 }, { frequencyPenalty: -1 }]) {
      expect(names({ topK: 0, topP: 1, ...on })[0]).toBe("penalties");
      expect(names({ topK: 0, topP: 1, ...on, repeatLastN: 0 })[0]).toBe("temperature");
    }
  });

  it("lets DRY see at most the window, and omits it and XTC where they have no effect", () => {
    const dry = { ...defaultSampling.dry, multiplier: 1 };
    const [stage] = samplerStages({ ...defaultSampling, dry: { ...dry, lastN: 2 ** 31 - 1 } }, 1, 4096);
    expect(stage).toMatchObject({ name: "dry", settings: { lastN: 4096 } });
    expect(names({ dry: { ...dry, lastN: 0 } })[0]).toBe("top_k");
    expect(names({ xtc: { probability: 1, threshold: 0.51 } })).not.toContain("xtc");
  });

  it("takes the most likely token at temperature 0, after bias and penalties", () => {
    expect(names({ temperature: 0, repeatPenalty: 1.2, topK: 40 })).toEqual(["penalties", "greedy"]);
  });

  it("does the same at a temperature so low that logits would become infinite", () => {
    expect(names({ temperature: 1e-40, topP: 0.9 })).toEqual(["greedy"]);
    expect(names({ temperature: 1e-38, mirostat: 2 })).toEqual(["greedy"]);
    expect(names({ temperature: 0.001 }).at(-1)).toBe("dist");
  });

  it("uses mirostat instead of top_k to min_p", () => {
    expect(names({ mirostat: 1, minP: 0.1 })).toEqual(["temperature", "mirostat"]);
    expect(names({ mirostat: 2 })).toEqual(["temperature", "mirostat_v2"]);
  });

  it("considers the whole window with repeat_last_n -1", () => {
    const [stage] = samplerStages({ ...defaultSampling, repeatLastN: -1, repeatPenalty: 2 }, 1, 4096);
    expect(stage).toMatchObject({ name: "penalties", lastN: 4096 });
  });

  it("considers at most the tokens of the window", () => {
    const sampling = { ...defaultSampling, repeatPenalty: 2 };
    const lastN = (repeatLastN: number) => samplerStages({ ...sampling, repeatLastN }, 1, 4096)[0];
    expect(lastN(2 ** 31 - 1)).toMatchObject({ name: "penalties", lastN: 4096 });
    expect(lastN(64)).toMatchObject({ name: "penalties", lastN: 64 });
  });
});

let folder: string;
let model: Model;
let library: Library;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-sampler-"));
  const modelPath = join(folder, "small.gguf");
  await writeFile(modelPath, smallLlama(1));
  library = openLibrary();
  hearLog(
    library,
    () => {},
    () => {
      model = Model.load(library, loadOf(modelPath), () => {});
    },
  );
});
afterAll(async () => {
  model.free();
  await rm(folder, { recursive: true, force: true });
});

describe("the stages in the library", () => {
  /** Applies stages to logits. Returns the remaining tokens, their logits, and the drawn token. */
  function apply(stages: readonly Stage[], logits: readonly number[], seen: readonly number[] = []) {
    const size = logits.length;
    const block = new ArrayBuffer(size * 12);
    const view = new DataView(block);
    for (const [token, logit] of logits.entries()) {
      view.setInt32(token * 12, token, true);
      view.setFloat32(token * 12 + 4, logit, true);
    }
    const array = new BigInt64Array([koffi.address(block) as bigint, BigInt(size), -1n, 0n]);
    const chain = library.llama_sampler_chain_init({ no_perf: true });
    const vocabulary = { size };
    const dry = new DryStages(library, model.vocabulary);
    for (const stage of stages)
      library.llama_sampler_chain_add(chain, makeStage({ library, vocabulary, dry }, stage));
    for (const token of seen) library.llama_sampler_accept(chain, token);
    library.llama_sampler_apply(chain, array);
    const count = Number(array[1]);
    const left = new DataView(koffi.view(array[0]!, count * 12).slice(0));
    library.llama_sampler_free(chain);
    // Reading it here keeps it from being collected while only the library has its address.
    expect(block.byteLength).toBe(size * 12);
    const rows = Array.from({ length: count }, (_, row) => ({
      token: left.getInt32(row * 12, true),
      logit: left.getFloat32(row * 12 + 4, true),
    }));
    return { tokens: rows.map((row) => row.token).sort(), rows, drawn: rows[Number(array[2])]?.token };
  }

  // Probabilities 0.5, 0.3, 0.15, 0.05.
  const logits = [0.5, 0.3, 0.15, 0.05].map(Math.log);

  it("top_k keeps the k most likely tokens", () => {
    expect(apply([{ name: "top_k", k: 2 }], logits).tokens).toEqual([0, 1]);
  });

  it("top_p keeps the most likely tokens that together reach p", () => {
    expect(apply([{ name: "top_p", p: 0.6, minKeep: 0 }], logits).tokens).toEqual([0, 1]);
    expect(apply([{ name: "top_p", p: 0.9, minKeep: 0 }], logits).tokens).toEqual([0, 1, 2]);
  });

  it("min_p keeps the tokens with at least that share of the most likely one's probability", () => {
    expect(apply([{ name: "min_p", p: 0.5, minKeep: 0 }], logits).tokens).toEqual([0, 1]);
  });

  it("typical_p keeps the tokens whose surprise is nearest to the mean", () => {
    // Entropy 1.14; surprises 0.69, 1.20, 1.90, 3.00: the second is the most typical.
    expect(apply([{ name: "typical_p", p: 0.25, minKeep: 0 }], logits).tokens).toEqual([1]);
    expect(apply([{ name: "typical_p", p: 0.7, minKeep: 0 }], logits).tokens).toEqual([0, 1]);
  });

  it("min_keep keeps that many tokens", () => {
    expect(apply([{ name: "top_p", p: 0.1, minKeep: 3 }], logits).tokens).toEqual([0, 1, 2]);
    expect(apply([{ name: "min_p", p: 1, minKeep: 2 }], logits).tokens).toEqual([0, 1]);
  });

  it("XTC drops the likely tokens but the least likely of them", () => {
    const xtc = { name: "xtc", probability: 1, threshold: 0.1, seed: 1, minKeep: 0 } as const;
    expect(apply([xtc], logits).tokens).toEqual([2, 3]);
    expect(apply([{ ...xtc, threshold: 0.4 }], logits).tokens).toEqual([0, 1, 2, 3]);
  });

  it("DRY lowers the token that would continue a repetition, unless a breaker comes between", () => {
    const settings = { multiplier: 1, base: 2, allowedLength: 2, lastN: 64, breakers: [] };
    const lowered = (seen: readonly number[], breakers: readonly string[] = []) =>
      apply([{ name: "dry", settings: { ...settings, breakers } }], new Array(300).fill(0), seen)
        .rows.filter(({ logit }) => logit < 0)
        .map(({ token, logit }) => [token, logit]);
    const [a, b, c] = [101, 102, 103];
    // Three tokens are repeated, one more than is free: 1 × 2¹.
    expect(lowered([a, b, c, 110, 120, a, b, c])).toEqual([[110, -2]]);
    expect(lowered([a, b, 110, 120, a, b])).toEqual([[110, -1]]);
    expect(lowered([b, 110, 120, b])).toEqual([]);
    const [, middle] = [a, model.vocabulary.piece(b, true)];
    expect(lowered([a, b, c, 110, 120, a, b, c], [Buffer.from(middle).toString()])).toEqual([]);
  });

  it("temperature divides the logits", () => {
    const { rows } = apply([{ name: "temperature", temperature: 0.5 }], [1, 2]);
    expect(rows.map((row) => row.logit)).toEqual([2, 4]);
  });

  it("logit_bias adds to a logit", () => {
    const biases = [{ token: 3, bias: 9 }];
    expect(apply([{ name: "logit_bias", biases }, { name: "greedy" }], logits).drawn).toBe(3);
  });

  it("penalties lower the logits of seen tokens", () => {
    const stage = (changes: object): Stage => ({
      name: "penalties",
      lastN: 3,
      repeat: 1,
      frequency: 0,
      presence: 0,
      ...changes,
    });
    const after = (changes: object, seen: number[]) =>
      apply([stage(changes)], [4, 2, 1, 0], seen)
        .rows.sort((a, b) => a.token - b.token)
        .map((row) => row.logit);
    expect(after({ repeat: 2 }, [0])).toEqual([2, 2, 1, 0]);
    expect(after({ presence: 1 }, [0, 0])).toEqual([3, 2, 1, 0]);
    expect(after({ frequency: 1 }, [0, 0])).toEqual([2, 2, 1, 0]);
    // Only the last three tokens count.
    expect(after({ repeat: 2 }, [0, 1, 1, 1])).toEqual([4, 1, 1, 0]);
  });

  it("dist draws by probability, with the same result for the same seed", () => {
    const counts = [0, 0, 0, 0];
    for (let seed = 0; seed < 400; seed++) {
      const { drawn } = apply([{ name: "dist", seed }], logits);
      expect(apply([{ name: "dist", seed }], logits).drawn).toBe(drawn);
      counts[drawn!]!++;
    }
    expect(counts[0]).toBeGreaterThan(counts[1]!);
    expect(counts[1]).toBeGreaterThan(counts[2]!);
    expect(counts[3]).toBeGreaterThan(0);
  });

  it("mirostat 1 and 2 keep few tokens with a low target and all with a high one", () => {
    for (const name of ["mirostat", "mirostat_v2"] as const) {
      const draw = (tau: number) => apply([{ name, seed: 5, tau, eta: 0.1 }], logits);
      expect(draw(0.01).tokens).toEqual([0]);
      expect(draw(9).tokens).toEqual([0, 1, 2, 3]);
    }
  });
});

describe("the most likely tokens alone", () => {
  const size = 5003;

  /** Logits like those of a model: few high ones. With `grain`, many are equal. */
  function logitsOf(random: () => number, grain: number): Float32Array<ArrayBuffer> {
    return Float32Array.from({ length: size }, () => {
      const logit = -4 * Math.log(random()) * random() - 3;
      return grain > 0 ? Math.round(logit / grain) * grain : logit;
    });
  }

  it("draw what all of them draw: 1,000 seeded requests, of which each draws several tokens", () => {
    const random = seeded(38);
    let logits = new Float32Array(size);
    const fake: Functions = { ...library, llama_get_logits_ith: () => koffi.address(logits) as bigint };
    const [few, all] = [new Candidates(fake, size), new Candidates(fake, size)];
    const dry = new DryStages(library, model.vocabulary);
    const count = { few: 0, all: 0 };
    for (let seed = 0; seed < 1000; seed++) {
      const changes = {
        ...{
          topK: [1, 3, 40, 40, 100][seed % 5]!,
          topP: [0.9, 1, 0.5][seed % 3]!,
          minP: [0, 0.05][seed % 2]!,
        },
        ...{ typicalP: seed % 7 === 0 ? 0.8 : 1, temperature: [0.8, 0, 1.5, 0.3][seed % 4]! },
        xtc: { probability: seed % 11 === 0 ? 0.5 : 0, threshold: 0.1 },
      };
      const stages = samplerStages({ ...defaultSampling, ...changes }, seed, 100);
      const chains = [0, 1].map(() => {
        const chain = library.llama_sampler_chain_init({ no_perf: true });
        for (const stage of stages)
          library.llama_sampler_chain_add(chain, makeStage({ library, vocabulary: { size }, dry }, stage));
        return chain;
      });
      const reach = stages[0]?.name === "greedy" ? 1 : changes.topK;
      for (let token = 0; token < 3; token++) {
        logits = logitsOf(random, seed % 10 === 9 ? 0.25 : 0);
        const drawn = few.drawLikeliest(chains[0]!, 0n, 0, reach);
        count[drawn === null ? "all" : "few"]++;
        const right = all.draw(chains[1]!, 0n, 0, null);
        expect(drawn ?? few.draw(chains[0]!, 0n, 0, null)).toBe(right);
      }
      for (const chain of chains) library.llama_sampler_free(chain);
    }
    expect(count.few).toBeGreaterThan(2000);
    // Equal logits leave the choice to the engine.
    expect(count.all).toBeGreaterThan(100);
  });
});

describe("a sampler", () => {
  const word = { gbnf: 'root ::= "a" [a-z]* "b"' };
  const biases = (...tokens: number[]) => tokens.map((token) => ({ token, bias: 1 }));

  it.each([
    ["a bias for a token beyond the vocabulary", { logitBias: biases(5, 1e9) }, null],
    ["the same beside a grammar", { logitBias: biases(5, 1e9) }, word],
    [
      "a negative token beside a lazy grammar",
      { logitBias: biases(-1) },
      { ...word, lazy: { words: ["x"] } },
    ],
    ["half a token", { logitBias: biases(0.5) }, word],
    ["a grammar that does not parse", { repeatPenalty: 1.1 }, { gbnf: "root ::= (" }],
    [
      "nothing wrong",
      { logitBias: biases(5), repeatPenalty: 1.1, mirostat: 1 as const, temperature: 1 },
      word,
    ],
  ])("releases all memory of the library: %s", (_, changes, grammar) => {
    const { counted, live } = countSamplers(library);
    const make = () => {
      const gate = grammar === null ? null : new Grammars(counted, model.vocabulary).gate(grammar, false);
      const dry = new DryStages(counted, model.vocabulary);
      const candidates = new Candidates(counted, model.vocabulary.size);
      const makers = { library: counted, vocabulary: model.vocabulary, dry, candidates };
      return new Sampler(makers, { ...defaultSampling, ...changes }, 1, 100, gate);
    };
    try {
      make().free();
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^invalid_(token|grammar)$/) });
    }
    expect([...live]).toEqual([]);
  });
});

/** The library, and the samplers that it made and that were not freed yet. A chain frees the samplers added to it. */
function countSamplers(library: Library): { counted: Functions; live: Set<bigint> } {
  const live = new Set<bigint>();
  const counted = new Proxy(library, {
    get(target, name: keyof Functions) {
      const call = target[name] as (...given: unknown[]) => unknown;
      if (!name.startsWith("llama_sampler_")) return call;
      return (...given: bigint[]) => {
        if (name === "llama_sampler_chain_add") live.delete(given[1]!);
        if (name === "llama_sampler_free") live.delete(given[0]!);
        const result = call(...given);
        if (/_init(_|$)/.test(name) && result !== null) live.add(result as bigint);
        return result;
      };
    },
  });
  return { counted, live };
}
