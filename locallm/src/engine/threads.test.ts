import { describe, expect, it } from "vitest";
import { fixedThreads, type ProcessorTime, SharedThreads, type StepKind, threadsBeside } from "./threads.ts";

const cores = 4;

/**
 * A machine with four cores. Other programs use `others` cores of it if they can. A step's time depends on its
 * number of threads.
 */
function machine(most: number, stepMs: (count: number, kind: StepKind) => number, others = 0) {
  let time: ProcessorTime = { nowMs: 0, machineMs: 0, ownMs: 0, idleMs: 0 };
  const threads = new SharedThreads(most, () => time);
  const state = { others };
  const pass = (spanMs: number, asked = 0) => {
    const all = Math.min(cores, state.others + asked);
    const own = asked === 0 ? 0 : all * (asked / (state.others + asked));
    time = {
      nowMs: time.nowMs + spanMs,
      machineMs: time.machineMs + all * spanMs,
      ownMs: time.ownMs + own * spanMs,
      idleMs: time.idleMs + (cores - all) * spanMs,
    };
  };
  const step = (kind: StepKind = "answers", rows = 1) => {
    const count = threads.begin(time.nowMs, kind);
    pass(stepMs(count, kind) * rows, count);
    threads.end(time.nowMs, rows);
    return count;
  };
  const steps = (number: number, kind?: StepKind) => Array.from({ length: number }, () => step(kind));
  return { state, threads, pass, step, steps, nowMs: () => time.nowMs };
}

/** The number of threads of most of the last 50 steps, because a comparison also uses other numbers. */
function usual(counts: readonly number[]): number {
  const latest = counts.slice(-50).sort((a, b) => a - b);
  return latest[Math.floor(latest.length / 2)]!;
}

describe("SharedThreads", () => {
  it("compares nothing on an idle machine, or beside programs that have cores of their own", () => {
    for (const [most, others] of [
      [4, 0],
      [4, 0.3],
      [3, 1],
      [1, 4],
    ] as const) {
      const { steps, threads } = machine(most, () => 20, others);
      expect(new Set(steps(500))).toEqual(new Set([most]));
      expect(threads.measuresPrompts).toBe(false);
    }
  });

  it("keeps all threads if they are faster, and fewer if not", () => {
    const keeps = machine(4, (count) => 80 / count, 1);
    expect(usual(keeps.steps(400))).toBe(4);
    const releases = machine(4, (count) => (count === 4 ? 200 : 80 / count), 1);
    expect(usual(releases.steps(400))).toBe(3);
  });

  it("gives a thread up only for a clear gain, because a small one may be chance", () => {
    for (const [gain, expected] of [
      [1.04, 4],
      [1.1, 3],
    ] as const) {
      const { steps } = machine(4, (count) => (count === 4 ? 20 * gain : 20), 1);
      expect(usual(steps(400))).toBe(expected);
    }
  });

  it("leaves a core to each busy program, and keeps one", () => {
    for (const [others, fewer] of [
      [1, 3],
      [2, 2],
      [40, 1],
    ] as const) {
      const { steps } = machine(4, (count) => (count === 4 ? 300 : 80 / count), others);
      expect(usual(steps(400))).toBe(fewer);
    }
  });

  it("decides for answers and for prompts separately", () => {
    const { step } = machine(4, (count, kind) => (kind === "answers" && count === 4 ? 200 : 80 / count), 1);
    const pairs = Array.from({ length: 300 }, () => [step("answers"), step("prompts", 8)]);
    expect([0, 1].map((kind) => usual(pairs.map((pair) => pair[kind]!)))).toEqual([3, 4]);
  });

  it("compares again when other programs do more or less", () => {
    let slow = 1;
    const { state, steps } = machine(4, (count) => (count === 4 ? 20 * slow : 80 / count), 1);
    expect(usual(steps(300))).toBe(4);
    state.others = 8;
    slow = 50;
    expect(usual(steps(300))).toBe(1);
    state.others = 0;
    slow = 1;
    expect(usual(steps(300))).toBe(4);
  });

  it("compares again when a different load follows a time without load", () => {
    let stepMs = (count: number): number => (count === 4 ? 2_000 : 30);
    const { state, threads, steps, pass, nowMs } = machine(4, (count) => stepMs(count), 8);
    expect(usual(steps(200))).toBe(1);
    stepMs = (count) => 80 / count;
    threads.rest();
    state.others = 0;
    pass(1_000);
    for (const beginMs = nowMs(); nowMs() - beginMs < 120_000; ) steps(10);
    state.others = 3;
    const beginMs = nowMs();
    while (usual(steps(50)) !== 4) expect(nowMs() - beginMs).toBeLessThan(20_000);
  });

  it("loses at most a 25th of the time to comparisons, even if the load keeps changing", () => {
    for (const changes of [false, true]) {
      const { state, step, nowMs } = machine(4, (count) => (count === 4 ? 400 : 30), 8);
      for (let index = 0; index < 40; index++) step();
      const beginMs = nowMs();
      let [lostMs, rounds] = [0, 0];
      while (nowMs() - beginMs < 600_000) {
        if (changes && rounds++ % 20 === 0) state.others = 11 - state.others;
        if (step() === 4) lostMs += 370;
      }
      expect(lostMs).toBeGreaterThan(0);
      expect(lostMs / 600_000).toBeLessThanOrEqual(1 / 25);
    }
  });

  it("loses at most a 25th of the computing time if requests are far apart", () => {
    const { threads, pass, step, nowMs } = machine(4, (count) => (count === 4 ? 20 : 30), 2);
    let [lostMs, computedMs] = [0, 0];
    for (let request = 0; request < 300; request++) {
      for (const beginMs = nowMs(); nowMs() - beginMs < 1_000; ) if (step("prompts") !== 4) lostMs += 10;
      computedMs += 1_000;
      threads.rest();
      pass(9_000);
    }
    expect(lostMs).toBeGreaterThan(0);
    expect(lostMs / computedMs).toBeLessThanOrEqual(1 / 25);
  });

  it("asks for short prompt steps while it compares them, and no longer than that", () => {
    const { threads, steps, step } = machine(4, (count) => 200 / count, 4);
    steps(20, "answers");
    const short = Array.from({ length: 40 }, () => {
      const isShort = threads.measuresPrompts;
      step("prompts", 2);
      return isShort;
    });
    expect(short.indexOf(true)).toBe(0);
    expect(short.filter((isShort) => isShort).length).toBeLessThan(16);
  });

  it("compares at the first step if no core was free before it", () => {
    const { pass, step, threads } = machine(4, () => 20, 9);
    pass(1_000);
    step();
    expect(threads.measuresPrompts).toBe(true);
  });

  it("ignores the load while it computed nothing if that left a core free", () => {
    const { state, pass, steps } = machine(4, () => 20, 0);
    steps(20);
    state.others = 3;
    pass(500);
    state.others = 0;
    expect(new Set(steps(100))).toEqual(new Set([4]));
  });

  it("computes with all threads at once if the other programs ended in a pause", () => {
    const { state, threads, pass, steps } = machine(4, (count) => (count === 4 ? 400 : 30), 8);
    expect(usual(steps(100))).toBe(1);
    threads.rest();
    state.others = 0;
    pass(1_000);
    expect(steps(3)).toEqual([4, 4, 4]);
  });

  it("measures a number of threads that is much slower for two steps at most", () => {
    const { steps } = machine(4, (count) => (count === 4 ? 3_000 : 30), 8);
    const counts = steps(200);
    expect(counts.filter((count) => count === 4).length).toBeLessThanOrEqual(4);
    expect(usual(counts)).toBe(1);
  });

  it("does not stay at the number that it measures if all requests are short", () => {
    const { threads, pass, step } = machine(4, (count) => 200 / count, 8);
    const counts = Array.from({ length: 60 }, () => {
      threads.rest();
      pass(1_000);
      return step("prompts");
    });
    expect(counts.slice(0, 5)).toEqual([4, 4, 4, 4, 4]);
    expect(usual(counts)).toBe(4);
  });

  it("is not misled by one slow step", () => {
    let steps = 0;
    const { step } = machine(4, (count) => (++steps % 29 === 0 ? 600 : 80 / count), 1);
    for (let index = 0; index < 600; index++) step();
    expect(Array.from({ length: 30 }, () => step()).filter((count) => count === 4).length).toBeGreaterThan(
      20,
    );
  });

  it("does not count a step that was aborted", () => {
    const { threads, pass, nowMs } = machine(4, () => 0, 9);
    pass(1_000);
    for (let index = 0; index < 10; index++) {
      expect(threads.begin(nowMs(), "answers")).toBe(4);
      pass(300, 1);
      threads.end(nowMs(), 0);
    }
  });
});

it("fixedThreads uses the number asked for, at most one per processor", () => {
  expect([1, 3, 8, 1024].map((asked) => fixedThreads(asked, 8).most)).toEqual([1, 3, 8, 8]);
});

it.each([
  [0, 4],
  [0.3, 4],
  [1, 3],
  [2.2, 2],
  [9, 1],
])("leaves the cores to others that they use: %d", (others, expected) => {
  const before = { nowMs: 5, machineMs: 700, ownMs: 50, idleMs: 9 };
  const now = { nowMs: 205, machineMs: 700 + 200 * others + 30, ownMs: 80, idleMs: 9 };
  expect(threadsBeside(4, before, now)).toBe(expected);
});
