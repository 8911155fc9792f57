import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  blocksEnd,
  type Cached,
  chunkEnd,
  coldEnd,
  commonLength,
  cutPrompt,
  headFrom,
  reusable,
} from "./prefix.ts";

const seeded = { seed: 20261121, numRuns: 300 };
const lengths = fc.integer({ min: 1, max: 1_500 });

/** How each token of a prompt is computed: in a big batch or a small one, and its row modulo the grid. */
function shapes(from: number, promptTokens: number, limit: number): Map<number, string> {
  const shapes = new Map<number, string>();
  for (let at = from; at < promptTokens; ) {
    const end = chunkEnd(at, promptTokens, limit, true);
    const rows = end - at;
    const size = rows >= 64 ? "big" : rows > 1 ? "small" : "single";
    // Rows left over behind the last whole group of eight are computed apart.
    for (let row = 0; row < rows; row++)
      shapes.set(at + row, `${size} ${row < rows - (rows % 8) ? "group" : "rest"}`);
    at = end;
  }
  return shapes;
}

describe("a prompt that must repeat", () => {
  it("is computed in the same shapes behind a reused prefix as without one", () => {
    fc.assert(
      fc.property(
        lengths,
        lengths,
        fc.nat(1_500),
        fc.constantFrom(256, 512),
        (before, after, shared, limit) => {
          const common = Math.min(shared, before, after);
          const first = Array.from({ length: before }, (_, at) => (at < common ? at : -1));
          const second = Array.from({ length: after }, (_, at) => (at < common ? at : -2));
          const cached: Cached = { tokens: first, blocks: blocksEnd(before), cold: coldEnd(before) };
          const kept = reusable(cached, second, true);
          expect(kept).toBeLessThan(after);
          const cold = shapes(0, after, limit);
          const old = shapes(0, before, limit);
          const rest = shapes(kept, after, limit);
          const warm = Array.from({ length: after }, (_, at) => (at < kept ? old : rest).get(at));
          expect(warm).toEqual([...cold.values()]);
        },
      ),
      seeded,
    );
  });

  it("takes over all but the last of a shared beginning, to within a block", () => {
    const tokens = Array.from({ length: 300 }, (_, index) => index);
    const cached = { tokens, blocks: blocksEnd(300), cold: coldEnd(300) };
    expect(reusable(cached, [...tokens, -1, -2, -3, -4], true)).toBe(296);
    expect(reusable(cached, tokens, true)).toBe(296);
    expect(reusable(cached, [...tokens, ...Array(100).fill(-1)], true)).toBe(256);
  });
});

describe("a prompt that need not repeat", () => {
  it("takes over every shared token but one, and is computed in the biggest batches", () => {
    const tokens = [1, 2, 3, 4];
    const cached = { tokens, blocks: 0, cold: 0 };
    expect(reusable(cached, [1, 2, 3, 4, 5], false)).toBe(4);
    expect(reusable(cached, [1, 2, 3, 4], false)).toBe(3);
    expect(reusable(cached, [2], false)).toBe(0);
    expect(chunkEnd(3, 2_000, 512, false)).toBe(515);
    expect(chunkEnd(1_900, 2_000, 512, false)).toBe(2_000);
  });
});

describe("chunkEnd", () => {
  it("goes forward, ends at the prompt's end, and leaves no row alone", () => {
    fc.assert(
      fc.property(lengths, fc.constantFrom(128, 512), fc.boolean(), (tokens, limit, repeatable) => {
        let at = 0;
        while (at < tokens) {
          const end = chunkEnd(at, tokens, limit, repeatable);
          expect(end).toBeGreaterThan(at);
          expect(end - at).toBeLessThanOrEqual(limit);
          if (repeatable && tokens > 1) expect(end - at).toBeGreaterThan(1);
          at = end;
        }
        expect(at).toBe(tokens);
      }),
      seeded,
    );
  });
});

describe("cutPrompt", () => {
  it("keeps head and tail", () => {
    expect(cutPrompt([1, 2, 3, 4, 5, 6], 2, 4)).toEqual([1, 2, 5, 6]);
    expect(cutPrompt([1, 2, 3], 0, 2)).toEqual([2, 3]);
    expect(cutPrompt([1, 2, 3], 9, 2)).toEqual([1, 3]);
    expect(cutPrompt([1, 2], 0, 2)).toEqual([1, 2]);
  });
});

it("commonLength counts the shared beginning", () => {
  expect([commonLength([1, 2, 3], [1, 2, 4]), commonLength([], [1]), commonLength([1], [1])]).toEqual([
    2, 0, 1,
  ]);
});

describe("the head of a prompt", () => {
  const holds = (tokens: readonly number[]): Cached => ({ tokens, blocks: 0, cold: 0 });
  const count = (length: number) => Array.from({ length }, (_, at) => at);
  const prompt = count(100);

  it("comes from the neighbour that has most of it, and not for a few tokens", () => {
    const [some, most] = [40, 60].map((length) => ({ cached: holds(count(length)), ahead: null }));
    expect(headFrom(prompt, 0, [some!, most!], 8)).toEqual({ from: most, tokens: 60 });
    expect(headFrom(prompt, 52, [some!, most!], 8)).toEqual({ from: most, tokens: 60 });
    expect(headFrom(prompt, 53, [some!, most!], 8)).toBeNull();
    expect(headFrom(prompt, 0, [], 8)).toBeNull();
  });

  it("leaves a token to compute where a neighbour has all of it", () => {
    const whole = { cached: holds(count(120)), ahead: null };
    expect(headFrom(prompt, 0, [whole], 8)).toEqual({ from: whole, tokens: 99 });
    expect(headFrom(prompt, 92, [whole], 8)).toBeNull();
  });

  it("is waited for while a neighbour computes it, and taken over then", () => {
    const begun = { cached: holds(count(30)), ahead: count(50) };
    expect(headFrom(prompt, 0, [begun], 8)).toBe("wait");
    const done = { cached: holds(count(50)), ahead: count(50) };
    expect(headFrom(prompt, 0, [done], 8)).toEqual({ from: done, tokens: 50 });
    const other = { cached: holds(count(48)), ahead: null };
    expect(headFrom(prompt, 0, [begun, other], 8)).toEqual({ from: other, tokens: 48 });
  });
});
