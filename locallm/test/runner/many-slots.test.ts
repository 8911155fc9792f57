import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Model } from "../../src/engine/model.ts";
import { mostSlots } from "../../src/wire/inference/load.ts";
import { smallLlama } from "../small-llama.ts";
import { loadOf } from "./jobs.ts";
import { Bench, silently, text } from "./slot-bench.ts";
import { library } from "./slots-here.ts";

const folder = await mkdtemp(join(tmpdir(), "locallm-many-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
await writeFile(join(folder, "small"), smallLlama(4));
const model = silently(() => Model.load(library, loadOf(join(folder, "small")), () => {}));

it("as many slots as the engine has sequences answer side by side, and further jobs in the order of their arrival", async () => {
  const bench = new Bench(model, mostSlots, 256);
  const jobs = 270;
  const tokens = 48;
  const heard = Array.from({ length: jobs }, (): number[] => []);
  let step = 0;
  bench.beforeStep = () => step++;
  bench.onEvent = ({ id, tokens: told }) => {
    for (let token = 0; token < told; token++) heard[id - 1]!.push(step);
  };
  const promptOf = (job: number) => text(3 + (job % 7), job);
  const asked = { numPredict: tokens };
  const answers = await Promise.all(heard.map((_, job) => bench.ask(promptOf(job), asked)));

  for (const [job, steps] of heard.entries()) {
    expect(answers[job]!.done.evalTokens).toBe(tokens);
    // An answer that has begun gets a token in each step, however many prompts wait.
    expect(steps).toEqual(Array.from({ length: tokens }, (__, token) => steps[0]! + token));
    expect(steps[0]).toBeGreaterThanOrEqual(heard[job - 1]?.[0] ?? 0);
  }
  // The first answer still runs when the last slot begins.
  expect(heard[mostSlots - 1]![0]).toBeLessThan(heard[0]!.at(-1)!);
  // No slot sees what another one holds.
  const alone = new Bench(model, 1, 256);
  for (const job of [0, 100, 255, 269]) {
    const [own] = (await alone.ask(promptOf(job), asked)).logprobs;
    const [among] = answers[job]!.logprobs;
    for (const [token, logprob] of own!) expect(among!.get(token) ?? 0).toBeCloseTo(logprob, 1);
  }
});
