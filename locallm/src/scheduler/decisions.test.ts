import { expect, it } from "vitest";
import { Decisions } from "./decisions.ts";

it("the last hundred decisions are kept, and all are told", () => {
  let now = 0;
  const told: string[] = [];
  const decisions = new Decisions(
    () => ++now,
    ({ why }) => told.push(why),
  );
  for (let at = 1; at <= 103; at++) decisions.add("m", "load", `${at}`);
  const kept = decisions.list();
  expect([kept.length, kept[0]?.why, kept.at(-1)?.why, told.length]).toEqual([100, "4", "103", 103]);
  expect(kept[0]).toEqual({ atMs: 4, model: "m", what: "load", why: "4", tookMs: null });
});
