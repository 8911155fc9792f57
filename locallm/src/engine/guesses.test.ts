import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Drafting, TextGuesses } from "./guesses.ts";

const rule = { least: 3, most: 6 };

describe("guesses by the text itself", () => {
  it("are what followed the longest match, and of equal ones the last", () => {
    const guesses = (text: readonly number[], most = 10) => new TextGuesses(text, rule).next(most);
    expect(guesses([1, 2, 3, 4, 5, 6, 7, 1, 2, 3])).toEqual([4, 5, 6]);
    expect(guesses([9, 1, 2, 3, 40, 41, 42, 8, 1, 2, 3, 50, 51, 52, 7, 1, 2, 3])).toEqual([50, 51, 52]);
    expect(guesses([9, 1, 2, 3, 40, 41, 42, 43, 8, 1, 2, 3, 50, 51, 52, 7, 9, 1, 2, 3])).toEqual([
      40, 41, 42, 43,
    ]);
    expect(guesses([1, 2, 3, 4, 5, 6, 7, 1, 2, 3], 2)).toEqual([4, 5]);
    // Two tokens are too few, and a picture is never a guess.
    expect(guesses([7, 2, 3, 4, 5, 6, 7, 1, 2, 3])).toEqual([]);
    expect(guesses([1, 2, 3, 4, -5, -5, 7, 1, 2, 3])).toEqual([4]);
    expect(guesses([])).toEqual([]);
    expect(guesses([4])).toEqual([]);
  });

  it("are what a plain search finds, for any text of a prompt and an answer", () => {
    const token = fc.integer({ min: -1, max: 3 });
    fc.assert(
      fc.property(
        fc.array(token, { maxLength: 300 }),
        fc.array(token, { maxLength: 300 }),
        (prompt, answer) => {
          const guesses = new TextGuesses(prompt, rule);
          for (const one of answer) guesses.add(one);
          expect(guesses.next(5)).toEqual(plainly([...prompt, ...answer], 5));
        },
      ),
    );
  });
});

function plainly(text: readonly number[], most: number): number[] {
  for (let length = rule.most; length >= rule.least; length--)
    for (let end = text.length - 1; end >= length; end--) {
      const isMatch = text.slice(end - length, end).join() === text.slice(-length).join();
      if (!isMatch) continue;
      const after = text.slice(end, end + Math.min(most, length));
      const picture = after.findIndex((cell) => cell < 0);
      return picture < 0 ? after : after.slice(0, picture);
    }
  return [];
}

describe("drafting", () => {
  const always = {
    add: () => {},
    next: (most: number) => Array.from({ length: Math.min(4, most) }, () => 7),
  };
  /** Takes the answer's tokens in steps. Returns how many tokens each step guessed. */
  const play = (drafting: Drafting, answer: readonly number[]) => {
    const steps: number[] = [];
    for (let at = 0; at < answer.length; ) {
      const draft = drafting.next(9);
      steps.push(draft.length);
      if (draft.length > 0) drafting.judge(draft);
      for (const guess of [...draft, -1]) {
        const token = answer[at++];
        if (token === undefined) break;
        drafting.add(token);
        if (token !== guess) break;
      }
    }
    return steps;
  };

  it("counts what it computed ahead and what the answer took of it", () => {
    const drafting = new Drafting(always, { value: 0.5 });
    play(drafting, [7, 7, 1, 7, 7, 7, 7, 7, 7, 2]);
    expect(drafting.counts).toEqual({ tokens: 12, accepted: 7 });
  });

  it("pauses where guesses cost more than they save, longer each time, and goes on where they save", () => {
    const wrong = play(new Drafting(always, { value: 0.5 }), Array(1000).fill(1));
    const guessed = wrong.filter((length) => length > 0).length;
    expect(guessed).toBeGreaterThan(5);
    expect(guessed).toBeLessThan(40);
    const pauses = wrong
      .map((length) => (length > 0 ? "x" : " "))
      .join("")
      .split(/x+/)
      .slice(1, -1);
    expect(pauses.length).toBeGreaterThan(2);
    for (const [at, pause] of pauses.entries())
      if (at > 0) expect(pause.length).toBeGreaterThan(pauses[at - 1]!.length);
    expect(play(new Drafting(always, { value: 0.5 }), Array(1000).fill(7))).not.toContain(0);
  });

  it("begins with a pause where rows cost nearly a step", () => {
    expect(
      play(new Drafting(always, { value: 0.85 }), Array(60).fill(7)).every((length) => length === 0),
    ).toBe(true);
    expect(play(new Drafting(always, { value: 0.85 }), Array(90).fill(7))).toContain(3);
  });

  it("a short answer with wrong guesses loses the time of a few rows, whatever these cost", () => {
    for (const value of [0.1, 0.45, 0.9]) {
      const drafting = new Drafting(always, { value });
      play(drafting, Array(60).fill(1));
      expect(drafting.counts.tokens * value).toBeLessThanOrEqual(3);
    }
  });
});
