import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rememberingStart, startRunner } from "../../src/runner/start.ts";
import type { LoadRequest } from "../../src/wire/inference/load.ts";
import { smallLlama } from "../small-llama.ts";
import { collect, loadOf, newJob } from "./jobs.ts";

describe("the engine's build for this processor", () => {
  let folder: string;
  let load: LoadRequest;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "locallm-start-"));
    await writeFile(join(folder, "small.gguf"), smallLlama(5));
    load = loadOf(join(folder, "small.gguf"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("is searched for once: the next start opens it directly and gives the same answer", async () => {
    const start = rememberingStart();
    const answers: { text: string; file: string | null }[] = [];
    for (let time = 0; time < 2; time++) {
      const runner = await start(load);
      const { text } = await collect(runner.generate(newJob("1 2 3")));
      answers.push({ text, file: runner.info.engine.processorFile });
      await runner.kill();
    }
    expect(answers[1]).toEqual(answers[0]);
    if (process.platform === "linux") expect(answers[0]!.file).toContain("ggml-cpu");
  });

  it("is searched for again if its file no longer exists", async () => {
    const runner = await startRunner({ ...load, processorFile: join(folder, "gone.so") });
    expect((await collect(runner.generate(newJob("1 2 3")))).tokens).toBe(12);
    expect(runner.info.engine.processorFile).not.toBe(join(folder, "gone.so"));
    await runner.kill();
  });
});
