import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Random } from "../../../fuzz/random.ts";
import type { Drafts } from "../../src/engine/answer.ts";
import type { Guesses } from "../../src/engine/guesses.ts";
import { Model } from "../../src/engine/model.ts";
import { quantizeFile } from "../../src/engine/quantize.ts";
import { defaultSampling, type GenerateJob } from "../../src/wire/inference/generate.ts";
import { smallLlama } from "../small-llama.ts";
import { loadOf } from "./jobs.ts";
import { type Asked, Bench, closeKept, silently, text } from "./slot-bench.ts";
import { library } from "./slots-here.ts";

let folder: string;
let model: Model;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-drafts-"));
  const [floats, small] = [join(folder, "floats"), join(folder, "small")];
  await writeFile(floats, smallLlama(8));
  // Products of whole numbers are the same for one row and for several, so that answers can be compared.
  quantizeFile({ from: floats, to: small, fileType: q8_0, allowRequantize: false, isDry: false }, () => {});
  model = silently(() => Model.load(library, loadOf(small), () => {}));
});
afterEach(closeKept);
afterAll(() => rm(folder, { recursive: true, force: true }));

const window = 256;
/** The engine's number of this kind of weights. */
const q8_0 = 7;

const newBench = (drafts: Drafts | null, slots = 1, cells?: number) =>
  new Bench(model, slots, window, null, cells, drafts);

interface Request {
  readonly prompt: readonly number[];
  readonly changes: Partial<GenerateJob>;
}

/** Requests of every kind that changes what is sampled, each with a prompt and a seed of its own. */
function requests(count: number): Request[] {
  const hot = { ...defaultSampling, temperature: 1.1 };
  const samplings = [
    { ...defaultSampling, temperature: 0 },
    hot,
    { ...hot, topK: 0, topP: 1, minP: 0.02 },
    { ...hot, repeatPenalty: 1.4, frequencyPenalty: 0.6, presencePenalty: 0.3, repeatLastN: 30 },
    { ...hot, dry: { ...defaultSampling.dry, multiplier: 0.9 }, xtc: { probability: 0.4, threshold: 0.05 } },
    { ...hot, mirostat: 1 as const },
    { ...hot, mirostat: 2 as const },
    { ...hot, logitBias: [{ token: 4 + 0x41, bias: 3 }] },
  ];
  const others: Partial<GenerateJob>[] = [
    {},
    { grammar: { gbnf: 'root ::= ("<" [a-m]{1,9} [0-9]+ ">")+' } },
    { stop: ["e", "Q1"] },
    { numPredict: 1 },
    { shift: true, numPredict: 300, numKeep: 5 },
    { logprobs: { top: 3 } },
  ];
  return Array.from({ length: count }, (_, at) => ({
    prompt: text(20 + ((at * 37) % 130), at),
    changes: {
      ...{ numCtx: window, numPredict: 60, logprobs: { top: 1 } },
      ...others[at % others.length],
      sampling: { ...samplings[at % samplings.length]!, seed: 1000 + at },
    },
  }));
}

/** Guesses what an answer to the prompt was before, with one wrong token among eight. */
function recalled(known: ReadonlyMap<string, readonly number[]>, seed: number): Drafts {
  const random = new Random(seed);
  return {
    rowCost: 0,
    guess: (prompt): Guesses => {
      const answer = known.get(prompt.join()) ?? [];
      let at = 0;
      return {
        add: () => at++,
        next: (most) =>
          answer
            .slice(at, at + Math.min(most, random.below(14)))
            .map((token) => (random.below(8) === 0 ? 4 + 0x20 + random.below(95) : token)),
      };
    },
  };
}

const answerOf = ({ done, logprobs }: Asked, { prompt }: Request) => ({
  tokens: done.context!.slice(prompt.length),
  ended: [done.reason, done.stopString, done.evalTokens, done.shiftedTokens],
  likely: logprobs.map((each) => [...each]),
});

describe("drafts", () => {
  const all = requests(48);
  let plain: Asked[];
  let known: Map<string, readonly number[]>;
  beforeAll(async () => {
    plain = await Promise.all(all.map(({ prompt, changes }) => newBench(null).ask(prompt, changes)));
    known = new Map(
      all.map(({ prompt }, at) => [prompt.join(), plain[at]!.done.context!.slice(prompt.length)]),
    );
  });

  it.each([
    { way: "alone", slots: 1 },
    { way: "beside others", slots: 5 },
  ])("change no token, no probability and no end: $way", async ({ slots }) => {
    const bench = newBench(recalled(known, 5), slots);
    const answers = await Promise.all(all.map(({ prompt, changes }) => bench.ask(prompt, changes)));
    for (const [at, request] of all.entries())
      expect([at, answerOf(answers[at]!, request)]).toEqual([at, answerOf(plain[at]!, request)]);
    const counts = answers.map(({ done }) => done.drafts ?? { tokens: 0, accepted: 0 });
    const accepted = counts.reduce((sum, each) => sum + each.accepted, 0);
    expect(accepted).toBeGreaterThan(1000);
    expect(counts.reduce((sum, each) => sum + each.tokens, 0)).toBeGreaterThan(accepted + 100);
  });

  it("change nothing in a shared cache either", async () => {
    // One after the other, because attention adds up in the order of the cells.
    const [benches, cells] = [[newBench(null, 2, window), newBench(recalled(known, 7), 2, window)], window];
    expect(benches.map(({ context }) => context.sharedCells)).toEqual([cells, cells]);
    for (const [at, request] of all.slice(0, 12).entries()) {
      const [one, other] = await Promise.all(
        benches.map((bench) => bench.ask(request.prompt, request.changes)),
      );
      expect([at, answerOf(other!, request)]).toEqual([at, answerOf(one!, request)]);
    }
  });

  it("leave nothing of a wrong guess in the cache when the client leaves in the middle", async () => {
    const greedy = { sampling: { ...defaultSampling, temperature: 0 }, numPredict: 3 };
    let reused = 0;
    for (const [at, { prompt, changes }] of all.slice(0, 24).entries()) {
      // The next turn of the conversation continues what the slot's cache holds.
      const next = [...prompt, ...known.get(prompt.join())!.slice(0, 30), ...text(9, at)];
      const [asked, other] = await Promise.all(
        [recalled(known, at), null].map(async (drafts) => {
          const bench = newBench(drafts);
          const id = bench.nextId;
          let left = at;
          bench.onEvent = (event) => {
            if (event.id === id && left-- === 0) bench.slots.cancel(id);
          };
          void bench.ask(prompt, { ...changes, shift: false });
          return await bench.ask(next, greedy);
        }),
      );
      reused += asked!.done.cachedTokens - prompt.length;
      expect(asked!.logprobs).toEqual(other!.logprobs);
    }
    expect(reused).toBeGreaterThan(100);
  });

  it("are no part of a deterministic answer", async () => {
    const { prompt, changes } = all[1]!;
    const exact = { ...changes, deterministic: true };
    const asked = await newBench(recalled(known, 3), 2).ask(prompt, exact);
    expect(asked.done.drafts).toBeUndefined();
    expect(asked.logprobs).toEqual((await newBench(null).ask(prompt, exact)).logprobs);
  });
});
