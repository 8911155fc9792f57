import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canWatch, longestTaskMs, timesTooLong } from "./event-loop-watch.ts";
import type { LongTask } from "./event-loop-watchdog.ts";

/** A server that listens, then does the work, and ends. */
const program = (work: string) => `
  import { createServer } from "node:http";
  import { threadCpuUsage } from "node:process";
  import { fixedWork, fixedWorkMs } from "${new URL("./fixed-work.ts", import.meta.url).href}";
  const use = (ms) => { const end = threadCpuUsage().user / 1000 + ms; while (threadCpuUsage().user / 1000 < end); };
  // On a slow machine the limit is as much more as the fixed work takes more.
  function busy(ms) { use(ms); for (let worked = 0; worked < ms; worked += fixedWorkMs) fixedWork(); }
  const wait = () => new Promise((resolve) => setTimeout(resolve, 300));
  createServer().listen(0, "127.0.0.1", async () => { await wait(); ${work}; await wait(); process.exit(); });`;

function tasksOf(work: string): LongTask[] {
  const folder = mkdtempSync(join(tmpdir(), "event-loop-test-"));
  const preload = new URL("./watched-process.ts", import.meta.url).href;
  try {
    const words = ["--import", preload, "--input-type=module", "--eval", program(work)];
    const ended = spawnSync(process.execPath, words, {
      env: { EVENT_LOOP_REPORTS: folder },
      encoding: "utf8",
    });
    expect(ended.stderr).toBe("");
    return readdirSync(folder).flatMap((name) =>
      readFileSync(join(folder, name), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as LongTask),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.skipIf(!canWatch)("a task is told with its stack when it is long, and again when it is too long", () => {
  const [long, tooLong] = tasksOf(`busy(${longestTaskMs * timesTooLong})`);
  expect(long!.ranMs).toBeGreaterThan(long!.limitMs);
  expect(long!.limitMs).toBeGreaterThanOrEqual(longestTaskMs);
  expect(tooLong!.ranMs).toBeGreaterThan(tooLong!.limitMs * timesTooLong);
  expect(tooLong!.stack.join("\n")).toContain("busy ");
});

test.skipIf(!canWatch)("many short tasks, and a task that waits, are not told", () => {
  const many =
    "for (let i = 0; i < 30; i++) { use(20); await new Promise((resolve) => setTimeout(resolve)); }";
  const waits = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)";
  expect(tasksOf(`${many}; ${waits}`)).toEqual([]);
});
