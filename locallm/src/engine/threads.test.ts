import { describe, expect, it } from "vitest";
import { fixedThreads, type ProcessorTime, physicalCores, SharedThreads } from "./threads.ts";

/** A machine on which other programs keep `others` cores busy and steps of 300 ms follow each other. */
function machine(most: number) {
  let time: ProcessorTime = { nowMs: 0, machineMs: 0, ownMs: 0 };
  const threads = new SharedThreads(most, () => time);
  const pass = (spanMs: number, others: number, own = 0) => {
    const ownMs = spanMs * own;
    time = {
      nowMs: time.nowMs + spanMs,
      machineMs: time.machineMs + ownMs + others * spanMs,
      ownMs: time.ownMs + ownMs,
    };
  };
  const step = (others: number) => {
    const count = threads.begin(time.nowMs);
    pass(300, others, Math.min(count, Math.max(0.5, most - others)) * 0.95);
    threads.end(time.nowMs);
    return threads.begin(time.nowMs);
  };
  return { step, pass };
}

describe("SharedThreads", () => {
  it("uses one thread less for each core that other programs keep busy, and adds it again later", () => {
    const { step } = machine(4);
    expect([0, 0.3, 1, 2.2, 9, 2.2, 1, 0.2].map((others) => step(others))).toEqual([4, 4, 3, 2, 1, 2, 3, 4]);
  });

  it("does not oscillate between two counts", () => {
    const { step } = machine(2);
    expect([0.5, 0.7, 0.5, 0.4, 0.5, 0.3, 0.5].map((others) => step(others))).toEqual([2, 1, 1, 1, 1, 2, 2]);
  });

  it("ignores the load of others while it had nothing to compute", () => {
    const { step, pass } = machine(2);
    expect(step(0)).toBe(2);
    pass(500, 2);
    expect(step(0)).toBe(2);
    expect(step(1)).toBe(1);
    pass(60_000, 0);
    expect(step(1)).toBe(1);
    expect(step(0)).toBe(2);
  });
});

describe("SharedThreads beside programs that use every free core", () => {
  it("tries all threads again, less and less often", () => {
    const { step } = machine(2);
    const counts = Array.from({ length: 60 }, () => step(1));
    const trials = counts.flatMap((count, index) => (count === 2 ? [index] : []));
    expect(trials).toEqual([8, 25, 58]);
  });
});

it("fixedThreads uses the number asked for, at most one per processor", () => {
  expect([1, 3, 8, 1024].map((asked) => fixedThreads(asked, 8).most)).toEqual([1, 3, 8, 8]);
});

describe("physicalCores", () => {
  it("is at least one, even if the system does not report its cores", () => {
    expect(physicalCores()).toBeGreaterThanOrEqual(1);
    expect(physicalCores("/nowhere")).toBeGreaterThanOrEqual(1);
  });
});
