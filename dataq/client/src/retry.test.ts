import fc from "fast-check";
import { expect, test } from "vitest";
import { classOfStatus } from "./errors.ts";
import { delayBeforeRetry } from "./retry.ts";
import { defaultRetry } from "./settings.ts";

const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

function failure(status: number, retryAfter?: number) {
  return new (classOfStatus(status))("x", { code: "x", status, retryAfter });
}

test("a wait differs from delay × backoff^n by at most half a second and is never negative", () => {
  const settings = fc.record({
    retryDelayS: fc.double({ min: 0, max: 60, noNaN: true }),
    retryBackoff: fc.double({ min: 0, max: 4, noNaN: true }),
  });
  const law = fc.property(settings, fc.integer({ min: 1, max: 3 }), draw, (given, failed, random) => {
    const wait = delayBeforeRetry({ ...defaultRetry, ...given }, failure(500), failed, () => random) ?? -1;
    const middle = given.retryDelayS * given.retryBackoff ** (failed - 1);
    expect(wait / 1_000).toBeGreaterThanOrEqual(Math.max(0, middle - 0.5) - 1e-9);
    expect(wait / 1_000).toBeLessThanOrEqual(middle + 0.5 + 1e-9);
  });
  fc.assert(law, { seed: 7 });
});

test("a wait after retry_after is never shorter than that, and at most half a second longer", () => {
  const law = fc.property(fc.double({ min: 0, max: 60, noNaN: true }), draw, (retryAfter, random) => {
    const wait = delayBeforeRetry(defaultRetry, failure(429, retryAfter), 1, () => random) ?? -1;
    expect(wait).toBeGreaterThanOrEqual(retryAfter * 1_000);
    expect(wait).toBeLessThanOrEqual((retryAfter + 0.5) * 1_000);
  });
  fc.assert(law, { seed: 7 });
});

test("retries only 429 and 5xx", () => {
  const retried = Array.from({ length: 500 }, (_, index) => index + 100).filter(
    (status) => delayBeforeRetry(defaultRetry, failure(status), 1, () => 0.5) !== undefined,
  );
  expect(retried).toEqual([429, ...Array.from({ length: 100 }, (_, index) => 500 + index)]);
});
