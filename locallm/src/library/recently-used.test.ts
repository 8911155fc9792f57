import fc from "fast-check";
import { expect, test } from "vitest";
import { RecentlyUsed } from "./recently-used.ts";

test("keeps only the most recently read or written values", () => {
  const step = fc.record({ kind: fc.constantFrom("get", "set", "delete"), key: fc.nat(12) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 100 }), (capacity, steps) => {
      const kept = new RecentlyUsed<number, string>(capacity);
      /** Keys, newest last. */
      let model: number[] = [];
      for (const { kind, key } of steps) {
        const isKnown = model.includes(key);
        if (kind === "get") expect(kept.get(key)).toBe(isKnown ? `value ${key}` : undefined);
        else if (kind === "set") kept.set(key, `value ${key}`);
        else kept.delete(key);
        if (kind === "delete") model = model.filter((one) => one !== key);
        else if (kind === "set" || isKnown) model = [...model.filter((one) => one !== key), key];
        model = model.slice(-capacity);
      }
    }),
  );
});
