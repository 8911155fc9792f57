import { expect, test } from "vitest";
import { readLawText } from "../import/law-text.ts";
import { lawLines } from "./law-paragraphs.ts";

const articlesOf = (lines: readonly string[]) =>
  readLawText(lawLines(lines)).articles.map(({ articleNo, content }) => [articleNo, content]);

test("a heading between articles is no part of the article before it", () => {
  expect(
    articlesOf([
      "一、一般规定",
      "第一条　甲。",
      "二、合同的订立、履行和变更",
      "第二条　乙。",
      "附　则",
      "第三条　丙。",
    ]),
  ).toEqual([
    ["第一条", "甲。"],
    ["第二条", "乙。"],
    ["第三条", "丙。"],
  ]);
});

test.each([
  [
    "an item with its mark",
    ["第一条　下列情形：", "一、甲；", "二、其他情形。", "第二条　乙。"],
    "下列情形：\n一、甲；\n二、其他情形。",
  ],
  ["an item in brackets", ["第一条　下列情形：", "（一）甲", "第二条　乙。"], "下列情形：\n（一）甲"],
  [
    "a list inside an article",
    ["第一条　下列情形：", "一、甲", "二、乙。", "第二条　丙。"],
    "下列情形：\n一、甲\n二、乙。",
  ],
  [
    "a paragraph that begins with a number",
    ["第一条　甲。", `一、${"乙".repeat(60)}`, "第二条　丙。"],
    `甲。\n一、${"乙".repeat(60)}`,
  ],
])("%s stays in its article", (_, lines, expected) => {
  expect(articlesOf(lines)[0]).toEqual(["第一条", expected]);
});
