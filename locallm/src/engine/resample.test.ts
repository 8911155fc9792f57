import { expect, it } from "vitest";
import { resampled } from "./resample.ts";

const tone = (rate: number, hertz: number, seconds: number) =>
  Float32Array.from({ length: Math.round(rate * seconds) }, (_, index) =>
    Math.sin((2 * Math.PI * hertz * index) / rate),
  );
/** The largest difference, without the edges, where a filter sees less than it reaches. */
const difference = (a: Float32Array, b: Float32Array) =>
  a.slice(300, -300).reduce((most, each, index) => Math.max(most, Math.abs(each - b[index + 300]!)), 0);

it.each([
  [44_100, 16_000],
  [48_000, 16_000],
  [8000, 16_000],
  [22_050, 24_000],
  [11_025, 16_000],
  [16_001, 16_000],
])("gives the same tone at another rate: %i to %i", (from, to) => {
  const made = resampled(tone(from, 440, 0.25), from, to);
  expect(made).toHaveLength(Math.ceil((Math.round(from * 0.25) * to) / from));
  expect(difference(made, tone(to, 440, 0.25))).toBeLessThan(0.002);
});

it("removes what the lower rate cannot hold, and changes nothing at the same rate", () => {
  const high = resampled(tone(48_000, 11_000, 0.1), 48_000, 16_000);
  expect(difference(high, new Float32Array(high.length))).toBeLessThan(0.002);
  const samples = tone(16_000, 440, 0.01);
  expect(resampled(samples, 16_000, 16_000)).toBe(samples);
  expect(resampled(new Float32Array(0), 8000, 16_000)).toHaveLength(0);
});
