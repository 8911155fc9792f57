import fc from "fast-check";
import { expect, test } from "vitest";
import { WordWrap } from "./word-wrap.ts";

function wrapped(pieces: readonly string[], columns = 20): string {
  const wrap = new WordWrap(columns);
  return pieces.map((piece) => wrap.add(piece)).join("") + wrap.end();
}

test("breaks between words, and nowhere else", () => {
  expect(wrapped(["the quick brown fox jumps over the lazy dog"])).toBe(
    "the quick brown fox\njumps over the lazy\ndog",
  );
  expect(wrapped(["short\nlines  stay\n"])).toBe("short\nlines  stay\n");
  expect(wrapped([`a ${"x".repeat(30)} b`])).toBe(`a ${"x".repeat(30)} b`);
  expect(wrapped(["中文 没有空格也要立刻写出来"])).toContain("中文");
});

test("however the text is split, the same comes out, with no character lost or added but line ends", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "bc", " ", "\n", "word", "é"), maxLength: 200 });
  fc.assert(
    fc.property(text, fc.array(fc.nat(200)), (whole, cuts) => {
      const at = [...new Set([0, ...cuts.filter((cut) => cut < whole.length)])].sort((a, b) => a - b);
      const pieces = at.map((from, index) => whole.slice(from, at[index + 1] ?? whole.length));
      const out = wrapped(pieces);
      expect(out).toBe(wrapped([whole]));
      expect(out.replace(/\s/g, "")).toBe(whole.replace(/\s/g, ""));
    }),
    { seed: 7, numRuns: 200 },
  );
});
