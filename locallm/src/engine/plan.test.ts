import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Part, type Plannable, planStep } from "./plan.ts";

type Planned = { -readonly [Key in keyof Plannable]: Plannable[Key] };

const slot = (changes: Partial<Planned> = {}): Planned => ({
  index: 0,
  pending: [1],
  kind: "token",
  untilStop: 1,
  isGenerating: false,
  isAlone: false,
  arrived: 0,
  served: 0,
  ...changes,
});
const prompt = (length: number, changes: Partial<Planned> = {}) =>
  slot({ pending: Array.from({ length }, (_, index) => index), untilStop: length, ...changes });
const answer = (changes: Partial<Planned> = {}) => slot({ isGenerating: true, ...changes });
const budget = {
  rows: 512,
  promptRows: 512,
  sharedPromptRows: 64,
  mostSharedPromptRows: 200,
  mostAnswers: null,
};
const rowsOf = (parts: readonly Part<Planned>[]) => parts.map(({ slot, tokens }) => [slot.index, tokens]);

/** Up to 16 slots in random states. */
const anySlots = fc.nat(15).chain((last) =>
  fc.tuple(
    ...Array.from({ length: last + 1 }, (_, index) =>
      fc
        .record({
          length: fc.oneof(fc.integer({ min: 0, max: 70 }), fc.integer({ min: 0, max: 5_000 })),
          untilStop: fc.integer({ min: 1, max: 5_000 }),
          isGenerating: fc.boolean(),
          isAlone: fc.boolean(),
          arrived: fc.nat(9),
          served: fc.nat(9),
        })
        .map(({ length, untilStop, ...rest }) =>
          rest.isGenerating
            ? answer({ ...rest, index })
            : prompt(length, { ...rest, index, untilStop: Math.min(untilStop, length) }),
        ),
    ),
  ),
);

describe("planStep", () => {
  it("keeps every step within the batch for any size, prompts and slots", () => {
    fc.assert(
      fc.property(
        anySlots,
        fc.oneof(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 4_096 })),
        fc.integer({ min: 1, max: 600 }),
        (slots, numBatch, sharedPromptRows) => {
          // Like the engine: at least one row for each slot.
          const rows = Math.max(numBatch, slots.length);
          const parts = planStep(slots, {
            rows,
            promptRows: sharedPromptRows,
            sharedPromptRows,
            mostSharedPromptRows: 4 * sharedPromptRows,
            mostAnswers: null,
          });
          expect(parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(rows);
          expect(parts.length > 0).toBe(slots.some(({ pending }) => pending.length > 0));
          for (const { slot, tokens, outputs } of parts) {
            expect(tokens).toBeGreaterThan(0);
            expect(tokens).toBeLessThanOrEqual(slot.pending.length);
            expect(outputs).toBe(tokens === slot.pending.length ? 1 : 0);
          }
          const indices = parts.map(({ slot }) => slot.index);
          expect(indices).toEqual([...new Set(indices)].sort((a, b) => a - b));
          if (parts.some(({ slot }) => slot.isAlone)) expect(parts).toHaveLength(1);
        },
      ),
      { seed: 20261122, numRuns: 1_000 },
    );
  });

  it("computes every token of every slot in the end", () => {
    fc.assert(
      fc.property(anySlots, fc.integer({ min: 1, max: 300 }), (slots, numBatch) => {
        const rows = Math.max(numBatch, slots.length);
        const all = slots.reduce((sum, { pending }) => sum + pending.length, 0);
        let computed = 0;
        for (let turn = 10; ; turn++) {
          const parts = planStep(slots, {
            rows,
            promptRows: 48,
            sharedPromptRows: 64,
            mostSharedPromptRows: 200,
            mostAnswers: null,
          });
          if (parts.length === 0) break;
          for (const { slot, tokens } of parts) {
            computed += tokens;
            slot.pending = slot.pending.slice(tokens);
            slot.untilStop = tokens < slot.untilStop ? slot.untilStop - tokens : slot.pending.length;
            slot.served = turn;
          }
        }
        expect(computed).toBe(all);
      }),
      { seed: 20261122 },
    );
  });

  it("puts answers and prompts into one step, and limits the prompts to their share", () => {
    const slots = [answer({ index: 0 }), prompt(300, { index: 1 }), answer({ index: 2 })];
    expect(rowsOf(planStep(slots, budget))).toEqual([
      [0, 1],
      [1, 64],
      [2, 1],
    ]);
  });

  it("gives prompts the whole batch if no answer waits", () => {
    const slots = [prompt(600, { index: 0, arrived: 2 }), prompt(100, { index: 1, arrived: 1 })];
    expect(rowsOf(planStep(slots, budget))).toEqual([
      [0, 413],
      [1, 99],
    ]);
  });

  it("limits the prompts of a step without answers, but not a prompt that runs alone", () => {
    const short = { ...budget, promptRows: 48 };
    expect(rowsOf(planStep([prompt(600)], short))).toEqual([[0, 48]]);
    expect(rowsOf(planStep([prompt(600, { isAlone: true })], short))).toEqual([[0, 512]]);
  });

  it("starts another prompt only with a worthwhile part, or with all of it", () => {
    const after = (length: number, left: number) =>
      rowsOf(planStep([prompt(513 - left), prompt(length, { index: 1, arrived: 1 })], budget)).length;
    expect(after(40, 31)).toBe(1);
    expect(after(40, 32)).toBe(2);
    expect(after(5, 5)).toBe(2);
    expect(after(5, 4)).toBe(1);
  });

  it("computes the last token of a long prompt in a small step", () => {
    for (const [length, first] of [
      [63, 63],
      [64, 63],
      [512, 511],
      [513, 512],
    ] as const)
      expect(rowsOf(planStep([prompt(length)], budget))).toEqual([[0, first]]);
    expect(rowsOf(planStep([prompt(1)], budget))).toEqual([[0, 1]]);
  });

  it("ends a step where a slot stops for a checkpoint", () => {
    const steps = (length: number, untilStop: number) =>
      rowsOf(planStep([prompt(length, { untilStop })], budget));
    expect(steps(32, 16)).toEqual([[0, 16]]);
    expect(steps(512, 496)).toEqual([[0, 496]]);
    expect(steps(600, 584)).toEqual([[0, 512]]);
    expect(steps(600, 64)).toEqual([[0, 64]]);
  });

  it("computes tokens, pictures and whole pictures in steps of their own, in turns, and one whole picture at once", () => {
    const kinds = fc.constantFrom("token", "picture", "whole picture");
    fc.assert(
      fc.property(anySlots, fc.array(kinds, { minLength: 16, maxLength: 16 }), (slots, chosen) => {
        const rows = 300;
        for (const slot of slots) {
          if (!slot.isGenerating) slot.kind = chosen[slot.index]!;
          if (slot.kind === "whole picture") slot.untilStop = Math.min(slot.untilStop, rows);
        }
        const waiting = new Set(slots.filter(({ pending }) => pending.length > 0).map(({ kind }) => kind));
        const alone = slots.filter(({ pending, isAlone }) => pending.length > 0 && isAlone).length;
        const seen = new Set<string>();
        for (let turn = 10; turn < 13 + alone; turn++) {
          const parts = planStep(slots, {
            rows,
            promptRows: 200,
            sharedPromptRows: 64,
            mostSharedPromptRows: 200,
            mostAnswers: null,
          });
          const [first] = parts;
          if (first === undefined) break;
          const { kind, isAlone } = first.slot;
          seen.add(kind);
          expect(parts.every(({ slot }) => slot.kind === kind)).toBe(true);
          if (kind === "whole picture")
            expect(parts.map(({ tokens }) => tokens)).toEqual([first.slot.untilStop]);
          for (const slot of slots)
            if (isAlone ? slot === first.slot : !slot.isAlone && slot.kind === kind) slot.served = turn;
        }
        expect(seen).toEqual(waiting);
      }),
    );
  });

  it("lets answers wait for a picture no longer than for a prompt", () => {
    const picture = prompt(300, { index: 1, kind: "picture" });
    expect(rowsOf(planStep([answer({ served: 1 }), picture], budget))).toEqual([[1, 64]]);
    expect(rowsOf(planStep([picture], budget))).toEqual([[1, 300]]);
  });

  it("alternates between a slot that must be alone and the others", () => {
    const slots = [answer({ index: 0 }), answer({ index: 1, isAlone: true }), prompt(40, { index: 2 })];
    const seen: number[][] = [];
    for (let turn = 1; turn <= 4; turn++) {
      const parts = planStep(slots, budget);
      seen.push(parts.map(({ slot }) => slot.index));
      for (const { slot } of parts) slot.served = turn;
    }
    expect(seen).toEqual([[0, 2], [1], [0, 2], [1]]);
  });
});

it("where all slots share a cache, no step has more answers than that, nor prompts beside them, and all get their turn", () => {
  const shared = { ...budget, mostAnswers: 63 };
  const slots = Array.from({ length: 100 }, (_, index) => answer({ index, served: index % 7 }));
  const seen = new Set<number>();
  for (let turn = 10; turn < 12; turn++) {
    const parts = planStep([...slots, prompt(40, { index: 100, served: 50 })], shared);
    expect(parts).toHaveLength(50);
    const indices = parts.map(({ slot }) => slot.index);
    expect(indices).toEqual(indices.toSorted((a, b) => a - b));
    for (const { slot } of parts) {
      seen.add(slot.index);
      slots[slot.index] = { ...slots[slot.index]!, served: turn };
    }
  }
  expect(seen.size).toBe(100);
  expect(rowsOf(planStep([...slots, prompt(40, { index: 100, served: 9 })], shared))).toEqual([[100, 40]]);
});
