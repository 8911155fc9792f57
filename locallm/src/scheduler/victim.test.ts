import fc from "fast-check";
import { expect, it } from "vitest";
import type { Resident } from "./residency.ts";
import { chooseVictim } from "./victim.ts";

const residents = fc.array(
  fc.record({
    isIdle: fc.boolean(),
    isPinned: fc.boolean(),
    lastUsedMs: fc.nat(4),
    draining: fc.option(fc.constant({ why: "asked", toMakeRoom: false }), { freq: 4 }),
    tenureSpent: fc.option(fc.constantFrom("8 requests", "a minute")),
  }),
  { maxLength: 5 },
);

it("unloads the idle model that was used longest ago, a pinned one only if no other can go", () => {
  fc.assert(
    fc.property(residents, (all) => {
      const chosen = chooseVictim(all as unknown as readonly Resident[]);
      const idle = all.filter((one) => one.isIdle);
      const isDraining = all.some((one) => one.draining !== null);
      const able = idle.length > 0 ? idle : isDraining ? [] : all.filter((one) => one.tenureSpent !== null);
      if (able.length === 0) {
        expect(chosen).toBeNull();
        return;
      }
      const unpinned = able.filter((one) => !one.isPinned);
      const pool = unpinned.length > 0 ? unpinned : able;
      const { resident, why } = chosen! as unknown as { resident: (typeof all)[number]; why: string };
      expect(pool).toContain(resident);
      expect(resident.lastUsedMs).toBe(Math.min(...pool.map((one) => one.lastUsedMs)));
      expect(why).toBe(
        (idle.length > 0 ? "least recently used" : `served ${resident.tenureSpent}`) +
          (resident.isPinned ? ", pinned, but no other model could be unloaded" : ""),
      );
    }),
    { numRuns: 3_000, seed: 41 },
  );
});
