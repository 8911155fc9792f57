import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../server-process.ts";
import { smallLlama } from "../small-llama.ts";
import { collect, newJob, startModel } from "./jobs.ts";

describe("an idle runner", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "locallm-rest-"));
    await writeFile(join(folder, "small.gguf"), smallLlama(1));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("has no spinning thread", async () => {
    const runner = await startModel(join(folder, "small.gguf"), { numThread: 2 });
    for (let round = 0; round < 2; round++) {
      await collect(runner.generate(newJob("1 2 3", { numPredict: 3 })));
      const before = threadsOf(runner.pid);
      await until("all of them sleep", () => threadsOf(runner.pid).awake === 0);
      // Without the pause, a thread would spin for a quarter of a second, even if another program needs the core.
      expect(threadsOf(runner.pid).ticks - before.ticks).toBeLessThan(10);
    }
    await runner.kill();
  });
});

/**
 * Counts the runnable threads without the main thread, and their processor time in hundredths of a second.
 */
function threadsOf(pid: number): { awake: number; ticks: number } {
  const threads = readdirSync(`/proc/${pid}/task`)
    .filter((thread) => thread !== String(pid))
    .map((thread) => readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8"))
    .map((stat) => stat.slice(stat.lastIndexOf(")") + 2).split(" "));
  return {
    awake: threads.filter(([state]) => state === "R").length,
    ticks: threads.reduce((sum, fields) => sum + Number(fields[11]) + Number(fields[12]), 0),
  };
}
