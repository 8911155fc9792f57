import { expect, it } from "vitest";
import { simulateSlots } from "../../test/slots-simulation.ts";

it("no answer is computed from another's cells, whatever is kept, damaged, left and aborted meanwhile", async () => {
  // `npm run proof -- places --only slots` plays 10,000.
  const found = [741, 6807, 7018, 8501, 9559, 16870, 23437, 95845];
  for (const seed of [...found, ...Array.from({ length: 60 }, (_, n) => n + 1)])
    expect([seed, (await simulateSlots(seed)).breach]).toEqual([seed, undefined]);
});
