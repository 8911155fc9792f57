import { expect, it } from "vitest";
import { simulateScheduler } from "../../test/scheduler-simulation.ts";

it("200 simulations: bounds hold, nobody waits forever, nothing stays taken (more: npm run proof -- places)", async () => {
  for (let seed = 1; seed <= 200; seed++)
    expect([seed, (await simulateScheduler(seed)).breach]).toEqual([seed, undefined]);
});
