import { expect, it } from "vitest";
import { checkCount, normalise } from "./embedding.ts";

it("checkCount rejects more texts than fit into one answer, and reports the maximum", () => {
  checkCount(43_690, 384);
  expect(() => checkCount(43_691, 384)).toThrow("input must have at most 43690 texts for this model");
  // A number takes at most 24 characters, and V8's longest string has 2²⁹ - 24 characters.
  expect(43_690 * 384 * 24).toBeLessThan(2 ** 29 - 24);
});

it("normalise scales vectors of any size to length 1, and leaves a vector of zeros", () => {
  for (const scale of [1e-30, 0.02, 1, 1e30]) {
    const [x, y, z] = normalise(Float32Array.of(2 * scale, -3 * scale, 6 * scale));
    expect(x).toBeCloseTo(2 / 7, 6);
    expect(y).toBeCloseTo(-3 / 7, 6);
    expect(z).toBeCloseTo(6 / 7, 6);
  }
  expect([...normalise(new Float32Array(3))]).toEqual([0, 0, 0]);
});
