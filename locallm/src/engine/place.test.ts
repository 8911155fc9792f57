import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { choosePlace } from "./place.ts";

const free = (tokens: number, arrived: number) => ({ slot: { arrived }, tokens });

describe("choosePlace", () => {
  it("takes the slot with most of the prompt, from a tenth of it on", () => {
    const slots = [free(0, 1), free(10, 7), free(9, 3)];
    expect(choosePlace(slots, 100, false)).toBe(slots[1]);
    expect(choosePlace(slots, 101, false)).toBe(slots[0]);
  });

  it("takes the oldest of slots that have the same of it", () => {
    const slots = [free(20, 5), free(20, 3), free(20, 4), free(19, 1)];
    expect(choosePlace(slots, 100, false)).toBe(slots[1]);
  });

  it("takes the oldest slot for what was found elsewhere", () => {
    const slots = [free(90, 5), free(0, 4), free(80, 9)];
    expect(choosePlace(slots, 100, true)).toBe(slots[1]);
  });

  it("never takes a slot that has a worthwhile part of the prompt while another has more", () => {
    const slots = fc.array(fc.record({ tokens: fc.nat(50), arrived: fc.nat(9) }), { minLength: 1 });
    fc.assert(
      fc.property(slots, fc.integer({ min: 1, max: 400 }), (all, promptTokens) => {
        const candidates = all.map(({ tokens, arrived }) => free(tokens, arrived));
        const { tokens, slot } = choosePlace(candidates, promptTokens, false);
        const most = Math.max(...candidates.map((one) => one.tokens));
        if (most >= promptTokens * 0.1) expect(tokens).toBe(most);
        else expect(slot.arrived).toBe(Math.min(...candidates.map((one) => one.slot.arrived)));
      }),
    );
  });
});
