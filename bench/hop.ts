import { type Engine, loadEngine } from "../locallm/src/engine/engine.ts";
import type { SlotEvent } from "../locallm/src/engine/slots.ts";
import type { Runner } from "../locallm/src/runner/handle.ts";
import { startRunner } from "../locallm/src/runner/start.ts";
import { defaultSampling, type GenerateJob } from "../locallm/src/wire/inference/generate.ts";
import type { LoadRequest } from "../locallm/src/wire/inference/load.ts";
import { onlyProcessor } from "../locallm/src/wire/inference/load.ts";
import { lines, type ServerProcess, startServer } from "../locallm/test/server-process.ts";
import { starterModelPath, starterName, starterStore } from "../locallm/test/starter-model.ts";
import { median, quartiles } from "../testing/speed/bursts.ts";

/**
 * Measures the overhead between engine and client. It times the same answer from the engine in this process,
 * from a runner process, and from a server over HTTP with a runner, in alternation.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const modelPath = await starterModelPath();
  const models = await starterStore();
  if (modelPath === null || models === null) throw new Error("the starter model is not available");
  const threads = 2;
  const load: LoadRequest = {
    modelPath,
    adapters: [],
    numCtx: 2048,
    slots: 1,
    numBatch: null,
    numThread: threads,
    placement: onlyProcessor,
    useMmap: null,
    flashAttention: "auto",
    kvCacheType: "f16",
  };
  const runner = await startRunner(load);
  const server = await startServer({ models });
  try {
    const ways = new Map<string, Way>([
      ["engine in one process", engineWay(load)],
      ["through a runner process", runnerWay(runner)],
      ["through HTTP and a runner", serverWay(server, threads)],
      ["through /api/chat: template and parser too", chatWay(server, threads)],
    ]);
    const times = new Map<string, Times[]>([...ways.keys()].map((name) => [name, []]));
    for (const way of ways.values()) await way(0);
    for (let round = 1; round <= rounds; round++) {
      const turned = [...ways].map((_, index, all) => all[(index + round) % all.length]!);
      for (const [name, way] of turned) times.get(name)!.push(await way(round));
    }
    print(`Overhead of the server: ${tokens} tokens decoded, ${threads} threads; medians of ${rounds}`);
    print("");
    print("| way | tokens/s | ratio | its quartiles | first token, ms |");
    print("|---|---:|---:|---:|---:|");
    const [base = []] = times.values();
    for (const [name, all] of times) {
      const ratios = all.map(({ perSecond }, index) => perSecond / base[index]!.perSecond);
      const perSecond = median(all.map((one) => one.perSecond)).toFixed(1);
      const firstMs = median(all.map((one) => one.firstMs)).toFixed(0);
      print(`| ${name} | ${perSecond} | ${median(ratios).toFixed(2)} | ${quartiles(ratios)} | ${firstMs} |`);
    }
  } finally {
    await runner.kill();
    await server.stop();
  }
}

const rounds = 15;
const tokens = 48;
const prompt = (round: number) => `Story ${round} of a ship that sails around the world.\n\nOnce upon a time`;

interface Times {
  readonly firstMs: number;
  readonly perSecond: number;
}
type Way = (round: number) => Promise<Times>;

/** Measures the times of a stream of texts. */
async function timed(texts: AsyncIterable<unknown>): Promise<Times> {
  const began = performance.now();
  let firstMs = 0;
  let lastMs = 0;
  let count = 0;
  for await (const _ of texts) {
    lastMs = performance.now() - began;
    firstMs ||= lastMs;
    count++;
  }
  return { firstMs, perSecond: ((count - 1) / (lastMs - firstMs)) * 1000 };
}

function job(round: number): GenerateJob {
  return {
    prompt: prompt(round),
    numCtx: 2048,
    sampling: { ...defaultSampling, temperature: 0, seed: 1 },
    stop: [],
    numPredict: tokens,
    numKeep: 0,
    truncate: false,
    shift: false,
    deterministic: false,
    grammar: null,
    wantContext: false,
  };
}

function engineWay(load: LoadRequest): Way {
  let hear: (events: readonly SlotEvent[]) => void = () => {};
  const engine: Engine = loadEngine(
    load,
    { onProgress() {}, onLog() {}, onWant() {}, onStep: (events) => hear(events) },
    null,
  );
  async function* texts(round: number) {
    const arrived: SlotEvent[] = [];
    let wake = () => {};
    hear = (events) => {
      arrived.push(...events);
      wake();
    };
    engine.slots!.submit(round, job(round));
    for (;;) {
      const event = arrived.shift();
      if (event === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if (event.text !== "") yield event.text;
      if (event.error !== null) throw event.error;
      if (event.done !== null) return;
    }
  }
  return (round) => timed(texts(round));
}

function runnerWay(runner: Runner): Way {
  async function* texts(round: number) {
    for await (const event of runner.generate(job(round))) if (event.kind === "text") yield event.text;
  }
  return (round) => timed(texts(round));
}

function serverWay(server: ServerProcess, threads: number): Way {
  async function* texts(round: number) {
    const body = { model: starterName, prompt: prompt(round), options: options(threads) };
    for await (const line of lines(await server.post("/api/generate", body)))
      if (line["response"] !== "") yield line["response"];
  }
  return (round) => timed(texts(round));
}

function chatWay(server: ServerProcess, threads: number): Way {
  async function* texts(round: number) {
    const messages = [{ role: "user", content: prompt(round) }];
    const body = { model: starterName, messages, options: options(threads) };
    for await (const line of lines(await server.post("/api/chat", body))) {
      const { content } = line["message"] as { content: string };
      if (content !== "") yield content;
    }
  }
  return (round) => timed(texts(round));
}

const options = (threads: number) => ({
  temperature: 0,
  seed: 1,
  num_predict: tokens,
  num_ctx: 2048,
  num_thread: threads,
});
