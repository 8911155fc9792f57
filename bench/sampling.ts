import { Candidates } from "../locallm/src/engine/candidates.ts";
import { Context } from "../locallm/src/engine/context.ts";
import { DryStages } from "../locallm/src/engine/dry-stages.ts";
import type { Pointer } from "../locallm/src/engine/libllama/functions.ts";
import { openLibrary } from "../locallm/src/engine/libllama/library.ts";
import { hearLog } from "../locallm/src/engine/libllama/log.ts";
import { Model } from "../locallm/src/engine/model.ts";
import { makeStage, samplerStages } from "../locallm/src/engine/sampler.ts";
import { defaultSampling } from "../locallm/src/wire/inference/generate.ts";
import { type LoadRequest, onlyProcessor } from "../locallm/src/wire/inference/load.ts";
import { starterModelPath } from "../locallm/test/starter-model.ts";
import { quantile } from "../testing/speed/bursts.ts";

/**
 * What sampling takes of a step with 64 answers: the library's chain on all tokens, and on the most likely ones. Both
 * draw from the same steps, in alternation, and must draw the same.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const modelPath = await starterModelPath();
  if (modelPath === null) throw new Error("the starter model is not available");
  const load: LoadRequest = {
    ...{ modelPath, adapters: [], numCtx: 64, slots: answers, numBatch: null, numThread: 2 },
    ...{ placement: onlyProcessor, useMmap: null, flashAttention: "auto", kvCacheType: "f16" },
  };
  const library = openLibrary();
  const { model, context } = hearLog(
    library,
    () => {},
    () => {
      const model = Model.load(library, load, () => {});
      const context = new Context(library, model.pointer, {
        ...{ sequences: answers, contextPerSequence: load.numCtx, ...model.shape, batch: 64, microBatch: 64 },
        ...{ outputs: answers, threads: 2, threadpool: null, flashAttention: "auto", kvCacheType: "f16" },
        ...{ embeddings: false, pooling: 0, unified: false },
      });
      return { model, context };
    },
  );
  const { vocabulary } = model;
  const makers = { library, vocabulary, dry: new DryStages(library, vocabulary) };
  const candidates = new Candidates(library, vocabulary.size);
  print(`Sampling of a step with ${answers} answers, ${vocabulary.size} tokens; n = ${steps}`);
  print("");
  print("| requests | all tokens, ms | quartiles | the most likely, ms | quartiles | other tokens drawn |");
  print("| --- | --: | --: | --: | --: | --: |");
  for (const [name, changes, reach] of kinds) {
    const chains = [0, 1].map(() =>
      Array.from({ length: answers }, (_, seed) => {
        const chain = library.llama_sampler_chain_init({ no_perf: true });
        for (const stage of samplerStages({ ...defaultSampling, ...changes }, seed, load.numCtx))
          library.llama_sampler_chain_add(chain, makeStage(makers, stage));
        return chain;
      }),
    );
    const tokens = Array.from({ length: answers }, (_, answer) => 300 + 17 * answer);
    const times: [all: number[], likeliest: number[]] = [[], []];
    let others = 0;
    context.clearMemory();
    for (let step = -1; step < steps; step++) {
      context.batch.clear();
      for (const [answer, token] of tokens.entries()) context.batch.add(token, step + 1, answer, true);
      context.step();
      const ways = [
        (chain: Pointer, row: number) => library.llama_sampler_sample(chain, context.pointer, row),
        (chain: Pointer, row: number) =>
          candidates.drawLikeliest(chain, context.pointer, row, reach) ??
          library.llama_sampler_sample(chain, context.pointer, row),
      ];
      const drawn: number[][] = [];
      for (const way of step % 2 === 0 ? [0, 1] : [1, 0]) {
        const began = performance.now();
        drawn[way] = chains[way]!.map((chain, row) => ways[way]!(chain, row));
        // The first step maps memory.
        if (step >= 0) times[way]!.push(performance.now() - began);
      }
      for (const [answer, token] of drawn[0]!.entries()) {
        if (token !== drawn[1]![answer]) others++;
        tokens[answer] = token;
      }
    }
    for (const chain of chains.flat()) library.llama_sampler_free(chain);
    const shown = times.map((all) => {
      const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile(all, part).toFixed(2));
      return `${middle} | ${low}–${high}`;
    });
    print(`| ${name} | ${shown.join(" | ")} | ${others} |`);
  }
}

const answers = 64;
const steps = 20;
const kinds = [
  ["as clients send them (top_k 40, top_p 0.9)", {}, 40],
  ["temperature 0", { temperature: 0 }, 1],
  ["top_k 100, min_p 0.05", { topK: 100, topP: 1, minP: 0.05 }, 100],
] as const;
