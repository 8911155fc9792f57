import { expect, it } from "vitest";
import { checkCount } from "./embedding.ts";

it("checkCount rejects more texts than fit into one answer, and reports the maximum", () => {
  checkCount(43_690, 384);
  expect(() => checkCount(43_691, 384)).toThrow("input must have at most 43690 texts for this model");
  // A number takes at most 24 characters, and V8's longest string has 2²⁹ - 24 characters.
  expect(43_690 * 384 * 24).toBeLessThan(2 ** 29 - 24);
});
