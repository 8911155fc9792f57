import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canWatch } from "./event-loop-watch.ts";
import type { LongTask } from "./event-loop-watchdog.ts";

/** A server that listens, then does the work, and ends. */
const program = (work: string) => `
  import { createServer } from "node:http";
  import { threadCpuUsage } from "node:process";
  const use = (ms) => { const end = threadCpuUsage().user / 1000 + ms; while (threadCpuUsage().user / 1000 < end); };
  function tooLong() { use(600); }
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

test.skipIf(!canWatch)("a task that uses more processor time than the limit is told with its stack", () => {
  const [task, ...others] = tasksOf("tooLong()");
  expect(others).toEqual([]);
  expect(task!.stack.join("\n")).toContain("tooLong ");
});

test.skipIf(!canWatch)("many short tasks, and a task that waits, are not told", () => {
  const many =
    "for (let i = 0; i < 30; i++) { use(20); await new Promise((resolve) => setTimeout(resolve)); }";
  const waits = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)";
  expect(tasksOf(`${many}; ${waits}`)).toEqual([]);
});
