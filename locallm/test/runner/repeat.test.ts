import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GenerateJob, Runner } from "../../src/runner/handle.ts";
import { starterModelPath } from "../starter-model.ts";
import { collect, endless, free, longText, newJob, startModel } from "./jobs.ts";

const modelPath = await starterModelPath();

/** Token ids tell more than text: two answers may read alike and differ. */
async function ids(runner: Runner, job: GenerateJob): Promise<readonly number[]> {
  return (await collect(runner.generate({ ...job, wantContext: true }))).done.context!;
}

describe.skipIf(modelPath === null)("the same request again", () => {
  let runner: Runner;
  beforeAll(async () => {
    runner = await startModel(modelPath!, { slots: 2 });
  });
  afterAll(() => runner.kill());

  // Logits close together, so that a difference in the last bits shows within some tokens.
  const sampling = { ...endless, temperature: 1.5, topK: 0, topP: 1, seed: 11 };

  it("answers the same with a seed on an idle server, whatever part of it is cached", async () => {
    const prompt = `${longText("silver", 160)}What`;
    const job = newJob(prompt, { sampling, numPredict: 12 });
    const cold = await ids(runner, job);
    for (const other of [
      `${longText("silver", 160)}What became of it in the end, when the last`,
      longText("silver", 100),
      `${longText("silver", 160)}What`,
    ]) {
      // A job whose answer need not repeat goes over the cache as it likes.
      await collect(runner.generate(newJob(other, { sampling: free, numPredict: 3 })));
      expect(await ids(runner, job)).toEqual(cold);
    }
    const { done } = await collect(runner.generate(job));
    expect(done.cachedTokens).toBeGreaterThan(120);
  });

  it("answers a conversation's next turn as if it had come first", async () => {
    const turn = longText("copper", 150);
    const first = newJob(turn, { sampling, numPredict: 12 });
    const said = await ids(runner, first);
    const second = newJob([said, " And what happened then?"], { sampling, numPredict: 10 });
    const warm = await collect(runner.generate({ ...second, wantContext: true }));
    expect(warm.done.cachedTokens).toBeGreaterThan(120);
    const cold = await ids(runner, { ...second, deterministic: true });
    expect(warm.done.context).toEqual(cold);
  });

  it("answers the same with `deterministic` while others are busy", async () => {
    const job = newJob(longText("amber", 100), { sampling, numPredict: 10, deterministic: true });
    const alone = await ids(runner, job);
    const abort = new AbortController();
    const neighbour = collect(
      runner.generate(newJob("On and on", { sampling: endless, numPredict: 800 }), abort.signal),
    );
    const gone = expect(neighbour).rejects.toThrow();
    expect(await ids(runner, job)).toEqual(alone);
    expect(await ids(runner, job)).toEqual(alone);
    abort.abort();
    await gone;
  });
});
