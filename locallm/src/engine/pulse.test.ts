import { expect, test } from "vitest";
import { flagPulse } from "./pulse.ts";

test("without a semaphore, a step counts as progress for ten minutes", () => {
  let nowMs = 5_000;
  const pulse = flagPulse(() => nowMs);
  const isMoving = () => {
    const before = pulse.count;
    return pulse.count !== before;
  };
  pulse.arm();
  nowMs += 9.9 * 60_000;
  expect(isMoving()).toBe(true);
  nowMs += 0.2 * 60_000;
  expect(isMoving()).toBe(false);
  nowMs += 1e9;
  expect(isMoving()).toBe(false);
  pulse.arm();
  expect(isMoving()).toBe(true);
});
