import { describe, expect, it } from "vitest";
import { Pictures } from "./pictures.ts";
import { commonLength, cutPrompt, headFrom, reusable } from "./prefix.ts";

it("reusable counts all common tokens except the prompt's last", () => {
  expect(reusable([1, 2, 3, 4], [1, 2, 3, 4, 5])).toBe(4);
  expect(reusable([1, 2, 3, 4], [1, 2, 3, 4])).toBe(3);
  expect(reusable([1, 2, 3, 4], [1, 2])).toBe(1);
  expect(reusable([1, 2, 3, 4], [2])).toBe(0);
  expect(reusable([], [2])).toBe(0);
});

describe("cutPrompt", () => {
  const pictures = new Pictures();

  it("keeps the beginning and the end", () => {
    expect(cutPrompt([1, 2, 3, 4, 5, 6], 2, 4, pictures)).toEqual([1, 2, 5, 6]);
    expect(cutPrompt([1, 2, 3], 0, 2, pictures)).toEqual([2, 3]);
    expect(cutPrompt([1, 2, 3], 9, 2, pictures)).toEqual([1, 3]);
    expect(cutPrompt([1, 2], 0, 2, pictures)).toEqual([1, 2]);
    expect(cutPrompt([1, 2], 1, 5, pictures)).toEqual([1, 2]);
  });

  it("leaves pictures whole or out, and is null if its end would be left out", () => {
    const [of2, of3] = [2, 3].map((cells) =>
      pictures.cellsOf({ identity: "a".repeat(64), cells, positions: cells, layout: "line", causal: true }),
    );
    const prompt = [1, ...of2!, ...of2!, 5, ...of3!, 9];
    const cut = (keep: number, room: number) => cutPrompt(prompt, keep, room, pictures);
    expect(cut(1, 6)).toEqual([1, 5, ...of3!, 9]);
    expect(cut(2, 5)).toEqual([1, ...of3!, 9]);
    expect(cut(4, 5)).toEqual([1, ...of2!, 9]);
    expect(cut(0, 3)).toEqual([9]);
    expect(cutPrompt([1, 2, ...of3!], 1, 3, pictures)).toBeNull();
    expect(cutPrompt([1, ...of3!, ...of3!], 1, 5, pictures)).toEqual([1, ...of3!]);
  });
});

it("commonLength counts the common beginning", () => {
  expect([commonLength([1, 2, 3], [1, 2, 4]), commonLength([], [1]), commonLength([1], [1])]).toEqual([
    2, 0, 1,
  ]);
});

describe("the head of a prompt", () => {
  const count = (length: number) => Array.from({ length }, (_, at) => at);
  const prompt = count(100);
  const slot = (cached: readonly number[], ahead: readonly number[] | null = null, most = Infinity) => ({
    cached,
    ahead,
    cuttable: (tokens: number) => (tokens === cached.length ? tokens : Math.min(tokens, most)),
  });

  it("is copied from the neighbour that has most of it, unless that is only a few tokens", () => {
    const [some, most] = [40, 60].map((length) => slot(count(length)));
    expect(headFrom(prompt, 0, [some!, most!], 8)).toEqual({ from: most, tokens: 60, isAhead: false });
    expect(headFrom(prompt, 52, [some!, most!], 8)).toEqual({ from: most, tokens: 60, isAhead: false });
    expect(headFrom(prompt, 53, [some!, most!], 8)).toBeNull();
    expect(headFrom(prompt, 0, [], 8)).toBeNull();
  });

  it("leaves one token to compute if a neighbour has all of it", () => {
    const whole = slot(count(120));
    expect(headFrom(prompt, 0, [whole], 8)).toEqual({ from: whole, tokens: 99, isAhead: false });
    expect(headFrom(prompt, 92, [whole], 8)).toBeNull();
  });

  it("waits for a neighbour that is computing it, and is then copied", () => {
    const begun = slot(count(30), count(50));
    expect(headFrom(prompt, 0, [begun], 8)).toEqual({ from: begun, tokens: 50, isAhead: true });
    const done = slot(count(50), count(50));
    expect(headFrom(prompt, 0, [done], 8)).toEqual({ from: done, tokens: 50, isAhead: false });
    // Of equals the first; a few tokens are not worth the wait.
    const same = slot([], count(50));
    expect(headFrom(prompt, 0, [begun, same], 8)).toEqual({ from: begun, tokens: 50, isAhead: true });
    const had = (tokens: number) => headFrom(prompt, 0, [slot(count(tokens)), begun], 8)?.isAhead;
    expect([42, 43].map(had)).toEqual([true, false]);
    const other = slot(count(48));
    expect(headFrom(prompt, 0, [begun, other], 8)).toEqual({ from: other, tokens: 48, isAhead: false });
  });

  it("is not copied from a neighbour that went on if its memory cannot be cut, and nobody waits for that one", () => {
    const tail = [...count(50), 7, 7, 7];
    expect(headFrom(prompt, 0, [slot(tail, [...tail, 7, 7], 0)], 8)).toBeNull();
    const exact = slot(count(50), null, 0);
    expect(headFrom(prompt, 0, [exact], 8)).toEqual({ from: exact, tokens: 50, isAhead: false });
  });

  it("is copied from the neighbour whose memory can be cut to most of it", () => {
    const early = slot([...count(60), 7], null, 30);
    const late = slot([...count(50), 7], null, 40);
    expect(headFrom(prompt, 0, [early, late], 8)).toEqual({ from: late, tokens: 40, isAhead: false });
    expect(headFrom(prompt, 33, [early, late], 8)).toBeNull();
  });
});
