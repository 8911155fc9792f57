import { expect, test } from "vitest";
import { Pace } from "./progress.ts";
import { humanSeconds } from "./text.ts";

test("computes speed and remaining time from the last seconds, without bytes from an earlier pull", () => {
  let nowMs = 0;
  const pace = new Pace(100e6, () => nowMs);
  expect(pace.after(50e6)).toBe("");
  nowMs = 1000;
  expect(pace.after(52e6)).toBe(" 2.0 MB/s 24s");
  nowMs = 9000;
  expect(pace.after(52e6)).toBe("");
  nowMs = 10_000;
  expect(pace.after(62e6)).toBe(" 10 MB/s 4s");
  nowMs = 14_000;
  expect(pace.after(62e6)).toBe(" 2.0 MB/s 19s");
  nowMs = 14_500;
  expect(pace.after(100e6)).toBe("");
});

test("shows when a download is stalled", () => {
  let nowMs = 0;
  const pace = new Pace(100, () => nowMs);
  pace.after(5);
  nowMs = 2000;
  expect(pace.after(5)).toBe(" 0 B/s");
});

test.each([
  [0.2, "1s"],
  [59, "59s"],
  [80, "1m20s"],
  [3600, "1h00m"],
  [90_000, "25h00m"],
])("formats %d seconds as %s", (seconds, text) => {
  expect(humanSeconds(seconds)).toBe(text);
});
