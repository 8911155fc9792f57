import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Model } from "../../src/engine/model.ts";
import { type SmallArchitecture, smallModel } from "../small-llama.ts";
import { loadOf } from "./jobs.ts";
import { type Asked, Bench, closeKept, newKeeper, silently, text } from "./slot-bench.ts";
import { library } from "./slots-here.ts";

// Uses real slots and the real engine in this process, which is quicker than a process for each model.

let folder: string;
const models = new Map<SmallArchitecture, Model>();
/**
 * The lengths are next to those of the window, of steps, of the window's cells, and of two steps more. The cells are
 * those of 64 tokens and one step, rounded up to 256.
 */
const kinds = [
  ["gemma3", "a sliding window", [63, 65, 257, 300, 511]],
  ["mamba", "a state in place of a cache", [65]],
  ["jamba", "a state and a cache", [33, 300]],
] as const;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "locallm-memory-"));
  for (const [architecture] of kinds) {
    const path = join(folder, architecture);
    await writeFile(path, smallModel(architecture, 5));
    models.set(
      architecture,
      silently(() => Model.load(library, loadOf(path), () => {})),
    );
  }
});
afterAll(async () => {
  await closeKept();
  await rm(folder, { recursive: true, force: true });
});

describe.each(kinds)("a model such as %s, with %s", (architecture, _, lengths) => {
  let warm: Bench;
  let cold: Bench;
  beforeAll(() => {
    const model = models.get(architecture)!;
    warm = new Bench(model);
    cold = new Bench(model);
  });

  /**
   * The answer must begin like one from an empty cache. The last bits may differ, because the rows were computed in
   * other steps.
   */
  async function expectAsCold(asked: Asked, prompt: readonly number[]): Promise<void> {
    const { logprobs } = await cold.ask(prompt, { deterministic: true, numPredict: 1 });
    const differences = Array.from(logprobs[0]!, ([token, logprob]) =>
      Math.abs(logprob - (asked.logprobs[0]!.get(token) ?? Number.NaN)),
    ).filter((difference) => !Number.isNaN(difference));
    expect(differences.length).toBeGreaterThan(25);
    expect(Math.max(...differences)).toBeLessThan(0.02);
  }

  it.each(lengths)(
    "continues a conversation of %i tokens as from an empty cache, and repeats it to the last bit",
    async (length) => {
      const prompt = text(length, length);
      const first = await warm.ask(prompt);
      await expectAsCold(first, prompt);
      const again = await warm.ask(prompt);
      expect(again.done.cachedTokens).toBeGreaterThanOrEqual(length - 16);
      expect([again.done.context, again.logprobs]).toEqual([first.done.context, first.logprobs]);

      const next = [...first.done.context!, ...text(20, 1)];
      const turn = await warm.ask(next);
      expect(turn.done.cachedTokens).toBeGreaterThanOrEqual(length + 3);
      await expectAsCold(turn, next);

      const leftOut = [...prompt, ...text(20, 2)];
      const other = await warm.ask(leftOut);
      expect(other.done.cachedTokens).toBeGreaterThanOrEqual(length - 16);
      await expectAsCold(other, leftOut);

      for (const at of [Math.max(3, length - 50), 2]) {
        const edited = leftOut.with(at, 90);
        const edit = await warm.ask(edited);
        expect(edit.done.cachedTokens).toBeLessThanOrEqual(at);
        await expectAsCold(edit, edited);
      }
    },
  );

  it("shares the beginning of prompts that arrive together, and computes it once", async () => {
    const bench = new Bench(models.get(architecture)!, 3);
    const head = text(300, 7);
    const prompts = [31, 200, 64].map((length, index) => [...head, ...text(length, 10 + index)]);
    const answers = await Promise.all(prompts.map((prompt) => bench.ask(prompt)));
    for (const [index, answer] of answers.entries()) {
      expect(answer.done.cachedTokens).toBe(index === 0 ? 0 : 300);
      await expectAsCold(answer, prompts[index]!);
    }
  });

  it("copies the beginning from a slot that went on only if that slot still has it", async () => {
    const head = text(300, 70);
    for (const further of [10, 150]) {
      const bench = new Bench(models.get(architecture)!, 2);
      const going = bench.ask([...head, ...text(further, 71)], { numPredict: 30 });
      await new Promise<void>((resolve) => {
        let steps = 0;
        bench.beforeStep = () => {
          if (++steps === 15) resolve();
        };
      });
      const prompt = [...head, ...text(40, 72)];
      const beside = await bench.ask(prompt);
      await expectAsCold(beside, prompt);
      // A state has a checkpoint before the end of its prompt.
      const has = architecture === "gemma3" ? 300 : 294;
      expect(beside.done.cachedTokens).toBe(further === 10 ? has : 0);
      await going;
    }
  });

  it("copies the beginning from a slot that went on if that slot has a checkpoint of it", async () => {
    const bench = new Bench(models.get(architecture)!, 4);
    const head = text(300, 73);
    const prompts = [30, 150, 90, 200].map((length, index) => [...head, ...text(length, 74 + index)]);
    const asked: Promise<Asked>[] = [];
    for (const prompt of prompts) {
      // The others are still answering.
      asked.push(bench.ask(prompt, { numPredict: 45 }));
      await new Promise<void>((resolve) => {
        let steps = 0;
        bench.beforeStep = () => {
          if (++steps === 12) resolve();
        };
      });
    }
    const answers = await Promise.all(asked);
    for (const [index, answer] of answers.entries()) await expectAsCold(answer, prompts[index]!);
    // The first slot has a checkpoint after 3/4 of its prompt. The second prompt shows where the conversations part.
    expect(answers.map(({ done }) => done.cachedTokens)).toEqual([0, 192, 284, 284]);
  });

  it("continues from where conversations with the same beginning parted", async () => {
    const bench = new Bench(models.get(architecture)!);
    const head = text(400, 8);
    const reused: number[] = [];
    for (const [index, length] of [100, 300, 200, 90].entries()) {
      const prompt = [...head, ...text(length, 20 + index)];
      const answer = await bench.ask(prompt);
      await expectAsCold(answer, prompt);
      reused.push(answer.done.cachedTokens);
    }
    // The second prompt, which shows where they part, continues from the checkpoint after 3/4 of the first one.
    expect(reused).toEqual([0, 320, 384, 384]);
  });

  it.each([
    [300, 1024],
    // The sliding window has as many cells as the context, but not the first tokens after it went to a checkpoint.
    [100, 256],
  ])("continues an answer beyond a full window of %i tokens in a context of %i", async (numCtx, window) => {
    const bench = new Bench(models.get(architecture)!, 1, window);
    const asked = { numCtx, numKeep: 20, shift: true, numPredict: 30 };
    const { done, logprobs } = await bench.ask(text(numCtx - 10, 9), asked);
    const dropped = (numCtx - 20) / 2;
    expect(done.evalTokens).toBe(30);
    expect(done.shiftedTokens).toBe(dropped);
    // A state remembers the tokens that were dropped.
    if (architecture === "mamba") return;
    const shifted = done.context!.slice(0, numCtx + 1);
    shifted.splice(20, dropped);
    await expectAsCold({ done, logprobs: logprobs.slice(11) }, shifted);
  });

  it("answers correctly if another prompt of the same step is cancelled", async () => {
    const bench = new Bench(models.get(architecture)!, 2);
    for (const step of [2, 5]) {
      const prompt = text(350, 30 + step);
      const answer = bench.ask(prompt);
      const other = bench.nextId;
      void bench.ask(text(350, 40 + step));
      let steps = 0;
      bench.beforeStep = () => {
        if (++steps === step) setImmediate(() => bench.slots.cancel(other));
      };
      await expectAsCold(await answer, prompt);
    }
  });

  it("does not count tokens as cached that were computed again because another prompt was cancelled", async () => {
    const bench = new Bench(models.get(architecture)!, 2);
    const first = await bench.ask(text(350, 80));
    const prompt = [...first.done.context!, ...text(20, 81)];
    const answer = bench.ask(prompt);
    const other = bench.nextId;
    void bench.ask(text(350, 82));
    const { stepAside } = bench.context;
    // The step ends before its first operation.
    bench.context.stepAside = async () => {
      bench.context.stepAside = stepAside;
      bench.slots.cancel(other);
      return "aborted";
    };
    const { done } = await answer;
    // A state goes back to the checkpoint before the end of the first prompt.
    expect(done.cachedTokens).toBe(architecture === "gemma3" ? 353 : 334);
  });

  it("continues and repeats conversations that lost their slot, also with another window", async () => {
    const model = models.get(architecture)!;
    const { keeper, fds } = newKeeper();
    const bench = new Bench(model, 1, 1024, keeper);
    const prompts = [text(330, 50), text(270, 51)];
    let answers: Asked[] = [];
    for (let turn = 0; turn < 3; turn++) {
      answers = [];
      for (const [index, prompt] of prompts.entries()) {
        // The client leaves out the answer to the last turn.
        if (turn > 0) prompt.push(...text(40, 60 + turn));
        const answer = await bench.ask(prompt);
        await expectAsCold(answer, prompt);
        if (turn > 0) expect(answer.done.cachedTokens).toBe(prompt.length - 56);
        answers[index] = answer;
      }
    }
    await bench.slots.keepAll();
    expect(fds.size).toBe(2);
    const wider = new Bench(model, 1, 2048, newKeeper().keeper);
    for (const [id, fd] of fds) wider.kept!.place(id, { id, path: `/proc/self/fd/${fd}`, isOnDisk: false });
    for (const again of [wider, bench]) {
      for (const [index, prompt] of prompts.entries()) {
        const { done, logprobs } = await again.ask(prompt);
        expect(done.cachedTokens).toBe(prompt.length - 16);
        expect([done.context, logprobs]).toEqual([answers[index]!.done.context, answers[index]!.logprobs]);
      }
    }
  });
});
