import { expect, it } from "vitest";
import { Random } from "../../../fuzz/random.ts";
import { LearnedRowCost } from "./row-cost.ts";

it("learns what the row of a guess costs, also where single steps take far too long", () => {
  const random = new Random(7);
  for (const [answers, cost] of [
    [1, 0.1],
    [1, 0.9],
    [5, 0.4],
  ] as const) {
    const learned = new LearnedRowCost(0.45);
    for (let at = 0; at < 300; at++) {
      const guessed = at % 3 === 0 ? 1 + random.below(15) : 0;
      const disturbed = random.below(50) === 0 ? 20 : 0.95 + random.below(10) / 100;
      learned.saw({ answers, guessed, ns: 8e6 * (1 + (cost * guessed) / answers) * disturbed });
    }
    expect(Math.abs(learned.value - cost), String(cost)).toBeLessThan(0.3);
  }
});

it("keeps what is assumed until a step without guesses was seen", () => {
  const cost = new LearnedRowCost(0.45);
  cost.saw({ answers: 2, guessed: 8, ns: 1e9 });
  expect(cost.value).toBe(0.45);
});
