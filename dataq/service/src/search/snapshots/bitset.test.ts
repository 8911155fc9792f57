import fc from "fast-check";
import { expect, test } from "vitest";
import { BitSet } from "./bitset.ts";

test("a bit set counts its members", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(300_000), { maxLength: 300 }), (list) => {
      const bits = BitSet.ofSize(300_001);
      for (const n of list) bits.add(n);
      expect(bits.count()).toBe(list.length);
      expect(list.every((n) => bits.has(n))).toBe(true);
    }),
    { seed: 6, numRuns: 20 },
  );
});
