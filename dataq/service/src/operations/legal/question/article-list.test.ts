import fc from "fast-check";
import { expect, test } from "vitest";
import { readArticles } from "./article-list.ts";
import { writeNumber } from "./chinese-number.ts";

const numbersOf = (text: string, hasLaw = true) =>
  readArticles(text, hasLaw).articles.map(({ number, sub }) => (sub === null ? number : `${number}-${sub}`));

test.each<[string, (number | string)[], string]>([
  ["五百七十七", [577], ""],
  ["第五百七十七", [577], ""],
  ["五七七条", [577], ""],
  ["577-580", [577, 578, 579, 580], ""],
  ["第577至580条", [577, 578, 579, 580], ""],
  ["第577条和第584条", [577, 584], ""],
  ["264、266", [264, 266], ""],
  ["133之一", ["133-1"], ""],
  ["133-1", ["133-1"], ""],
  ["第一百三十三条之一第二款", ["133-1"], ""],
  ["第20条第二款第(三)项", [20], ""],
  ["264 盗窃", [264], "盗窃"],
  ["第五百七十七条 违约", [577], "违约"],
  ["10年 工龄", [], "10年 工龄"],
  ["十五岁杀人", [], "十五岁杀人"],
  ["三个月 试用期", [], "三个月 试用期"],
  ["0条", [], "0条"],
])("reads the articles of %j beside a law's name", (text, articles, rest) => {
  expect(numbersOf(text)).toEqual(articles);
  expect(readArticles(text, true).rest).toBe(rest);
});

test("a bare number is no article without a law", () => {
  expect(readArticles("577 违约", false)).toEqual({ articles: [], rest: "577 违约" });
  expect(numbersOf("第577条 违约", false)).toEqual([577]);
});

test.each(["高速上撞死一条狗 谁赔", "害了两条人命", "1条鱼"])(
  "条 that counts things names no article: %j",
  (text) => {
    for (const hasLaw of [true, false])
      expect(readArticles(text, hasLaw)).toEqual({ articles: [], rest: text });
    expect(numbersOf("民法典的一条")).toEqual([1]);
    expect(numbersOf("一条之一")).toEqual(["1-1"]);
    expect(numbersOf("二十条人命")).toEqual([20]);
  },
);

test("every number is read in digits, in Chinese, and digit by digit", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9_999 }), (number) => {
      const byDigit = [...String(number)].map((digit) => "零一二三四五六七八九"[Number(digit)]).join("");
      const forms = [`${number}`, `第${number}条`, writeNumber(number), `第${writeNumber(number)}条`];
      for (const form of number > 9 ? [...forms, `${byDigit}条`] : forms)
        expect(numbersOf(form)).toEqual([number]);
    }),
    { seed: 21 },
  );
});

test("a range over a whole code names no more articles than a page can show", () => {
  expect(numbersOf("1-9999")).toHaveLength(200);
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(..."第577条之一、-至和 (款项)"), maxLength: 200 }),
      (text) => {
        expect(readArticles(text, true).articles.length).toBeLessThanOrEqual(400);
      },
    ),
    { seed: 22, numRuns: 300 },
  );
});
