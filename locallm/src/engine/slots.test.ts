import { expect, it } from "vitest";
import { simulateSlots } from "../../test/slots-simulation.ts";

it("no answer is computed from another's cells, whatever is kept, damaged, left and aborted meanwhile", async () => {
  // `npm run proof -- places --only slots` plays 10,000.
  for (let seed = 1; seed <= 60; seed++)
    expect([seed, (await simulateSlots(seed)).breach]).toEqual([seed, undefined]);
});
