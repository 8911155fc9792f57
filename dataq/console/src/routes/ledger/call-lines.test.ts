import type { Entry } from "@dataq/contract/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { callLines } from "./call-lines.ts";

let number = 0;
function entry(kind: Entry["kind"], tokens: number, request: string | null = null): Entry {
  number++;
  return {
    id: `acc.${number}`,
    at: new Date(number * 1_000).toISOString(),
    kind,
    request_id: request,
    operation: null,
    key_id: null,
    tokens,
    balance_after: 0,
    price_version: null,
    note: null,
  };
}

/** Takes entries oldest first and reverses them, because the ledger lists the newest first. */
function linesOf(entries: Entry[], isComplete = true) {
  return callLines(entries.toReversed(), isComplete).map(({ kind, tokens, outcome, request_id }) => ({
    kind,
    tokens,
    outcome,
    request_id,
  }));
}

test("shows one line for a call, with what it cost", () => {
  expect(linesOf([entry("grant", 100), entry("hold", -10, "a"), entry("capture", 0, "a")])).toEqual([
    { kind: "capture", tokens: -10, outcome: "charged", request_id: "a" },
    { kind: "grant", tokens: 100, outcome: undefined, request_id: null },
  ]);
});

test("shows a failed call as free, a running one as running, and a refund apart", () => {
  const lines = linesOf([
    entry("hold", -10, "failed"),
    entry("hold", -10, "running"),
    entry("void", 10, "failed"),
    entry("hold", -10, "half"),
    entry("capture", 5, "half"),
    entry("reverse", 5, "half"),
  ]);
  expect(lines).toEqual([
    { kind: "reverse", tokens: 5, outcome: undefined, request_id: "half" },
    { kind: "capture", tokens: -5, outcome: "charged", request_id: "half" },
    { kind: "void", tokens: 0, outcome: "free", request_id: "failed" },
    { kind: "hold", tokens: -10, outcome: "running", request_id: "running" },
  ]);
});

test("omits a call whose hold is not loaded yet", () => {
  const all = [
    entry("hold", -10, "a"),
    entry("hold", -10, "b"),
    entry("capture", 0, "b"),
    entry("capture", 0, "a"),
  ];
  expect(linesOf(all.slice(1), false)).toEqual([
    { kind: "capture", tokens: -10, outcome: "charged", request_id: "b" },
  ]);
  expect(linesOf(all)).toHaveLength(2);
});

test("the lines add up to the same balance as the entries, however calls interleave", () => {
  const calls = fc.array(fc.record({ cost: fc.integer({ min: 1, max: 9 }), isFree: fc.boolean() }), {
    maxLength: 20,
  });
  const law = fc.property(calls, fc.infiniteStream(fc.boolean()), (wanted, coins) => {
    const open: Entry[] = [];
    const entries: Entry[] = [];
    for (const [place, { cost, isFree }] of wanted.entries()) {
      entries.push(entry("hold", -cost, `r${place}`));
      open.push(isFree ? entry("void", cost, `r${place}`) : entry("capture", 0, `r${place}`));
      if (coins.next().value) entries.push(...open.splice(0));
    }
    const sum = (rows: readonly { tokens: number }[]) =>
      rows.reduce((total, { tokens }) => total + tokens, 0);
    const lines = callLines(entries.toReversed(), true);
    expect(sum(lines)).toBe(sum(entries));
    expect(new Set(lines.map(({ request_id }) => request_id)).size).toBe(lines.length);
  });
  fc.assert(law, { seed: 3 });
});
