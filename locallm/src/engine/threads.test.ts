import { describe, expect, it } from "vitest";
import { type ProcessorTime, physicalCores, ThreadCount } from "./threads.ts";

/** A machine whose other programs keep `others` cores busy, looked at every 400 ms. */
function machine(most: number) {
  let time: ProcessorTime = { nowMs: 0, machineMs: 0, ownMs: 0 };
  const threads = new ThreadCount(most, () => time);
  return (others: number, spanMs = 400) => {
    const ownMs = spanMs * 0.9;
    time = {
      nowMs: time.nowMs + spanMs,
      machineMs: time.machineMs + ownMs + others * spanMs,
      ownMs: time.ownMs + ownMs,
    };
    return threads.now(time.nowMs);
  };
}

describe("ThreadCount", () => {
  it("gives up a thread for each core that others keep busy, and takes it back", () => {
    const run = machine(4);
    expect([0, 0.3, 1, 2.2, 9, 2.2, 1, 0.2].map((others) => run(others))).toEqual([4, 4, 3, 2, 1, 2, 3, 4]);
  });

  it("does not waver between two counts", () => {
    const run = machine(2);
    expect([0.4, 0.6, 0.4, 0.3, 0.4, 0.2, 0.4].map((others) => run(others))).toEqual([2, 1, 1, 1, 1, 2, 2]);
  });

  it("keeps its count over a pause, and between two looks", () => {
    const run = machine(2);
    expect(run(1)).toBe(1);
    expect(run(0, 60_000)).toBe(1);
    expect(run(0, 100)).toBe(1);
    expect(run(0)).toBe(2);
  });
});

describe("physicalCores", () => {
  it("is at least one, also where the system does not tell", () => {
    expect(physicalCores()).toBeGreaterThanOrEqual(1);
    expect(physicalCores("/nowhere")).toBeGreaterThanOrEqual(1);
  });
});
