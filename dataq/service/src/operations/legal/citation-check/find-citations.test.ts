import { expect, test } from "vitest";
import { LawNames } from "../question/named-laws.ts";
import { agrees, differences, wordsOf } from "./compare.ts";
import { findCitations, type Work } from "./find-citations.ts";
import { LawRegister } from "./law-register.ts";
import { PlainText } from "./plain-text.ts";
import { findQuotations } from "./quotations.ts";

const register = new LawRegister(
  new LawNames(
    new Set([
      "民法典",
      "刑法",
      "公司法",
      "劳动合同法",
      "民事诉讼法",
      "保险法",
      "最高人民法院关于适用中华人民共和国公司法若干问题的规定(三)",
      "最高人民法院关于审理民间借贷案件适用法律若干问题的规定",
    ]),
  ),
);

/** The citations as short lines: law, article, paragraph and item. */
function read(text: string): string[] {
  return findCitations(new PlainText(text), register).map(({ law, place, caseNumber }) => {
    if (caseNumber !== null) return caseNumber;
    const { article, paragraph, item } = place ?? { article: null, paragraph: null, item: null };
    const number =
      article === null ? "" : ` ${article.number}${article.sub === null ? "" : `-${article.sub}`}`;
    const parts = `${paragraph === null ? "" : `/${paragraph}`}${item === null ? "" : `(${item})`}`;
    return `${law?.key ?? "?"}${number}${parts}${law?.version === undefined ? "" : `@${law.version.point}`}`;
  });
}

const interpretation = "最高人民法院关于适用中华人民共和国公司法若干问题的规定(三)";
const cases: readonly (readonly [text: string, citations: readonly string[]])[] = [
  ["《民法典》第五百七十七条", ["民法典 577"]],
  // As copied from a PDF file: radicals that look like the characters.
  ["《⺠法典》第五百七⼗七条", ["民法典 577"]],
  ["《中华人民共和国民法典》第577条和第584条", ["民法典 577", "民法典 584"]],
  ["刑法264、266条", ["刑法 264", "刑法 266"]],
  ["刑法第一百三十三条之一、之二", ["刑法 133-1", "刑法 133-2"]],
  ["民法典577，2021年起", ["民法典 577"]],
  ["民诉法第１２２条", ["民事诉讼法 122"]],
  ["《中華人民共和國刑法》第二百六十四條", ["刑法 264"]],
  ["民法典第五百\n七十七条", ["民法典 577"]],
  ["第20条第二款第(三)项", []],
  ["公司法第20条第二款第(三)、(四)项、第三款", ["公司法 20/2(3)", "公司法 20/2(4)", "公司法 20/3"]],
  ["劳动合同法第四十条（一）（二）项", ["劳动合同法 40(1)", "劳动合同法 40(2)"]],
  ["民法典第10条至第12条", ["民法典 10", "民法典 11", "民法典 12"]],
  ["民法典第1条至第900条", ["民法典 1", "民法典 900"]],
  ["公司法（2018修正）第二十条", ["公司法 20@2018"]],
  ["2018年《公司法》第二十条", ["公司法 20@2018"]],
  ["《公司法》（2023年修订）第八十八条第一款", ["公司法 88/1@2023"]],
  ["《中华人民共和国公司法（2018年修正）》第20条", ["公司法 20@2018"]],
  ["《劳动合同法》第十条。同法第十四条，该法第19条", ["劳动合同法 10", "劳动合同法 14", "劳动合同法 19"]],
  ["《民法典》第585条第一款。该条第二款规定", ["民法典 585/1", "民法典 585/2"]],
  ["民法典第585条第二款。前款规定的损失", ["民法典 585/2", "民法典 585/2"]],
  [
    "《中华人民共和国劳动合同法》（以下简称“本法”或“劳合法”）第十条；劳合法第三条；本法第五条",
    ["劳动合同法 10", "劳动合同法 3", "劳动合同法 5"],
  ],
  ["《民法典》合同编第五百零九条", ["民法典 509"]],
  ["《公司法解释三》第十三条", [`${interpretation} 13`]],
  ["公司法司法解释（三）第十三条", [`${interpretation} 13`]],
  ["最高人民法院关于适用《中华人民共和国公司法》若干问题的规定（三）第三条", [`${interpretation} 3`]],
  [
    "最高人民法院关于审理民间借贷案件适用法律若干问题的规定第二十五条",
    ["最高人民法院关于审理民间借贷案件适用法律若干问题的规定 25"],
  ],
  ["应当认定为刑法第三百八十四条", ["刑法 384"]],
  ["失业保险法第1条", ["失业保险法 1"]],
  ["（2019）沪01刑终123号、〔2021〕京0105民初5号", ["(2019)沪01刑终123号", "〔2021〕京0105民初5号"]],
  ["Article 577 of the Civil Code; Company Law, Art. 20", ["民法典 577", "公司法 20"]],
  ["根据《网络诚信法》的规定", ["网络诚信法"]],
  ["《民法典》与《民法典》", ["民法典"]],
  ["该法第三条", ["? 3"]],
];

test.each(cases)("reads %j", (text, expected) => {
  expect(read(text)).toEqual(expected);
});

test.each([
  "违反合同第五条，《租赁合同》第三条，合同第8条约定",
  "双方约定：\n第一条 租赁物\n第二条 租金",
  "本协议依据民法典订立。\n第一条 合作内容",
  "民法典规定了三条原则，两条人命",
  "合法权益、非法占有、司法机关、方法论",
  "《孙子兵法》《劳动合同书》",
  "第五条约定的违约金",
])("%j cites nothing", (text) => {
  expect(read(text)).toEqual([]);
});

/** What refers to a law before it reads on. */
const refersBack = /^(?:第|该法)/;
const pads: readonly ((text: string) => string)[] = [
  (text) => `原告诉称，${text}。以上事实清楚。`,
  (text) => `一、${text}；`,
  (text) => `（${text}）`,
  (text) => `（一）${text}`,
  (text) => `见甲）${text}`,
  (text) => `法院认为：\n${text}\n综上。`,
  (text) => `他说“好”，${text}`,
];

test("citations are read alike whatever stands around them", () => {
  for (const [text, expected] of cases)
    for (const pad of pads) expect([pad(text), read(pad(text))]).toEqual([pad(text), expected]);
});

test("citations inside quotation marks are read", () => {
  for (const [text, expected] of cases) {
    if (refersBack.test(text) || text.includes("前款")) continue;
    expect([text, read(`“${text}”`)]).toEqual([text, expected]);
  }
});

test("citations of two sentences are those of each", () => {
  for (const [at, [first, ofFirst]] of cases.entries())
    for (const step of [1, 5, 11]) {
      const [second, ofSecond] = cases[(at + step) % cases.length]!;
      if (refersBack.test(second)) continue;
      const text = `${first}。\n又查明，${second}。`;
      expect([text, read(text)]).toEqual([text, [...ofFirst, ...ofSecond]]);
    }
});

const length = 20_000;
const many = (text: string) => text.repeat(Math.ceil(length / text.length)).slice(0, length);
const hostile = [
  ...[
    "第一条",
    "民法典第一条",
    "《",
    "《民法典》",
    "“",
    "“第一条”",
    "《网络诚信法》第1条",
    "最高人民法院关于",
  ],
  ...[
    "最高",
    "(2019)",
    "2019年沪",
    "(以下简称“甲乙”)",
    "第1、",
    "civil code article ",
    "a ",
    "该法第",
    "前款规定",
  ],
  ...[
    "中华人民共和国",
    "根据了是由在",
    "法第1条",
    "一",
    "《关于〈",
    "的规定",
    "第二款",
    "𠮷第1条",
    "全国人大常委会关于",
  ],
  ...[
    "民法典第577条规定：“当事人",
    "民法典(2018年",
    "(((",
    "本合同第三条",
    "article 1,2,3 ",
    "最高法院关于的规定",
  ],
].map(many);

test.each([...hostile, `民法典${many("第一条")}`, `民法典第1条${many("、2")}`, `第${many("一、")}`])(
  "the work on 20,000 characters grows with their number only: %.12s…",
  (text) => {
    const work: Work = { looks: 0 };
    const plain = new PlainText(text);
    const citations = findCitations(plain, register, 500, work);
    findQuotations(plain, citations);
    expect(citations.length).toBeLessThanOrEqual(600);
    expect(work.looks).toBeLessThanOrEqual(60 * text.length);
  },
);

test("a comparison of long texts keeps within its budget", () => {
  const budget = { cells: 100_000 };
  const article = wordsOf("甲乙丙丁戊己庚辛".repeat(1_000));
  for (const text of ["甲丙乙丁戊庚己辛".repeat(1_000), "子丑".repeat(4_000), "甲乙丙丁子".repeat(1_500)]) {
    const { pieces } = differences(wordsOf(text), article, budget);
    const mine = pieces.filter(({ kind }) => kind !== "missing").map((piece) => piece.text);
    expect(mine.join("")).toBe(text);
  }
  expect(budget.cells).toBeGreaterThanOrEqual(0);
});

test("the pieces of a comparison make up the quotation", () => {
  const article = wordsOf("当事人一方不履行合同义务的，应当承担违约责任。");
  for (const text of [
    "一方不履行合同义务，应当承担全部违约责任",
    "乙方不履行合同义务的，可以承担违约责任。",
    "无关",
  ]) {
    const { pieces } = differences(wordsOf(text), article, { cells: 10_000 });
    const mine = pieces.filter(({ kind }) => kind !== "missing").map((piece) => wordsOf(piece.text).units);
    expect(mine.join("")).toBe(wordsOf(text).units);
  }
  expect(agrees("不履行合同义务……违约责任", article)).toBe(true);
  expect(agrees("违约责任……不履行合同义务", article)).toBe(false);
});
