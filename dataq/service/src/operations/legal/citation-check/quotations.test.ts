import { expect, test } from "vitest";
import { LawNames } from "../question/named-laws.ts";
import { hasItem, paragraphsOf, withItem } from "./article-parts.ts";
import { findCitations } from "./find-citations.ts";
import { LawRegister } from "./law-register.ts";
import { NearNames } from "./near-names.ts";
import { PlainText } from "./plain-text.ts";
import { findQuotations } from "./quotations.ts";
import { saidAfter, saidIn, sentenceAround } from "./sentences.ts";

const register = new LawRegister(new LawNames(new Set(["民法典", "刑法", "公司法"])));
const words = "当事人一方不履行合同义务的";

/** ¶ stands for some words of an article, 甲×40 for a character so often. */
function written(text: string): string {
  return text
    .replaceAll("¶", words)
    .replaceAll(/(.)×(\d+)/g, (_, each: string, times: string) => each.repeat(Number(times)));
}

function short(text: string): string {
  return text
    .replaceAll(words, "¶")
    .replaceAll(/(.)\1{9,}/g, (all: string, each: string) => `${each}×${all.length}`);
}

function read(text: string) {
  const plain = new PlainText(written(text));
  return { plain, citations: findCitations(plain, register) };
}

/** With “” what is marked, with ? what nothing introduces, with ~ what may be in other words; then the citations. */
const quoted: readonly (readonly [text: string, quotations: readonly string[]])[] = [
  ["民法典第577条规定：“¶”", ["“¶” ← 0"]],
  ["民法典第577条的“¶”", ["“¶” ? ← 0"]],
  ["民法典第577条规定：“a”", []],
  ["民法典第577条规定：“ab”", ["“ab” ← 0"]],
  ["民法典第577条、第578条规定：“¶”", ["“¶” ← 0,1"]],
  ["民法典第577条和公司法第3条规定：“¶”", ["“¶” ← 0,1"]],
  ["民法典第577条，又公司法第3条规定：“¶”", ["“¶” ← 1"]],
  ["民法典第577条、公司法、刑法第4条规定：“¶”", ["“¶” ← 1"]],
  ["民法典第577条规定：“¶”，“应当承担责任”", ["“¶” ← 0", "“应当承担责任” ← 0"]],
  ["民法典第577条规定：“¶”，“应当”、“承担”", ["“¶” ← 0", "“应当” ← 0", "“承担” ← 0"]],
  ["民法典第577条规定：“¶”，而且“应当承担责任”", ["“¶” ← 0"]],
  ["民法典第577条规定：“¶”。原告称：“应当承担责任”", ["“¶” ← 0"]],
  ["看民法典第577条规定。“¶”", []],
  ["民法典第577条规定；“¶”", ["“¶” ? ← 0"]],
  ["民法典第577条规定甲×20：“¶”", ["“¶” ? ← 0"]],
  ["民法典第577条甲×20规定：“¶”", ["“¶” ← 0"]],
  ["民法典第577条甲×21规定：“¶”", ["“¶” ? ← 0"]],
  ["看民法典第577条甲×41“¶”", []],
  ["看民法典第577条甲×40“¶”", ["“¶” ? ← 0"]],
  ["“¶”（《民法典》第577条）", ["“¶” ← 0"]],
  ["“¶”——《民法典》第577条", ["“¶” ← 0"]],
  ["“¶”（参见《民法典》第577条）", ["“¶” ← 0"]],
  ["“¶”。（民法典第577条；公司法第3条）", ["“¶” ← 0"]],
  ["“¶”，民法典第577条另有规定", []],
  ["“¶”（甲×38《民法典》第577条）", []],
  ["刑法第4条说“¶”（《民法典》第577条）", ["“¶” ? ← 0", "“¶” ← 1"]],
  ["刑法第4条规定：“¶”（《民法典》第577条）", ["“¶” ← 0"]],
  ['民法典第577条规定："¶"，公司法第3条规定："应当承担"', ["“¶” ← 0", "“应当承担” ← 1"]],
  ["民法典第577条规定：「¶」", ["“¶” ← 0"]],
  ["民法典第577条规定：『¶』", ["“¶” ← 0"]],
  ["民法典第577条规定：‘¶’", ["“¶” ← 0"]],
  ["民法典第577条规定：“¶，‘应当承担’责任”", ["“¶,‘应当承担’责任” ← 0", "“应当承担” ← 0"]],
  ["民法典第577条规定：“¶’”", ["“¶’” ← 0"]],
  ["民法典第577条规定：“¶", ["“¶ ← 0"]],
  ["民法典第577条规定：“甲×3999”", ["“甲×3999” ← 0"]],
  ["民法典第577条规定：“甲×4001”", ["“甲×1499 ← 0"]],
  ['民法典第577条规定："甲×3999"', ["“甲×3999” ← 0"]],
  ['民法典第577条规定："甲×4001"', ['"甲×1499 ← 0']],
  [
    "看民法典第577条规定：“‘“‘“‘“‘“‘¶’”’”’”’”’”",
    [
      "“‘“‘“‘“‘“‘¶’”’”’”’” ← 0",
      "““‘“‘“‘“‘¶’”’”’”” ← 0",
      "“‘“‘“‘“‘¶’”’”’” ← 0",
      "““‘“‘“‘¶’”’”” ← 0",
      "“‘“‘“‘¶’”’” ← 0",
      "““‘“‘¶’”” ← 0",
      "“‘“‘¶’” ← 0",
      "““‘¶” ← 0",
    ],
  ],
  ["民法典第577条规定：¶，应当承担责任。", ["¶,应当承担责任。 ← 0"]],
  ["民法典第577条规定，¶，应当承担责任。", ["¶,应当承担责任。 ~ ← 0"]],
  ["民法典第577条规定¶，应当承担责任。", ["¶,应当承担责任。 ~ ← 0"]],
  ["依据民法典第577条规定¶，应当承担责任。", []],
  ["依据民法典第577条，¶，应当承担责任。", ["¶,应当承担责任。 ~ ← 0"]],
  ["依据民法典第577条：甲×12", ["甲×12 ← 0"]],
  ["依据民法典第577条：甲×11", []],
  ["依据民法典第577条：甲×1500", ["甲×1500 ← 0"]],
  ["依据民法典第577条：甲×1501", ["甲×1500 ← 0"]],
  ["民法典第577条 ¶。", ["¶。 ← 0"]],
  ["民法典第577条要求¶。", ["要求¶。 ~ ← 0"]],
  ["- 民法典第577条 ¶。", ["¶。 ← 0"]],
  ["（12）民法典第577条 ¶。", ["¶。 ← 0"]],
  ["1、2、3、4、5、民法典第577条 ¶。", []],
  ["民法典第577条【违约责任】¶。", ["¶。 ← 0"]],
  ["民法典第577条\n¶。\n公司法第3条", ["¶。 ← 0"]],
  ["民法典第577条：¶，公司法第3条", ["¶, ← 0"]],
  ["民法典第577条：¶，依照本法第578条处理，公司法第3条", ["¶,依照本法第578条处理, ← 0"]],
  ["看 民法典第577条 ¶。", []],
  ["民法典：¶，应当承担责任。", []],
  ["1. **民法典第577条**：¶。", ["¶。 ← 0"]],
  ["民法典第577条、公司法第3条：¶", ["¶ ← 0,1"]],
  ["民法典、公司法第3条：¶", ["¶ ← 0"]],
  ["“甲乙丙”，民法典第577条规定：“¶”（公司法第3条）", ["“¶” ← 0"]],
  ["民法典规定：“¶”", []],
];

test.each(quoted)("quotations of %s", (text, expected) => {
  const { plain, citations } = read(text);
  const found = findQuotations(plain, citations).map(
    ({ from, to, isMarked, isIntroduced, isIndirect, citations }) => {
      const part = short(plain.text.slice(from, to));
      const marks = `${isIntroduced ? "" : " ?"}${isIndirect ? " ~" : ""}`;
      return `${isMarked ? `“${part}”` : part}${marks} ← ${citations.join()}`;
    },
  );
  expect(found).toEqual(expected);
});

/** What the sentence of each citation says, and what it goes on to say after semicolons. */
const sentences: readonly (readonly [text: string, said: readonly string[]])[] = [
  ["依据民法典第577条，¶，应当承担责任。", ["¶,应当承担责任"]],
  ["¶，应当承担责任（民法典第577条）。", ["¶,应当承担责任"]],
  ["前面一句。此外，¶，依据民法典第577条应当承担责任。后面一句。", ["¶,应当承担责任"]],
  ["民法典第577条、第578条，¶。", ["–", "–"]],
  ["民法典第577条，¶，公司法第3条。", ["–", "–"]],
  ["民法典第577条，¶；公司法第3条，甲乙丙。", ["¶", "甲乙丙"]],
  ["民法典第577条，¶。公司法第3条，甲乙丙。", ["¶", "甲乙丙"]],
  ["民法典第577条", ["–"]],
  ["一、民法典第577条规定，¶", ["¶"]],
  ["（一）民法典第577条规定：¶", ["¶"]],
  ["第一，依照民法典第577条规定，¶", ["¶"]],
  ["民法典第577条规定，¶；但是另有约定的除外；还应当赔偿。", ["¶;但是另有约定的除外 + 还应当赔偿"]],
  ["民法典第577条规定，¶；还应当赔偿；也应当道歉。完", ["¶ + 还应当赔偿 + 也应当道歉"]],
  ["民法典第577条规定，¶；公司法第3条另有规定；也应当道歉。", ["¶", "另有规定"]],
  ["民法典第577条规定，¶；还应当赔偿；公司法第3条另有规定。", ["¶ + 还应当赔偿", "另有规定"]],
  ["民法典第577条。甲乙；丙丁", ["–"]],
  ["民法典第577条要求¶；还应当赔偿。", ["要求¶ + 还应当赔偿"]],
  ["甲乙丙民法典第577条；丙丁戊己", ["–"]],
  ["前一行\n民法典第577条¶\n后一行", ["¶"]],
  ["乙方没有按期付款\n依据民法典第577条，¶", ["¶"]],
  ["甲乙×190民法典第577条丙×190。", ["甲乙×190,丙×190"]],
  ["甲乙×250民法典第577条丙×250。", ["乙×200,丙×200"]],
  ["民法典第577条规定，¶；乙×180；丙丁。", ["¶ + 乙×180 + 丙丁"]],
  ["民法典第577条规定，¶；乙×190；丙丁。", ["¶"]],
  ["本院认为，综上，原告违反了民法典第577条的规定", ["原告"]],
  ["民法典第577条！¶", ["–"]],
  ["因此民法典第577条，乙", ["–"]],
  ["因此民法典第577条，乙丙", ["乙丙"]],
  ["| 民法典第577条 | ¶ |", [",¶,"]],
  ["乙，民法典第577条，丙", ["–"]],
  ["乙丙，民法典第577条，丁", ["乙丙"]],
];

test.each(sentences)("what is said around the citations of %s", (text, expected) => {
  const { plain, citations } = read(text);
  const found = citations.map((_, at) => {
    const around = sentenceAround(plain, citations, at);
    const after = saidAfter(plain, citations, at).map((part) => saidIn(plain, [part]));
    return short([around === undefined ? "–" : saidIn(plain, around), ...after].join(" + "));
  });
  expect(found).toEqual(expected);
});

test("paragraphs have their items, and an item has the words before all items", () => {
  const article = "有下列情形之一的：\n（一）甲乙；\n（二）丙丁。\n \n前款不适用于（三）戊。\n(十一)己";
  expect(paragraphsOf(article)).toEqual([
    "有下列情形之一的：\n（一）甲乙；\n（二）丙丁。",
    "前款不适用于（三）戊。\n(十一)己",
  ]);
  expect(paragraphsOf("（一）甲\n（二）乙")).toEqual(["（一）甲\n（二）乙"]);
  expect(paragraphsOf("\n")).toEqual([]);
  expect([1, 2, 3, 4, 10, 11].map((item) => hasItem(article, item))).toEqual([
    ...[true, true, true],
    ...[false, false, true],
  ]);
  expect([1, 3, 11, 4].map((item) => withItem(article, item))).toEqual([
    "有下列情形之一的：\n\n（一）甲乙；\n",
    "有下列情形之一的：\n\n（三）戊。\n",
    "有下列情形之一的：\n\n(十一)己",
    article,
  ]);
});

test.each([
  ["公司", "公司法"],
  ["公发法", "公司法"],
  ["公债法", "公司债法"],
  ["公司法典", "公司法"],
  ["行事诉讼法", "刑事诉讼法"],
  // Two are as near; the first in the order of characters is told.
  ["事诉讼法", "刑事诉讼法"],
  ["民事诉讼法律", "民事诉讼法"],
  // Half of the pairs are enough, fewer are not.
  ["公法", "公司法"],
  ["商法", undefined],
  ["诉讼", undefined],
  ["", undefined],
])("the name nearest to %s is %s", (name, nearest) => {
  const names = ["民法典", "民事诉讼法", "刑事诉讼法", "行政诉讼法", "公司法", "公司债法", "公证法"];
  expect(new NearNames(names).find(name)).toBe(nearest);
  expect(new NearNames(names.toReversed()).find(name)).toBe(nearest);
});
