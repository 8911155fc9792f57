import { expect, it } from "vitest";
import { checkCount } from "./embedding.ts";

it("checkCount keeps an answer below what one text can hold, and says how many texts that is", () => {
  checkCount(43_690, 384);
  expect(() => checkCount(43_691, 384)).toThrow("input must have at most 43690 texts for this model");
  // A number takes 24 characters at most, and V8's longest text has 2²⁹ - 24.
  expect(43_690 * 384 * 24).toBeLessThan(2 ** 29 - 24);
});
