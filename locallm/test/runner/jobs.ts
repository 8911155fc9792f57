import type { Runner } from "../../src/runner/handle.ts";
import { startRunner } from "../../src/runner/start.ts";
import type { GenerateDone, GenerateEvent, GenerateJob } from "../../src/wire/inference/generate.ts";
import { defaultSampling } from "../../src/wire/inference/generate.ts";
import type { LoadRequest } from "../../src/wire/inference/load.ts";
import { onlyProcessor } from "../../src/wire/inference/load.ts";

export function startModel(modelPath: string, load: Partial<LoadRequest> = {}): Promise<Runner> {
  return startRunner(loadOf(modelPath, load));
}

/** A load on the CPU; `changes` overrides its options. */
export function loadOf(modelPath: string, changes: Partial<LoadRequest> = {}): LoadRequest {
  return {
    modelPath,
    adapters: [],
    numCtx: 1024,
    slots: 1,
    numBatch: null,
    // One thread, because two threads that wait for each other are very slow on a busy machine.
    numThread: 1,
    placement: onlyProcessor,
    useMmap: null,
    flashAttention: "auto",
    kvCacheType: "f16",
    ...changes,
  };
}

/** A greedy job of a few tokens; `changes` overrides its options. */
export function newJob(prompt: GenerateJob["prompt"], changes: Partial<GenerateJob> = {}): GenerateJob {
  return {
    prompt,
    numCtx: 1024,
    sampling: { ...defaultSampling, temperature: 0 },
    stop: [],
    numPredict: 12,
    numKeep: 0,
    truncate: false,
    shift: false,
    deterministic: false,
    grammar: null,
    wantContext: false,
    ...changes,
  };
}

export interface Collected {
  readonly text: string;
  readonly chunks: readonly string[];
  readonly tokens: number;
  readonly done: GenerateDone;
}

export async function collect(events: AsyncIterable<GenerateEvent>): Promise<Collected> {
  const chunks: string[] = [];
  let tokens = 0;
  for await (const event of events) {
    if (event.kind === "done") return { text: chunks.join(""), chunks, tokens, done: event };
    chunks.push(event.text);
    tokens += event.tokens;
  }
  throw new Error("the answer ended without a last event");
}

/** Sampling that never ends by itself, because it excludes the starter model's end tokens. */
export const endless = {
  ...defaultSampling,
  temperature: 0,
  logitBias: [
    { token: 0, bias: -1000 },
    { token: 2, bias: -1000 },
  ],
};

/** Sampling without a seed. */
export const free = { ...defaultSampling, temperature: 0.5 };

/** Plain English of about `tokens` tokens. Each `topic` gives a different text. */
export function longText(topic: string, tokens: number): string {
  const sentence = `The story of ${topic} begins in a small village by the river, long before the first bridge was built. `;
  return sentence.repeat(Math.ceil(tokens / 20));
}
