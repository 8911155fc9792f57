import { describe, expect, it } from "vitest";
import { seeded } from "../../test/crowd.ts";
import { Shortlist } from "./shortlist.ts";

describe("Shortlist", () => {
  const random = seeded(7);

  /** The right tokens, by sorting all. */
  const best = (scores: Float32Array, count: number) =>
    [...scores.keys()]
      .sort((a, b) => scores[b]! - scores[a]!)
      .slice(0, count)
      .sort((a, b) => a - b);

  it.each([
    ["spread evenly", () => random()],
    ["of a model", () => -Math.log(random()) * 4 * random()],
    ["all below zero", () => -1000 * random()],
  ])("finds the highest scores, %s, wherever they are", (_, score) => {
    for (const size of [4096, 4097, 5003, 49_152]) {
      const shortlist = new Shortlist(size);
      for (const count of [1, 2, 40, 100]) {
        const scores = Float32Array.from({ length: size }, score);
        // The last of the last block, and the first.
        scores[size - 1] = 2000;
        scores[0] = 1999;
        expect(shortlist.find(scores, count)).toBe(true);
        const tokens = [...shortlist.tokens.subarray(0, count)];
        expect(tokens).toEqual(best(scores, count));
        expect([...shortlist.scores.subarray(0, count)]).toEqual(tokens.map((token) => scores[token]));
      }
    }
  });

  it("knows nothing of the scores before", () => {
    const shortlist = new Shortlist(4096);
    const scores = Float32Array.from({ length: 4096 }, random);
    shortlist.find(scores, 40);
    const others = scores.map((score) => 1 - score);
    expect(shortlist.find(others, 40)).toBe(true);
    expect([...shortlist.tokens.subarray(0, 40)]).toEqual(best(others, 40));
  });

  it("leaves equal scores to others, among those asked for and at their end", () => {
    const shortlist = new Shortlist(4096);
    const scores = Float32Array.from({ length: 4096 }, (_, token) => -token);
    expect(shortlist.find(scores, 40)).toBe(true);
    const equal = (at: number) => {
      const changed = scores.slice();
      changed[at] = changed[at - 1]!;
      return shortlist.find(changed, 40);
    };
    expect([equal(1), equal(39), equal(40), equal(41)]).toEqual([false, false, false, true]);
  });

  it("leaves what is not worth a search to others: many tokens, small vocabularies, scores nearly all alike", () => {
    const scores = Float32Array.from({ length: 4096 }, random);
    expect(new Shortlist(4096).find(scores, 129)).toBe(false);
    expect(new Shortlist(1000).find(scores.slice(0, 1000), 40)).toBe(false);
    expect(new Shortlist(49_152).find(new Float32Array(49_152), 40)).toBe(false);
    expect(new Shortlist(49_152).find(new Float32Array(49_152), 1000)).toBe(false);
  });
});
