import { describe, expect, it } from "vitest";
import { type Burst, simulateBurst, simulateRowBudget } from "../../test/burst-simulation.ts";

/** A machine whose cores are its own, the same with four times the load, and a GPU. */
const machines = [
  { stepMs: 3, rowMs: 2.5 },
  { stepMs: 12, rowMs: 10 },
  { stepMs: 1, rowMs: 0.02 },
];

const learningMs = 40;

describe("streams that arrive together", () => {
  it.each([
    // Cells of a common beginning are copied, which the rule compared does not do.
    { streams: { running: 0, arriving: 64, promptTokens: 21, common: 12 }, last: 0.6, gap: 0.5 },
    { streams: { running: 0, arriving: 64, promptTokens: 21, common: 0 }, last: 1.15, gap: 0.5 },
    { streams: { running: 1, arriving: 63, promptTokens: 90, common: 0 }, last: 1.15, gap: 0.3 },
    { streams: { running: 8, arriving: 4, promptTokens: 400, common: 0 }, last: 1.15, gap: 0.3 },
    { streams: { running: 32, arriving: 32, promptTokens: 60, common: 0 }, last: 1.2, gap: 0.3 },
    // One step has all of them.
    { streams: { running: 60, arriving: 4, promptTokens: 20, common: 0 }, last: 1.05, gap: 1.05 },
  ])("begin as early as by a budget of rows, with shorter gaps: $streams", async ({ streams, last, gap }) => {
    for (const machine of machines) {
      const burst: Burst = { ...streams, ...machine, apartMs: machine.rowMs / 2 };
      const [ours, others] = [await simulateBurst(burst), simulateRowBudget(burst)];
      const on = JSON.stringify(machine);
      // The first steps do not know yet how fast the machine is.
      expect(ours.lastFirstMs, on).toBeLessThan(others.lastFirstMs * last + learningMs);
      expect(ours.totalMs, on).toBeLessThan(others.totalMs * 1.02 + learningMs);
      expect(ours.largestGapMs / others.largestGapMs, on).toBeLessThan(gap);
    }
  });

  it("one prompt alone lengthens a step by 100 ms, or as much as the answers take, however long it is", async () => {
    for (const machine of machines)
      for (const running of [1, 8, 40]) {
        const alone = machine.stepMs + running * machine.rowMs;
        const burst: Burst = { ...machine, running, arriving: 1, promptTokens: 400, common: 0, apartMs: 0 };
        const { largestGapMs } = await simulateBurst(burst);
        // At least 32 rows of a prompt, and the last one of another.
        const most = Math.max(100, running * machine.rowMs, 32 * machine.rowMs) + machine.rowMs;
        expect(largestGapMs).toBeLessThanOrEqual(alone + most);
      }
  });
});
