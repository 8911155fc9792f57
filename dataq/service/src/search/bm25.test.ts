import { expect, test } from "vitest";
import { normOf, normPerLengthOf, worthOf } from "./bm25.ts";

test("BM25's length normalisation has the standard k1 = 1.2 and b = 0.75", () => {
  for (const [tokens, documents] of [
    [1_000, 10],
    [1, 1],
    [68_787_000, 68_787],
    [7, 3],
  ] as const) {
    const average = Math.max(1, tokens / documents);
    const normAt = (share: number) => normOf(share * average, normPerLengthOf(tokens, documents));
    // k1 × (1 − b + b × length / average length)
    for (const [share, norm] of [
      [0, 0.3],
      [1, 1.2],
      [2, 2.1],
      [100, 90.3],
    ] as const)
      expect(normAt(share)).toBeCloseTo(norm, 9);
  }
  // An empty index divides by nothing.
  expect(normOf(0, normPerLengthOf(0, 0))).toBeCloseTo(0.3, 9);
});

test("no document gets more from a term than its worth, which is k1 + 1 times its weight", () => {
  expect(worthOf(3)).toBeCloseTo(6.6, 9);
});
