import { describe, expect, it } from "vitest";
import { parseDuration, parseKeepAlive } from "./duration.ts";

describe("parseDuration", () => {
  it.each([
    ["0", 0],
    ["300ms", 300],
    ["1h30m", 5_400_000],
    ["1.5s", 1500],
    ["-1s", -1000],
    [".5m", 30_000],
    ["2us", 0.002],
    ["+1m", 60_000],
  ])("reads %s", (text, valueMs) => {
    expect(parseDuration(text)).toBeCloseTo(valueMs, 9);
  });

  it.each(["", "soon", "5", "5 m", "m", "1d", "--1s", "1s2", "1e3s", "9".repeat(100)])(
    "rejects %j",
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );
});

describe("parseKeepAlive", () => {
  it.each([
    [300, 300_000],
    [1.5, 1500],
    ["300", 300_000],
    ["10m", 600_000],
    [0, 0],
    ["0", 0],
    [-1, Number.POSITIVE_INFINITY],
    ["-1", Number.POSITIVE_INFINITY],
    ["-1s", Number.POSITIVE_INFINITY],
    [1e300, Number.POSITIVE_INFINITY],
  ])("reads %j", (value, valueMs) => {
    expect(parseKeepAlive(value)).toBe(valueMs);
  });

  it.each([["soon"], [true], [[]], [{}], [""], [Number.NaN]])("rejects %j", (value) => {
    expect(() => parseKeepAlive(value)).toThrow(/^invalid keep_alive "/);
  });
});
