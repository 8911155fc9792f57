import fc from "fast-check";
import { expect, test } from "vitest";
import { readNumber, writeNumber } from "./chinese-number.ts";
import { lawKey, readArticleNumber, readLawReference } from "./law-reference.ts";

test.each([
  ["民法典 第五百七十七条", "民法典", 577, null, ""],
  ["民法典577", "民法典", 577, null, ""],
  ["民法典第577条", "民法典", 577, null, ""],
  ["民法典 577", "民法典", 577, null, ""],
  ["《民法典》577", "民法典", 577, null, ""],
  ["《中华人民共和国民法典》第一千二百五十四条", "民法典", 1254, null, ""],
  ["公司法 第20条之一", "公司法", 20, 1, ""],
  ["刑法第一百二十条之二", "刑法", 120, 2, ""],
  ["民诉法第十条第二款", "民事诉讼法", 10, null, ""],
  ["民法典 第五百七十七条 违约", "民法典", 577, null, "违约"],
  ["第十二条", null, 12, null, ""],
  ["刑法 133之一", "刑法", 133, 1, ""],
  ["刑法133 之 1", "刑法", 133, 1, ""],
  ["刑法第133之一", "刑法", 133, 1, ""],
  ["《刑法》133之一", "刑法", 133, 1, ""],
  ["《刑法》第一百三十三之一", "刑法", 133, 1, ""],
  ["刑法一百三十三之一", "刑法", 133, 1, ""],
  ["民法典第五百七十七", "民法典", 577, null, ""],
  ["刑法二百六十四", "刑法", 264, null, ""],
])("%s names law %s, article %s", (text, law, number, sub, rest) => {
  expect(readLawReference(text)).toEqual({ law, article: { number, sub }, rest });
});

test.each([
  "违约责任",
  "合同纠纷 2018",
  "借款 100",
  "第几条",
  "刑法修正案十一",
  "民法典婚姻家庭编解释二",
  "法院三年之一",
])("%s names no article", (text) => {
  expect(readLawReference(text)).toEqual({ law: null, article: null, rest: text });
});

test("a law in quotes alone is a reference without article", () => {
  expect(readLawReference("《商标法》 侵权")).toEqual({ law: "商标法", article: null, rest: "侵权" });
});

test("names of one law have one key", () => {
  for (const name of ["个保法", "个人信息保护法", "《中华人民共和国个人信息保护法》"]) {
    expect(lawKey(name)).toBe("个人信息保护法");
  }
});

test("reads back the number that was written", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9999 }), (n) => readNumber(writeNumber(n)) === n),
    { seed: 1 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9999 }), fc.constantFrom("", "之一", "之十二"), (n, sub) => {
      const chinese = readArticleNumber(`第${writeNumber(n)}条${sub}`);
      expect(chinese).toEqual(readArticleNumber(`第${n}条${sub}`));
      expect(chinese?.number).toBe(n);
    }),
    { seed: 2 },
  );
});

test.each(["", "五五", "百", "十百", "x", "12345", "一千一千"])("%s is not a number", (text) => {
  expect(readNumber(text)).toBeUndefined();
});
