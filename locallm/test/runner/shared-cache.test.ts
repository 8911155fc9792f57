import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasSharedMemory } from "../../src/engine/kept/shared-memory.ts";
import { Model } from "../../src/engine/model.ts";
import { defaultSampling } from "../../src/wire/inference/generate.ts";
import { smallLlama } from "../small-llama.ts";
import { loadOf } from "./jobs.ts";
import { type Asked, Bench, closeKept, newKeeper, silently, text } from "./slot-bench.ts";
import { library } from "./slots-here.ts";

let folder: string;
let model: Model;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-shared-"));
  await writeFile(join(folder, "small"), smallLlama(5));
  model = silently(() => Model.load(library, loadOf(join(folder, "small")), () => {}));
});
afterEach(closeKept);
afterAll(() => rm(folder, { recursive: true, force: true }));

const window = 512;

/** The same tokens with the same probabilities to the last bit. */
const bits = ({ done, logprobs }: Asked) => [done.context, logprobs.map((each) => [...each])];

/** The first token has the same probabilities, but for the order in which sums were made. */
function expectAlike(one: Asked, other: Asked): void {
  const likeliest = [...one.logprobs[0]!].slice(0, 10);
  for (const [token, logprob] of likeliest)
    expect(other.logprobs[0]!.get(token) ?? 0).toBeCloseTo(logprob, 1);
}

describe("slots that share a cache", () => {
  it("hold together what four windows of their own would hold, if each uses a quarter", async () => {
    const bench = new Bench(model, 4, window, null, window);
    const prompts = [1, 2, 3, 4].map((seed) => text(90 + seed, seed));
    const answers = await Promise.all(prompts.map((prompt) => bench.ask(prompt, { numPredict: 20 })));
    const alone = new Bench(model, 1, window);
    for (const [index, prompt] of prompts.entries())
      expectAlike(await alone.ask(prompt, { numPredict: 1 }), answers[index]!);
    // All of them are still there.
    for (const prompt of prompts) {
      const { done } = await bench.ask([...prompt, ...text(5, 9)], { numPredict: 1 });
      expect(done.cachedTokens).toBeGreaterThanOrEqual(prompt.length);
    }
  });

  it.skipIf(!hasSharedMemory())(
    "park the youngest answers when it is full, and finish all of them with the same tokens",
    async () => {
      const { keeper } = newKeeper();
      const bench = new Bench(model, 4, window, keeper, window);
      const ends: number[] = [];
      bench.onEvent = ({ id, done }) => {
        if (done !== null) ends.push(id);
      };
      const prompts = [11, 12, 13, 14].map((seed) => text(100, seed));
      const greedy = { numPredict: 300, sampling: { ...defaultSampling, temperature: 0 } };
      const answers = await Promise.all(prompts.map((prompt) => bench.ask(prompt, greedy)));
      // 4 × 400 cells never fit into 512, so they end in the order in which they came.
      expect(ends).toEqual([1, 2, 3, 4]);
      const alone = new Bench(model, 1, window);
      for (const [index, prompt] of prompts.entries()) {
        expect(answers[index]!.done.evalTokens).toBe(300);
        expectAlike(await alone.ask(prompt, { numPredict: 1 }), answers[index]!);
      }
    },
  );

  it("use no more cells than they are granted, and finish all answers with the same tokens", async () => {
    const bench = new Bench(model, 4, window, newKeeper().keeper, 4 * window);
    let asked = 0;
    let most = window;
    // Once a part. Another model keeps the rest.
    bench.slots.spare(3 * window, async () => {
      const granted = asked++ === 0 ? 200 : 0;
      most += granted;
      return granted;
    });
    let held = 0;
    bench.beforeStep = () => {
      const cells = [0, 1, 2, 3].map((sequence) => bench.context.lastPosition(sequence) + 1);
      held = Math.max(held, ...[0, cells.reduce((sum, each) => sum + each, 0)]);
      expect(held).toBeLessThanOrEqual(most);
    };
    const prompts = [61, 62, 63, 64].map((seed) => [50 + seed, ...text(199, seed)]);
    const greedy = { numPredict: 60, sampling: { ...defaultSampling, temperature: 0 } };
    const answers = await Promise.all(prompts.map((prompt) => bench.ask(prompt, greedy)));
    expect(asked).toBeGreaterThan(0);
    // The granted part was used, too.
    expect(held).toBeGreaterThan(window);
    const alone = new Bench(model, 1, window);
    for (const [index, prompt] of prompts.entries()) {
      expect(answers[index]!.done.evalTokens).toBe(60);
      expectAlike(await alone.ask(prompt, { numPredict: 1 }), answers[index]!);
    }
  });

  it("give a deterministic request the same bits beside others as alone, even if its client reads slowly", async () => {
    const alone = new Bench(model, 1, window);
    const prompt = text(150, 21);
    const exact = { deterministic: true, numPredict: 60 };
    const expected = bits(await alone.ask(prompt, exact));
    for (const isSlow of [false, true]) {
      const bench = new Bench(model, 6, window, newKeeper().keeper, 2 * window);
      const others = [31, 32].map((seed) => bench.ask(text(70, seed), { numPredict: 40 }));
      const id = bench.nextId;
      const asked = bench.ask(prompt, exact);
      const later = [33, 34, 35].map((seed) => bench.ask(text(50, seed), { numPredict: 20 }));
      if (isSlow) {
        let heard = 0;
        bench.onEvent = (event) => {
          if (event.id !== id || ++heard !== 7) return;
          bench.pause(id, true);
          void Promise.all(later).then(() => bench.pause(id, false));
        };
      }
      const answer = await asked;
      expect(bits(answer)).toEqual(expected);
      for (const other of await Promise.all([...others, ...later]))
        expect(other.done.evalTokens).toBeGreaterThan(0);
    }
  });

  it("share the cells of a beginning that their prompts have in common", async () => {
    const bench = new Bench(model, 8, window, null, window);
    const head = text(300, 41);
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => bench.ask([...head, ...text(9, seed)], { numPredict: 10 })),
    );
    // Eight times 319 cells would need five such caches.
    const [first, ...others] = answers.map(({ done }) => done.cachedTokens);
    expect(first).toBe(0);
    expect(Math.min(...others)).toBeGreaterThan(280);
  });

  it("shift the window of an answer whose beginning another slot shares, without moving the other's cells", async () => {
    const bench = new Bench(model, 2, 256, null, window);
    const head = text(180, 51);
    const shifting = bench.ask(head, { numPredict: 200, shift: true, numKeep: 4 });
    const other = await bench.ask([...head, ...text(20, 52)], { numPredict: 3 });
    expect((await shifting).done.shiftedTokens).toBeGreaterThan(0);
    const alone = new Bench(model, 1, 256);
    expectAlike(await alone.ask([...head, ...text(20, 52)], { numPredict: 3 }), other);
    expectAlike(
      await bench.ask([...head, ...text(20, 53)], { numPredict: 3 }),
      await alone.ask([...head, ...text(20, 53)], { numPredict: 3 }),
    );
  });
});
