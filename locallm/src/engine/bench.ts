import { counted } from "../wire/counted.ts";
import { LocallmError } from "../wire/errors.ts";
import {
  type BenchFigures,
  type BenchJob,
  type BenchStage,
  benchWindow,
  type Perplexity,
} from "../wire/inference/bench.ts";
import { defaultSampling, type GenerateDone, type GenerateJob } from "../wire/inference/generate.ts";
import { type Engine, loadEngine } from "./engine.ts";

const promptTokens = 512;
const answerTokens = 64;
/** What an answer follows. */
const headTokens = 32;
const streams = 4;
const repeats = 3;
/** A part that takes longer than this is not repeated. */
const slowMs = 5_000;

/** Loads the model and measures it. Call it in a process that ends afterwards. Throws like `loadEngine`. */
export async function benchEngine(
  { load, text, windows }: BenchJob,
  onStage: (stage: BenchStage) => void,
): Promise<BenchFigures> {
  onStage("loading");
  const running = new Map<number, PromiseWithResolvers<GenerateDone>>();
  const engine = loadEngine(
    load,
    {
      onProgress: () => {},
      onLog: () => {},
      onWant: () => {},
      onStep(events) {
        for (const { id, done, error } of events) {
          if (done !== null) running.get(id)?.resolve(done);
          if (error !== null) running.get(id)?.reject(error);
        }
      },
    },
    null,
  );
  const { slots, vocabulary, info } = engine;
  if (slots === null) throw new LocallmError("model_cannot", { ability: "generate" });
  const tokens = vocabulary.tokenize(text, { addSpecial: false, parseSpecial: false });
  const window = Math.min(benchWindow, info.trainContext);
  const parts = Math.min(windows, Math.floor(tokens.length / window));
  if (parts === 0 && windows > 0)
    throw new LocallmError("invalid_field", {
      field: "the text",
      problem: `has ${counted(tokens.length, "token")}; perplexity needs at least ${window}`,
    });
  let count = 0;
  const run = async (length: number, numPredict: number) => {
    const id = ++count;
    const ended = Promise.withResolvers<GenerateDone>();
    running.set(id, ended);
    // No two prompts begin alike, so that none is in the cache.
    const from = (id * 37) % Math.max(1, tokens.length - length);
    slots.submit(id, jobOf(tokens.slice(from, from + length), numPredict, info.contextLength));
    return await ended.promise;
  };
  const length = Math.min(promptTokens, info.contextLength - 1);
  onStage("prefill");
  await run(headTokens, 1);
  const prefill = await median(async () => {
    const done = await run(length, 0);
    return done.promptTokens / (done.promptNs / 1e9);
  });
  onStage("decode");
  const decode = await median(async () => pace(await run(headTokens, answerTokens)));
  onStage("streams");
  const fourStreams = await median(async () => {
    const ended = await Promise.all(Array.from({ length: streams }, () => run(headTokens, answerTokens)));
    return ended.reduce((sum, done) => sum + pace(done), 0);
  });
  if (parts > 0) onStage("perplexity");
  return {
    ...{ prefill, decode, fourStreams },
    memoryBytes: Object.values(info.sizeBytes).reduce((sum, bytes) => sum + bytes, 0),
    perplexity: parts === 0 ? null : await perplexityOf(engine, tokens, { window, parts }),
    devices: info.devices.map(({ description, name }) => description || name),
  };
}

function jobOf(prompt: readonly number[], numPredict: number, numCtx: number): GenerateJob {
  return {
    ...{ prompt, numPredict, numCtx, sampling: { ...defaultSampling, temperature: 0 } },
    ...{ stop: [], numKeep: 0, truncate: false, shift: false, deterministic: false },
    ...{ grammar: null, wantContext: false },
  };
}

/** Tokens per second of an answer. Its first token comes from the prompt's last step. */
function pace({ evalTokens, evalNs }: GenerateDone): number {
  return evalTokens < 2 ? 0 : (evalTokens - 1) / (evalNs / 1e9);
}

async function median(measure: () => Promise<number>): Promise<number> {
  const found: number[] = [];
  const beganMs = performance.now();
  do found.push(await measure());
  while (found.length < repeats && performance.now() - beganMs < slowMs);
  return found.sort((a, b) => a - b)[Math.floor(found.length / 2)]!;
}

/**
 * Measures as llama.cpp's `llama-perplexity` does: each window begins with the start token where the vocabulary has one,
 * and only its second half is predicted, so that each token has something before it.
 */
async function perplexityOf(
  engine: Engine,
  tokens: readonly number[],
  { window, parts }: { readonly window: number; readonly parts: number },
): Promise<Perplexity> {
  const { vocabulary } = engine;
  const scorer = engine.scorer();
  const costs: number[] = [];
  for (let index = 0; index < parts; index++) {
    const part = tokens.slice(index * window, (index + 1) * window);
    if (vocabulary.addBos) part[0] = vocabulary.bos;
    for (const logprob of await scorer.logprobs(part, Math.floor(window / 2) + 1)) costs.push(-logprob);
  }
  const mean = costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
  const spread = costs.reduce((sum, cost) => sum + (cost - mean) ** 2, 0) / (costs.length - 1);
  const value = Math.exp(mean);
  return { value, error: value * Math.sqrt(spread / costs.length), tokens: costs.length };
}
