import fc from "fast-check";
import { expect, test } from "vitest";
import { WordWrap } from "./word-wrap.ts";

function wrapped(pieces: readonly string[], columns = 20): string {
  const wrap = new WordWrap(() => columns);
  return pieces.map((piece) => wrap.add(piece)).join("") + wrap.end();
}

test("breaks lines only between words", () => {
  expect(wrapped(["the quick brown fox jumps over the lazy dog"])).toBe(
    "the quick brown fox\njumps over the lazy\ndog",
  );
  expect(wrapped(["short\nlines  stay\n"])).toBe("short\nlines  stay\n");
  expect(wrapped([`a ${"x".repeat(30)} b`])).toBe(`a ${"x".repeat(30)} b`);
  expect(wrapped(["中文 没有空格也要立刻写出来"])).toContain("中文");
  expect(wrapped(["这是一个使用Python编程语言的例子，可以换行"])).toBe(
    "这是一个使用Python编\n程语言的例子，可以换\n行",
  );
  expect(wrapped(["一二三四五六七八Python九"])).toBe("一二三四五六七八\nPython九");
  expect(wrapped(["a\tb\tcdefg"])).toBe("a       b\ncdefg");
  expect(wrapped(["the quick e\u0301e\u0301e\u0301e\u0301e\u0301 brown"])).toBe(
    "the quick e\u0301e\u0301e\u0301e\u0301e\u0301\nbrown",
  );
});

test("adapts to a resized window", () => {
  let columns = 40;
  const wrap = new WordWrap(() => columns);
  let out = wrap.add("the quick brown fox ");
  columns = 20;
  out += wrap.add("jumps over the lazy dog") + wrap.end();
  expect(out).toBe("the quick brown fox\njumps over the lazy\ndog");
});

test("gives the same output for any split of the text, and adds or removes only line ends", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "bc", " ", "\n", "word", "é", "\t", "中", "，", "🙂"),
    maxLength: 200,
  });
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
