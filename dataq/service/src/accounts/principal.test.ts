import fc from "fast-check";
import { expect, test } from "vitest";
import type { Grant } from "./grant.ts";
import { type Action, actions, assertMayGrant, authorise, type Principal, withBounds } from "./principal.ts";
import { defaultScopes, isOperators, scopes } from "./scope.ts";

const unbounded: Grant = {
  mode: "live",
  scopes: ["data:query", "manage:keys"],
  monthlyCap: null,
  projectId: null,
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

const scopeSets = fc.subarray([...scopes]);
const bound = (...values: number[]) => fc.constantFrom<number | null>(null, ...values);
const rights = {
  mode: fc.constantFrom("live" as const, "test" as const),
  scopes: scopeSets,
  monthlyCap: bound(10, 20),
  projectId: fc.constantFrom(null, "prj_a", "prj_b"),
  sessionBudget: bound(3, 4),
  spendAs: fc.constantFrom("key_a", "key_b"),
  perSecond: bound(1, 5),
  ipList: fc.subarray(["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "192.0.2.0/24"]),
  expiresAt: fc.constantFrom(null, new Date("2027-01-01T00:00:00Z"), new Date("2028-01-01T00:00:00Z")),
} satisfies { [Field in keyof Grant]: fc.Arbitrary<Grant[Field]> };
const grants: fc.Arbitrary<Grant> = fc.record(rights);
const changes: fc.Arbitrary<Partial<Grant>> = fc
  .tuple(fc.record(rights), fc.subarray(Object.keys(rights) as (keyof Grant)[], { maxLength: 3 }))
  .map(([grant, fields]) => Object.fromEntries(fields.map((field) => [field, grant[field]])));
const owner = (grant: Grant, role: "admin" | "customer" = "customer") =>
  ({ ...grant, id: "key_x", account: { id: "acc", role, tier: "pro" }, key: null }) as unknown as Principal;
const may = (from: Grant, to: Grant) => {
  try {
    assertMayGrant(owner(from), to);
    return true;
  } catch {
    return false;
  }
};

test("nobody gets more over a second key than over the first, and everybody may grant what they have", () => {
  let chains = 0;
  fc.assert(
    fc.property(grants, changes, changes, (first, some, others) => {
      const second = { ...first, ...some };
      const third = { ...second, ...others };
      expect(may(first, first)).toBe(true);
      if (!may(first, second) || !may(second, third)) return;
      chains++;
      expect(may(first, third)).toBe(true);
    }),
    { numRuns: 2_000, seed: 41 },
  );
  expect(chains).toBeGreaterThan(200);
});

const own: Grant = {
  ...{
    mode: "test",
    scopes: ["data:query"],
    monthlyCap: 10,
    projectId: "prj_a",
    sessionBudget: 3,
    spendAs: "key_a",
    perSecond: 1,
  },
  ...{ ipList: ["10.1.0.0/16"], expiresAt: new Date("2027-01-01T00:00:00Z") },
};

test.each<[string, Partial<Grant>, string]>([
  ["mode", { mode: "live" }, "live mode"],
  ["monthly_cap", { monthlyCap: 11 }, "more than 10 tokens a month"],
  ["monthly_cap", { monthlyCap: null }, "more than 10 tokens a month"],
  ["monthly_cap", { spendAs: "key_b" }, "a separate monthly cap"],
  ["project_id", { projectId: "prj_b" }, "keys outside of its project"],
  ["project_id", { projectId: null }, "keys outside of its project"],
  ["session_budget", { sessionBudget: 4 }, "more than 3 tokens a session"],
  ["session_budget", { sessionBudget: null }, "more than 3 tokens a session"],
  ["per_second", { perSecond: 2 }, "more than 1 call a second"],
  ["per_second", { perSecond: null }, "more than 1 call a second"],
  ["ip_list", { ipList: [] }, "other addresses"],
  ["ip_list", { ipList: ["10.1.0.1", "10.2.0.1"] }, "other addresses"],
  ["expires_at", { expiresAt: new Date("2027-01-01T00:00:00.001Z") }, "a later expiry"],
  ["expires_at", { expiresAt: null }, "a later expiry"],
])("a key grants no more than its own %s (%o)", (field, more, right) => {
  const refused = (param: string, given?: string) =>
    expect(() => assertMayGrant(owner(own), { ...own, ...more }, given)).toThrow(
      expect.objectContaining({
        code: "grant_denied",
        details: { right, param, zh: { right: expect.stringMatching(/^\p{Script=Han}/u) } },
      }),
    );
  refused(field);
  refused("new_key", "new_key");
});

test("a key grants no scope that it lacks, and the refusal names the field only if it is known", () => {
  const wanted = { ...own, scopes: ["data:query", "read:account"] as const };
  const details = (param?: string) => {
    try {
      assertMayGrant(owner(own), wanted, param);
    } catch (error) {
      return (error as { details: object }).details;
    }
    return undefined;
  };
  expect(details()).toEqual({ scope: "read:account" });
  expect(details("scopes")).toEqual({ scope: "read:account", param: "scopes" });
});

test("without wishes a new key has the bounds of the key that creates it, and it may be granted", () => {
  fc.assert(
    fc.property(grants, (grant) => {
      const held = { ...grant, scopes };
      const { scopes: given, name: _, ...rest } = withBounds(owner(held), {});
      expect(given).toEqual(defaultScopes);
      const isBounded = held.monthlyCap !== null || held.perSecond !== null;
      const { scopes: __, ...bounds } = held;
      expect(rest).toEqual({ ...bounds, personId: null, spendAs: isBounded ? held.spendAs : undefined });
      expect(() => assertMayGrant(owner(held), { ...rest, scopes: given })).not.toThrow();
    }),
    { numRuns: 300, seed: 41 },
  );
});

test("a wish replaces a bound, also by none", () => {
  const wishes = {
    mode: "live",
    name: "n",
    scopes: [],
    monthlyCap: null,
    projectId: null,
    sessionBudget: null,
  } as const;
  const all = { ...wishes, perSecond: null, ipList: [], expiresAt: null };
  expect(withBounds(owner(own), all)).toEqual({ ...all, personId: null, spendAs: "key_a" });
});

test("what an account or a key must not do, no scope allows, and more scopes never allow less", () => {
  const names = Object.keys(actions) as Action[];
  const allows = (principal: Principal, action: Action, target?: string) => {
    try {
      authorise(principal, action, target);
      return "yes";
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const ofOperators = names.filter((name) => isOperators(actions[name].scope));
  expect(ofOperators.length).toBeGreaterThan(4);
  fc.assert(
    fc.property(
      grants,
      fc.constantFrom(...names),
      fc.boolean(),
      scopeSets,
      (grant, action, isAdmin, more) => {
        const principal = owner(grant, isAdmin ? "admin" : "customer");
        const answer = allows(principal, action);
        if (!isAdmin && ofOperators.includes(action)) expect(answer).toBe("scope_denied");
        if (grant.mode === "test" && !actions[action].allowsTestKeys) expect(answer).not.toBe("yes");
        if (answer === "yes")
          expect(allows({ ...principal, scopes: [...grant.scopes, ...more] }, action)).toBe("yes");
        const { scope } = actions[action];
        const live = { ...principal, mode: "live" as const, scopes: [scope] };
        if (isAdmin || !ofOperators.includes(action)) expect(allows(live, action)).toBe("yes");
        expect(allows({ ...live, scopes: [] }, action)).toBe("scope_denied");
      },
    ),
    { numRuns: 2_000, seed: 41 },
  );
  const member = { ...owner(own), id: "user_1", mode: "live" as const, scopes: [] };
  expect(allows(member, "members.remove", "1")).toBe("yes");
  expect(allows(member, "members.remove", "2")).toBe("scope_denied");
  expect(allows({ ...member, scopes: ["manage:keys"], mode: "test" }, "members.remove", "1")).toBe("yes");
});
