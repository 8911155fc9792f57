import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { timesTooLong } from "./event-loop-watch.ts";
import type { LongTask } from "./event-loop-watchdog.ts";
import { isFile, leftOpenSuffix, more, openDescriptors, overBudgetSuffix } from "./process-holdings.ts";

declare module "vitest" {
  interface TaskMeta {
    /** Long tasks that are not too long. The reporter tells them at the end. */
    longTasks?: readonly string[];
    /** What servers held at their end, if it was over their budget. The reporter tells it. */
    overBudget?: readonly string[];
  }
}

/**
 * Runs around each file of live tests. A server, in this process or in one of its own, that keeps its event loop busy
 * much too long fails the file with the stack of the task; and the file must end with the open files, timers and
 * handles that it began with. A server in a process of its own must not have files, listening sockets or processes any
 * more when it has closed; what else it holds at its end over its budget is told.
 */
const reports = mkdtempSync(join(tmpdir(), "event-loop-"));
let before: readonly string[] = [];

beforeAll(() => {
  // Read by watched-process.ts and by the starters of servers in this process.
  process.env["EVENT_LOOP_REPORTS"] = reports;
  before = held();
});

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the pattern to know what a hook wants.
afterAll(async ({}, file) => {
  const tasks = readTasks(reports);
  const overBudget = readReports(reports, overBudgetSuffix);
  const left = readReports(reports, leftOpenSuffix);
  rmSync(reports, { recursive: true, force: true });
  const tooLong = tasks.filter(isTooLong);
  if (tooLong.length > 0)
    throw new Error(
      `${tooLong.length} task(s) kept an event loop busy for more than ${timesTooLong} times what a task may take:\n\n${tooLong.map(inWords).join("\n\n")}`,
    );
  expect(left, "is left open by servers of this file that closed").toEqual([]);
  file.meta.longTasks = tasks.map(inWords);
  file.meta.overBudget = overBudget;
  // Connections to servers that stopped close a moment later. So do pauses of graphile-worker, which after a lost
  // connection waits up to ten seconds before it tries again.
  for (let tries = 0; tries < 300 && more(held(), before).length > 0; tries++) await setTimeout(50);
  expect(more(held(), before), "is left open by this file").toEqual([]);
});

/** Timers, handles and requests that keep a process alive, and the files that are open. */
function held(): string[] {
  // The pipe of a program that ended before its output was read stays until it is collected.
  const handles = process.getActiveResourcesInfo().filter((kind) => kind !== "PipeWrap");
  return [...handles, ...openFiles()];
}

/** Files by path. Sockets and pipes are left out: what matters of them is among the handles. */
function openFiles(): string[] {
  return (openDescriptors() ?? []).filter(isFile);
}

function readTasks(folder: string): LongTask[] {
  return readdirSync(folder).flatMap((name) => {
    if (!name.endsWith(".jsonl")) return [];
    return readFileSync(join(folder, name), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as LongTask)
      .filter((task) => !isLoading(task) && (name !== "here.jsonl" || isOfServer(task)));
  });
}

function readReports(folder: string, suffix: string): string[] {
  const reports = readdirSync(folder).filter((name) => name.endsWith(suffix));
  return reports.map((name) => readFileSync(join(folder, name), "utf8"));
}

function inWords({ ranMs, limitMs, stack }: LongTask): string {
  return `${ranMs} ms of processor time (limit ${limitMs} ms) after its beginning it was at\n  ${stack.slice(0, 25).join("\n  ")}`;
}

function isTooLong({ ranMs, limitMs }: LongTask): boolean {
  return ranMs > limitMs * timesTooLong;
}

/**
 * Tests strip types when a module is loaded. What users start is built, and Node keeps it compiled. Parts of Node's
 * own, such as `Request`, are loaded when they are first used.
 */
function isLoading({ stack }: LongTask): boolean {
  return stack.some((frame) => / node:internal\/(modules|bootstrap)\//.test(frame));
}

/** In a process that also runs a test, only what runs code of a product and no code of the test is the server's. */
function isOfServer({ stack }: LongTask): boolean {
  return stack.some((frame) => /\/src\//.test(frame)) && !stack.some((frame) => /\/test\//.test(frame));
}
