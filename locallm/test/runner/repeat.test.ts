import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Runner } from "../../src/runner/handle.ts";
import type { GenerateJob } from "../../src/wire/inference/generate.ts";
import { starterModelPath } from "../starter-model.ts";
import { collect, endless, free, longText, newJob, startModel } from "./jobs.ts";

const modelPath = await starterModelPath();

/** Compares token ids instead of text, because different tokens can give the same text. */
async function ids(runner: Runner, job: GenerateJob): Promise<readonly number[]> {
  return (await collect(runner.generate({ ...job, wantContext: true }))).done.context!;
}

describe.skipIf(modelPath === null)("a repeated request", () => {
  let runner: Runner;
  beforeAll(async () => {
    runner = await startModel(modelPath!, { slots: 2 });
  });
  afterAll(() => runner.kill());

  // A flat distribution, in which a difference in the last bits soon leads to another token.
  const sampling = { ...endless, temperature: 1.5, topK: 0, topP: 1, seed: 11 };

  it("gives the same answer with `deterministic`, whatever is cached", async () => {
    const prompt = `${longText("silver", 40)}What`;
    const job = newJob(prompt, { sampling, numPredict: 12, deterministic: true });
    const cold = await ids(runner, job);
    for (const other of [
      `${longText("silver", 40)}What became of it in the end, when the last`,
      longText("silver", 20),
    ]) {
      await collect(runner.generate(newJob(other, { sampling: free, numPredict: 3 })));
      const { done } = await collect(runner.generate({ ...job, wantContext: true }));
      expect(done.context).toEqual(cold);
      expect(done.cachedTokens).toBe(0);
    }
  });

  it("gives the same answer with a seed to the same long prompt, first from a cold cache and then from its own", async () => {
    const job = newJob(longText("marble", 40), { sampling, numPredict: 12 });
    const first = await collect(runner.generate({ ...job, wantContext: true }));
    const second = await collect(runner.generate({ ...job, wantContext: true }));
    expect(first.done.cachedTokens).toBeLessThan(30);
    expect(second.done.cachedTokens).toBe(second.done.promptTokens - 1);
    expect(second.done.context).toEqual(first.done.context);
  });

  it("does not compute a conversation's cached tokens again, with or without a seed", async () => {
    const turn = longText("copper", 40);
    for (const seed of [11, null]) {
      const first = newJob(`${seed} ${turn}`, { sampling: { ...sampling, seed }, numPredict: 12 });
      const said = await ids(runner, first);
      const next = newJob([said, " And what happened then?"], { sampling, numPredict: 1 });
      const { done } = await collect(runner.generate(next));
      // The answer's last token was sampled but never computed.
      expect(done.cachedTokens).toBe(said.length - 1);
    }
  });

  it("gives the same answer with `deterministic` while other slots are busy", async () => {
    const job = newJob(longText("amber", 40), { sampling, numPredict: 10, deterministic: true });
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
