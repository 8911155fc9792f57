import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Runner } from "../../src/runner/handle.ts";
import type { GenerateJob } from "../../src/wire/inference/generate.ts";
import { defaultSampling } from "../../src/wire/inference/generate.ts";
import { smallModel } from "../small-llama.ts";
import { collect, newJob, startModel } from "./jobs.ts";

/** Much longer than the window of the sliding layers. */
const long = "The quick brown fox jumps over the lazy dog. ".repeat(6);
const sampling = { ...defaultSampling, temperature: 1.2, topK: 0, topP: 1, seed: 3 };

describe.each([
  ["gemma3", "a sliding window", true],
  ["mamba", "a state in place of a cache", false],
] as const)("a model such as %s, with %s", (architecture, _, cuts) => {
  let folder: string;
  let runner: Runner;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "locallm-memory-"));
    const path = join(folder, "small.gguf");
    await writeFile(path, smallModel(architecture, 5));
    runner = await startModel(path, { slots: 2 });
  });
  afterAll(async () => {
    await runner.kill();
    await rm(folder, { recursive: true, force: true });
  });
  const ids = async (job: GenerateJob) => {
    const { done } = await collect(runner.generate({ ...job, wantContext: true }));
    return { context: done.context, cached: done.cachedTokens };
  };
  const job = (prompt: string) => newJob(prompt, { sampling, numPredict: 20 });

  it("answers correctly beside a slot whose prompt has the same beginning", async () => {
    const endless = newJob(long, { sampling, numPredict: -1, shift: true });
    const busy = runner.generate(endless)[Symbol.asyncIterator]();
    await busy.next();
    const beside = await ids(job(`${long}And then`));
    await busy.return?.();
    const cold = await ids({ ...job(`${long}And then`), deterministic: true });
    expect(beside.context).toEqual(cold.context);
    if (cuts) expect(beside.cached).toBeGreaterThan(250);
  });

  it("gives the same answer from a cached prefix as from an empty cache", async () => {
    for (const prompt of [long, `${long}And then`, long.slice(0, 150), `${long.slice(0, 200)}A cat`]) {
      const warm = await ids(job(prompt));
      const cold = await ids({ ...job(prompt), deterministic: true });
      expect(warm.context).toEqual(cold.context);
    }
  });

  it(`reuses ${cuts ? "the cached prefix" : "the checkpoint before a prompt's last tokens"}`, async () => {
    const head = "Pack my box with five dozen liquor jugs. ".repeat(6);
    const first = await ids(job(head));
    expect(first.cached).toBeLessThan(10);
    // The prompt omits the answer, as clients omit thinking.
    const next = await ids(job(`${head}And then`));
    expect(next.cached).toBe(cuts ? 240 : 224);
    if (cuts) expect((await ids(job(`${head.slice(0, 200)}A cat`))).cached).toBe(195);
  });

  it("shifts a full window, or stops if its memory cannot shift", async () => {
    const { done } = await collect(
      runner.generate(newJob(long, { numCtx: 300, numPredict: 80, numKeep: 4, shift: true })),
    );
    expect(done.evalTokens === 80 || done.reason === "length").toBe(true);
    expect(done.promptTokens + done.evalTokens - done.shiftedTokens).toBeLessThanOrEqual(301);
  });

  it("answers two requests at once, each correctly", async () => {
    const alone = await ids({ ...job("One"), deterministic: true });
    const [one, two] = await Promise.all([
      ids({ ...job("One"), deterministic: true }),
      collect(runner.generate(job("Two"))),
    ]);
    expect(one.context).toEqual(alone.context);
    expect(two.done.evalTokens).toBe(20);
  });
});
