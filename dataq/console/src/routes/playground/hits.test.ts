import { expect, test } from "vitest";
import { hitsIn, wordsOf } from "./hits.ts";

test("the words of a question are those that a reader looks for", () => {
  expect(wordsOf('court:北京 "违约 责任" AND a +赔偿 -利息 《民法典》')).toEqual([
    "北京",
    "违约",
    "责任",
    "赔偿",
    "利息",
    "民法典",
  ]);
});

test("a text is cut at its hits, the longest word first, whatever it contains", () => {
  const parts = hitsIn("违约责任(a.b) A.B 违约", ["违约", "违约责任", "a.b"]);
  expect(parts.filter(({ isHit }) => isHit).map(({ part }) => part)).toEqual([
    "违约责任",
    "a.b",
    "A.B",
    "违约",
  ]);
  expect(parts.map(({ part }) => part).join("")).toBe("违约责任(a.b) A.B 违约");
  expect(hitsIn("x", [])).toEqual([{ part: "x", isHit: false }]);
});
