import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inOneForm, PlainText } from "./plain-text.ts";

/** Pieces of a text, and what is left of them between others. */
const pieces = fc.constantFrom(
  "民法典",
  "第",
  "５",
  "5",
  "条",
  "並",
  "，",
  "…",
  "⋯",
  "Ⅳ",
  "🙂",
  "𠮷",
  "㈠",
  "Ab",
  "㎏",
);
const spaces = fc.constantFrom("", "", " ", "\n", "\u3000", "\r\n", "\u200b", "\u2028");

test("what is written at each place is what stands there, in one form", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(pieces, spaces), { minLength: 1, maxLength: 12 }), (all) => {
      const original = all.flat().join("");
      const plain = new PlainText(original);
      expect(plain.original).toBe(original);
      for (let from = 0; from < plain.text.length; from++) {
        if (plain.text[from] === " ") continue;
        const span = plain.span(from, from + 1);
        const written = plain.written(span);
        // One character may become several, and one of two units stays two.
        expect([written, [...written].length]).toEqual([written, 1]);
        expect(inOneForm(written)).toContain(plain.text[from]!);
        expect(span.start).toBe([...original.slice(0, span.start_utf16)].length);
        expect(span.end).toBe(span.start + 1);
        const whole = plain.span(0, from + 1);
        expect([whole.end, whole.end_utf16]).toEqual([span.end, span.end_utf16]);
        // White space before it, or the end of what is before.
        const before = from === 0 ? 0 : plain.span(from - 1, from).end_utf16;
        const gap = original.slice(before, span.start_utf16);
        const isInside = from > 0 && plain.span(from - 1, from).start_utf16 === span.start_utf16;
        if (!isInside && plain.text[from - 1] !== " ") {
          expect([gap.replaceAll("\u200b", "").trim(), plain.isSpaced(from)]).toEqual([
            "",
            from > 0 && gap !== "",
          ]);
          expect(plain.startsLine(from)).toBe(from === 0 || /[\n\r\u2028]/.test(gap));
        }
      }
    }),
    { seed: 41, numRuns: 200 },
  );
});

describe("one form", () => {
  test("is simplified and of half width, and an ellipsis stays one", () => {
    expect([..."並５Ⅳ㈠…⋯，A"].map(inOneForm)).toEqual(["并", "5", "IV", "(一)", "…", "…", ",", "A"]);
  });

  test("has no space between Chinese characters, and one between Latin words, but not within an article's number", () => {
    const text = (original: string) => new PlainText(original).text;
    expect(text("第 五 百 条")).toBe("第五百条");
    expect(text("Civil   Code")).toBe("Civil Code");
    expect(text("第57\n7条")).toBe("第577条");
    expect(text("第1234 5")).toBe("第1234 5");
    expect(text("7 8")).toBe("7 8");
    expect(text("A 条")).toBe("A条");
    expect(text("条 A")).toBe("条A");
  });
});

test("lines are known by where they begin, and between which places they break", () => {
  const plain = new PlainText("甲乙\n丙 丁\n\n戊");
  expect(plain.text).toBe("甲乙丙丁戊");
  expect([0, 1, 2, 3, 4].map((at) => plain.startsLine(at))).toEqual([true, false, true, false, true]);
  expect([0, 1, 2, 3, 4].map((at) => plain.isSpaced(at))).toEqual([false, false, true, true, true]);
  const breaks = [
    [0, 1],
    [1, 2],
    [2, 3],
    [2, 4],
    [4, 4],
  ].map(([from, to]) => plain.hasBreak(from!, to!));
  expect(breaks).toEqual([false, true, false, true, false]);
});

test("a citation in English is read in Chinese, and leads to what is written", () => {
  const original = "见🙂\nArticle 577 of the Civil Code\n。又见 Company Law, Art. 20 与此";
  const plain = new PlainText(original);
  expect(plain.text.replaceAll("中华人民共和国", "")).toBe("见🙂《民法典》第577条。又见《公司法》第20条与此");
  const written = (part: string) => {
    const from = plain.text.indexOf(part);
    return plain.written(plain.span(from, from + part.length));
  };
  const chinese = /《[^》]*民法典》第577条/.exec(plain.text)![0];
  expect(written(chinese)).toBe("Article 577 of the Civil Code");
  expect(written("又见")).toBe("又见");
  expect(written("与此")).toBe("与此");
  expect(plain.startsLine(plain.text.indexOf("《"))).toBe(true);
  expect(plain.startsLine(plain.text.indexOf("。"))).toBe(true);
  expect(plain.startsLine(plain.text.indexOf("又"))).toBe(false);
  const after = plain.text.indexOf("与此");
  expect(plain.span(after, after + 2)).toMatchObject({
    start: [...original.slice(0, original.indexOf("与此"))].length,
    start_utf16: original.indexOf("与此"),
  });
});
