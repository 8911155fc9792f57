import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Random } from "../../../fuzz/random.ts";
import type { Drafts } from "../../src/engine/answer.ts";
import { DraftModel } from "../../src/engine/draft-model.ts";
import { loadEngine, measureEngine } from "../../src/engine/engine.ts";
import type { Guesses } from "../../src/engine/guesses.ts";
import { Model } from "../../src/engine/model.ts";
import { quantizeFile } from "../../src/engine/quantize.ts";
import { fixedRowCost } from "../../src/engine/row-cost.ts";
import { defaultSampling, type GenerateJob } from "../../src/wire/inference/generate.ts";
import type { LoadRequest } from "../../src/wire/inference/load.ts";
import { smallLlama, smallModel } from "../small-llama.ts";
import { loadOf } from "./jobs.ts";
import { type Asked, Bench, closeKept, silently, text } from "./slot-bench.ts";
import { library, newContext } from "./slots-here.ts";

let folder: string;
let model: Model;
/** Other weights with the same tokens. */
let other: Model;
let paths: Record<"small" | "other" | "mamba" | "further", string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-drafts-"));
  const at = (name: string) => join(folder, name);
  paths = { small: at("small"), other: at("other"), mamba: at("mamba"), further: at("further") };
  for (const [to, seed] of [
    [paths.small, 8],
    [paths.other, 9],
  ] as const) {
    await writeFile(at("floats"), smallLlama(seed));
    // Products of whole numbers are the same for one row and for several, so that answers can be compared.
    quantizeFile({ from: at("floats"), to, fileType: q8_0, allowRequantize: false, isDry: false }, () => {});
  }
  await writeFile(paths.mamba, smallModel("mamba", 3));
  await writeFile(paths.further, smallModel("llama", 3, undefined, further));
  const load = (path: string) => silently(() => Model.load(library, loadOf(path), () => {}));
  model = load(paths.small);
  other = load(paths.other);
});
afterEach(closeKept);
afterAll(() => rm(folder, { recursive: true, force: true }));

const window = 256;
/** The engine's number of this kind of weights. */
const q8_0 = 7;

/** More control tokens than a vocabulary of the same family may have. */
const further = Array.from({ length: 200 }, (_, at) => `<|spare${at}|>`);
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
    rowCost: fixedRowCost(0),
    model: null,
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
  const all = requests(24);
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
    expect(accepted).toBeGreaterThan(500);
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
    for (const [at, { prompt, changes }] of all.slice(0, 10).entries()) {
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
    expect(reused).toBeGreaterThan(25);
  });

  it("come from a smaller model where the text says nothing, and change nothing either", async () => {
    for (const [from, least] of [
      [model, 0.9],
      [other, 0],
    ] as const) {
      const context = silently(() => newContext(from, 5, window, undefined, 63));
      const drafter = new DraftModel({
        ...{ library, context, vocabSize: from.vocabulary.size, slots: 5, threads: 1, leastLikely: 0 },
        isEnd: (token) => from.vocabulary.isEnd(token),
      });
      const none: Guesses = { add: () => {}, next: () => [] };
      const bench = newBench({ rowCost: fixedRowCost(0), guess: () => none, model: drafter }, 5);
      // Cells that a window has moved are other ones in the smaller model.
      const some = all.slice(0, 9).filter(({ changes }) => changes.shift !== true);
      const answers = await Promise.all(some.map(({ prompt, changes }) => bench.ask(prompt, changes)));
      for (const [at, request] of some.entries())
        expect([at, answerOf(answers[at]!, request)]).toEqual([
          at,
          answerOf(plain[all.indexOf(request)]!, request),
        ]);
      const greedy = answers.filter((_, at) => some[at]!.changes.sampling!.temperature === 0);
      const drafts = greedy.map(({ done }) => done.drafts ?? { tokens: 0, accepted: 0 });
      const tokens = drafts.reduce((sum, each) => sum + each.tokens, 0);
      const accepted = drafts.reduce((sum, each) => sum + each.accepted, 0);
      expect(tokens).toBeGreaterThan(20);
      expect(accepted / tokens).toBeGreaterThanOrEqual(least);
    }
  });

  it("count in the memory of a load, which does without a draft model that does not fit", async () => {
    const load = { ...loadOf(paths.small), drafts: "on" as const, slots: 3, numCtx: 300 };
    const lines: string[] = [];
    const open = (changes: Partial<LoadRequest>) => {
      const events = { onProgress() {}, onLog: (line: string) => lines.push(line), onStep() {}, onWant() {} };
      return loadEngine({ ...load, ...changes }, events, null).info.sizeBytes;
    };
    const drafted = { draftPath: paths.other };
    const [without, sizes] = [open({}), open(drafted)];
    expect(sizes.weights).toBeGreaterThan(without.weights * 1.9);
    expect(sizes.context).toBe(without.context * 2);
    expect(measureEngine({ ...load, ...drafted })).toEqual(sizes);
    // Without guesses it is not loaded.
    for (const drafts of ["off", "auto"] as const)
      expect(open({ ...drafted, drafts }).context).toBe(without.context);
    for (const [draftPath, problem] of [
      [paths.mamba, "cannot take tokens back"],
      [paths.further, /has \d+ tokens, but the model has/],
    ] as const) {
      lines.length = 0;
      expect(open({ draftPath })).toEqual(without);
      const why = lines.filter((line) => line.startsWith("the draft model is not used"));
      expect(why).toEqual([expect.stringMatching(problem)]);
    }
  });

  it("are no part of a deterministic answer", async () => {
    const { prompt, changes } = all[1]!;
    const exact = { ...changes, deterministic: true };
    const asked = await newBench(recalled(known, 3), 2).ask(prompt, exact);
    expect(asked.done.drafts).toBeUndefined();
    expect(asked.logprobs).toEqual((await newBench(null).ask(prompt, exact)).logprobs);
  });
});
