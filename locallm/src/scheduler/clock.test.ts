import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";

test("time is counted from the epoch, and goes on", async () => {
  const dayMs = 86_400_000;
  const began = systemClock.now();
  await sleep(2);
  expect(systemClock.now()).toBeGreaterThan(began);
  expect(Math.abs(began - Date.now())).toBeLessThan(dayMs);
});

test("a delay that is longer than the system's timers does not end at once", async () => {
  let isOver = false;
  const cancel = systemClock.after(2 ** 40, () => {
    isOver = true;
  });
  await sleep(20);
  cancel();
  expect(isOver).toBe(false);
});
