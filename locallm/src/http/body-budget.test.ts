import fc from "fast-check";
import { expect, test } from "vitest";
import { BodyBudget, type BodyShare } from "./body-budget.ts";

test("never exceeds its total, accepts every small body, and releases all shares", () => {
  const total = 1_000_000;
  const step = fc.record({ request: fc.nat(9), bytes: fc.oneof(fc.nat(65_536), fc.nat(3_000_000)) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const budget = new BodyBudget(total);
      const shares = new Map<number, { share: BodyShare; bytes: number }>();
      const counted = (bytes: number) => Math.max(0, bytes - 65_536);
      const used = () => shares.values().reduce((sum, { bytes }) => sum + counted(bytes), 0);
      for (const { request, bytes } of steps) {
        const known = shares.get(request) ?? { share: budget.open(), bytes: 0 };
        shares.set(request, known);
        const fits =
          counted(bytes) <= counted(known.bytes) || used() - counted(known.bytes) + counted(bytes) <= total;
        if (fits) {
          known.share.resize(bytes);
          known.bytes = bytes;
        } else {
          expect(() => known.share.resize(bytes)).toThrow("too many large request bodies");
          if (bytes % 2 === 0) {
            known.share.release();
            shares.delete(request);
          }
        }
      }
      for (const { share } of shares.values()) share.release();
      budget.open().resize(total + 65_536);
    }),
  );
});
