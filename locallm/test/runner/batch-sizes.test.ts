import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFullSize } from "../../../testing/test-size.ts";
import type { Runner } from "../../src/runner/handle.ts";
import type { GenerateJob } from "../../src/wire/inference/generate.ts";
import { smallLlama } from "../small-llama.ts";
import { collect, newJob, startModel } from "./jobs.ts";

/** Extreme load options: batches of one row, windows of one token, more slots than rows. */
const loads = fc.record({
  numBatch: fc.oneof(fc.integer({ min: 1, max: 130 }), fc.integer({ min: 1, max: 4_096 })),
  numCtx: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 4_096 })),
  slots: fc.integer({ min: 1, max: 9 }),
  prompts: fc.array(fc.oneof(fc.integer({ min: 1, max: 150 }), fc.integer({ min: 1, max: 1_500 })), {
    minLength: 1,
    maxLength: 10,
  }),
});

describe("a request", () => {
  let folder: string;
  let path: string;
  let reference: Runner;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "locallm-batch-"));
    path = join(folder, "small.gguf");
    await writeFile(path, smallLlama(3));
    reference = await startModel(path, { numCtx: 4_096 });
  });
  afterAll(async () => {
    await reference.kill();
    await rm(folder, { recursive: true, force: true });
  });

  /** The answer's tokens, or the code of its error. */
  const outcome = async (runner: Runner, job: GenerateJob) =>
    collect(runner.generate({ ...job, wantContext: true })).then(
      ({ done }) => done.context?.slice(done.promptTokens) ?? [],
      (error: { code: string }) => error.code,
    );

  it.each([
    { numBatch: 64, numCtx: 1_024, slots: 1, prompts: [300] },
    { numBatch: 16, numCtx: 1_024, slots: 1, prompts: [300] },
    { numBatch: 1, numCtx: 512, slots: 3, prompts: [100, 1, 30] },
    ...fc.sample(loads, { seed: 20261122, numRuns: isFullSize ? 6 : 3 }),
  ])("gets the same answer as with the default batch: %j", async ({ numBatch, numCtx, slots, prompts }) => {
    const runner = await startModel(path, { numBatch, numCtx, slots });
    const jobs = prompts.map((length, salt) =>
      newJob(
        // Ids of printable characters in an unusual order, so that no cache contains them.
        Array.from({ length }, (_, at) => 36 + ((at * at + salt * 31 + at * salt) % 90)),
        { numCtx, numPredict: 8 },
      ),
    );
    const given = await Promise.all(jobs.map((job) => outcome(runner, job)));
    for (const [index, job] of jobs.entries()) expect(given[index]).toEqual(await outcome(reference, job));
    await runner.kill();
  });
});
