import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canWatch, longestTaskMs, timesTooLong } from "./event-loop-watch.ts";
import type { LongTask } from "./event-loop-watchdog.ts";
import { holdingsBudget, leftOpenSuffix, openDescriptors, overBudgetSuffix } from "./process-holdings.ts";

/** A server that listens, then does the work, and ends. */
const program = (work: string) => `
  import { createServer } from "node:http";
  import { threadCpuUsage } from "node:process";
  import { fixedWork, fixedWorkMs } from "${new URL("./fixed-work.ts", import.meta.url).href}";
  const use = (ms) => { const end = threadCpuUsage().user / 1000 + ms; while (threadCpuUsage().user / 1000 < end); };
  // On a slow machine the limit is as much more as the fixed work takes more.
  function busy(ms) { use(ms); for (let worked = 0; worked < ms; worked += fixedWorkMs) fixedWork(); }
  const wait = () => new Promise((resolve) => setTimeout(resolve, 300));
  const server = createServer().listen(0, "127.0.0.1", async () => {
    await wait(); ${work}; await wait(); server.close(); process.exit();
  });`;

/** The reports of a server that does the work, by the names of their files. */
function reportsOf(work: string): [name: string, text: string][] {
  const folder = mkdtempSync(join(tmpdir(), "event-loop-test-"));
  const preload = new URL("./watched-process.ts", import.meta.url).href;
  try {
    const words = ["--import", preload, "--input-type=module", "--eval", program(work)];
    const ended = spawnSync(process.execPath, words, {
      env: { EVENT_LOOP_REPORTS: folder },
      encoding: "utf8",
    });
    expect(ended.stderr).toBe("");
    return readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What servers left open that did this and then ended as if they had closed. */
function leftAfter(work: string): string[] {
  return reportsOf(work).flatMap(([name, text]) => (name.endsWith(leftOpenSuffix) ? [text] : []));
}

function tasksOf(work: string): LongTask[] {
  return reportsOf(work).flatMap(([, text]) =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as LongTask),
  );
}

test.skipIf(openDescriptors() === null)(
  "what a server holds at its end is told if it is over the budget, not its garbage",
  () => {
    const { descriptors, heapMib } = holdingsBudget;
    const heldAfter = (work: string) =>
      reportsOf(work).flatMap(([name, text]) => (name.endsWith(overBudgetSuffix) ? [text] : []));
    const open = (count: number) =>
      `const { openSync } = await import("node:fs"); for (let i = 0; i < ${count}; i++) openSync("/dev/null")`;
    // A program closes a few that it had at its start.
    const [files] = heldAfter(open(descriptors + 16));
    expect(files).toMatch(/^\d\d descriptors more than when it began to listen, .*\/dev\/null/);
    const fill = (name: string) =>
      `${name} = []; for (let i = 0; i < ${heapMib + 10}; i++) ${name}.push(new Array(131_072).fill(i))`;
    expect(heldAfter(fill("globalThis.kept"))[0]).toMatch(
      /^a heap of \d+ MiB; \d+ MiB when it began to listen$/,
    );
    expect(heldAfter(`${open(descriptors / 2)}; (() => { let ${fill("garbage")}; })()`)).toEqual([]);
  },
);

test.skipIf(openDescriptors() === null)(
  "what a server that closed left open is told: files, sockets that listen, processes",
  () => {
    const path = new URL(import.meta.url).pathname;
    const [told, ...others] = leftAfter(`
      (await import("node:fs")).openSync(${JSON.stringify(path)});
      createServer().listen(0);
      createServer().listen("\\0left-open-" + process.pid);
      const { spawn } = await import("node:child_process");
      spawn("true");
      process.once("exit", (end => () => end.kill())(spawn("sleep", ["60"])))`);
    expect(others).toEqual([]);
    const socket = "socket:\\[\\d+\\], which listens";
    expect(told).toMatch(new RegExp(`^the file ${path}; ${socket}; ${socket}; the process sleep 60$`));
    expect(leftAfter("")).toEqual([]);
  },
);

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
