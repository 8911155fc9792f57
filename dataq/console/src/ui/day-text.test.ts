import { expect, test } from "vitest";
import { asDay } from "./day-text.ts";

test.each([
  ["2026-01-31", "2026-01-31"],
  [" 2026/1/5 ", "2026-01-05"],
  ["2024年2月29日", "2024-02-29"],
  ["2026.12.01", "2026-12-01"],
  ["2026-02-29", undefined],
  ["2026-13-01", undefined],
  ["01/31/2026", undefined],
  ["2026-1", undefined],
  ["20260131", undefined],
  ["2026-01-31 08:00", undefined],
  ["", undefined],
])("“%s” names the day %s", (text, day) => {
  expect(asDay(text, false)).toBe(day);
});

test.each([
  ["2026-01-31 8:05", "2026-01-31 08:05"],
  ["2026-01-31T23:59", "2026-01-31 23:59"],
  ["2026年1月31日 9：30", "2026-01-31 09:30"],
  ["2026-01-31", "2026-01-31 00:00"],
  ["2026-01-31 24:00", undefined],
  ["2026-01-31 12:60", undefined],
])("“%s” names the minute %s", (text, minute) => {
  expect(asDay(text, true)).toBe(minute);
});
