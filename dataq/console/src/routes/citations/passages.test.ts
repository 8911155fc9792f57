import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CitationRow } from "../playground/citation-findings.ts";
import { correctionsOf, type PlacedCitation, partsOf, piecesOf } from "./passages.ts";

describe("a long text", () => {
  test("is cut into parts that make it again, none longer than a call takes", () => {
    const text = fc.array(fc.constantFrom("民", "法", "。", "\n", "a", "𠮷", " "), { maxLength: 200 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 30 }), (characters, most) => {
        const whole = characters.join("");
        const parts = partsOf(whole, most);
        for (const { text: part, from } of parts) {
          expect(whole.slice(from, from + part.length)).toBe(part);
          expect([...part].length).toBeLessThanOrEqual(most);
        }
        const left = parts.map(({ text: part }) => part).join("");
        expect(left.replaceAll(/\s/g, "")).toBe(whole.replaceAll(/\s/g, ""));
      }),
    );
  });

  test("is cut after a paragraph, else after a sentence", () => {
    expect(partsOf("一二三四。\n五六七八九", 8).map(({ text }) => text)).toEqual([
      "一二三四。\n",
      "五六七八九",
    ]);
    expect(partsOf("一二三四。五六七八九", 8).map(({ text }) => text)).toEqual(["一二三四。", "五六七八九"]);
    expect(partsOf("一二三四五六七八九", 8).map(({ from }) => from)).toEqual([0, 8]);
  });
});

test("pieces make the whole text again, and overlapping citations are marked once", () => {
  const at = (start_utf16: number, end_utf16: number) => ({ start_utf16, end_utf16 }) as PlacedCitation;
  const pieces = piecesOf("0123456789", [at(6, 8), at(2, 4), at(3, 7), at(9, 20)]);
  expect(pieces.map(({ text, citation }) => [text, citation !== null])).toEqual([
    ["01", false],
    ["23", true],
    ["45", false],
    ["67", true],
    ["89", false],
  ]);
});

test("a correction is the right place, or the words of the law", () => {
  const row = {
    content: "当事人应当，承担责任。",
    nearest: { law_name: "民法典", article_no: "第五百七十七条" },
    quotations: [
      { agrees: true, differences: [], found_in: null, agrees_with_version: null },
      {
        agrees: false,
        found_in: null,
        agrees_with_version: null,
        differences: [
          { kind: "same", text: "应当" },
          { kind: "added", text: "可以" },
          { kind: "missing", text: "承担" },
        ],
      },
    ],
  } as unknown as CitationRow;
  expect(correctionsOf(row)).toEqual([
    { kind: "place", text: "《民法典》第五百七十七条" },
    { kind: "words", text: "应当，承担" },
  ]);
});
