import { expect, test } from "vitest";
import type { Grant } from "./grant.ts";
import { assertMayGrant, type Principal } from "./principal.ts";

const unbounded: Grant = {
  mode: "live",
  scopes: ["data:query", "manage:keys"],
  monthlyCap: null,
  sessionBudget: null,
  spendAs: "key_parent",
  perSecond: null,
  ipList: [],
  expiresAt: null,
};
const parent = (bounds: Partial<Grant>) => ({ ...unbounded, ...bounds, id: "key_parent" }) as Principal;

test("a bounded key grants no cap and no rate beside its own: its owner could spend both", () => {
  for (const bounds of [{ perSecond: 5 }, { monthlyCap: 100 }, { perSecond: 5, monthlyCap: 100 }]) {
    const right = "monthlyCap" in bounds ? "a separate monthly cap" : "a separate rate limit";
    for (const spendAs of ["key_child", "", undefined] as const)
      expect(() => assertMayGrant(parent(bounds), { ...unbounded, ...bounds, spendAs } as Grant)).toThrow(
        expect.objectContaining({ code: "grant_denied", details: expect.objectContaining({ right }) }),
      );
    expect(() => assertMayGrant(parent(bounds), { ...unbounded, ...bounds })).not.toThrow();
  }
  // Without a bound, nothing is shared.
  expect(() => assertMayGrant(parent({}), { ...unbounded, spendAs: "key_child" })).not.toThrow();
});
