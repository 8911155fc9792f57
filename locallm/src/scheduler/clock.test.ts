import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";

test("a delay that is longer than the system's timers does not end at once", async () => {
  let isOver = false;
  const cancel = systemClock.after(2 ** 40, () => {
    isOver = true;
  });
  await sleep(20);
  cancel();
  expect(isOver).toBe(false);
});
