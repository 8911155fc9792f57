import { expect, test } from "vitest";
import { en } from "../../text/en.ts";
import { zh } from "../../text/zh.ts";
import { type CitationRow, differencesOf, findingsOf, isCitation, verdictOf } from "./citation-findings.ts";

const right: CitationRow = {
  id: "1",
  cited: "民法典第577条",
  verdict: "exists",
  problems: [],
  kind: "article",
  law_name: "中华人民共和国民法典",
  article_no: "第五百七十七条",
  status: "in_force",
  effective_date: "2021-01-01",
  expired_date: null,
  replaced_by: null,
  content: "当事人一方不履行合同义务的，应当承担违约责任。",
  nearest: null,
  quotations: [],
  judgment: null,
  source: {},
};
const quotation = { agrees: false, differences: [], agrees_with_version: null, found_in: null };

test.each<[string, Partial<CitationRow>, string, string, readonly string[]]>([
  ["a right one", {}, "good", "未发现问题", []],
  [
    "an invented article, whatever its law's state",
    {
      verdict: "no_such_article",
      problems: ["no_such_article"],
      nearest: { law_name: "民法典", article_no: "第一千二百六十条" },
    },
    "bad",
    "没有此条",
    ["最接近的是《民法典》第一千二百六十条。"],
  ],
  [
    "an invented law",
    { verdict: "unknown_law", problems: ["unknown_law"], status: null },
    "bad",
    "查无此法",
    [],
  ],
  [
    "an unknown law that a rightly quoted article names",
    {
      verdict: "unknown_law",
      problems: [],
      status: null,
      nearest: { law_name: "民法典", article_no: null },
    },
    "plain",
    "查无此法",
    [],
  ],
  [
    "an article that the law no longer has",
    { problems: ["not_in_force"], status: "amended", replaced_by: "第五十七条", expired_date: "2024-07-01" },
    "bad",
    "旧版条文",
    ["2024-07-01 起不再适用。", "已由第五十七条取代。"],
  ],
  [
    "a repealed law that is not held",
    { verdict: "not_held", problems: ["not_in_force"], status: "repealed", replaced_by: "民法典" },
    "bad",
    "已废止",
    ["已由民法典取代。"],
  ],
  [
    "a quotation of another article",
    {
      problems: ["quotation_differs"],
      quotations: [
        { ...quotation, found_in: { law_name: "民法典", article_no: "第五百八十四条", paragraph: 1 } },
      ],
    },
    "bad",
    "引文有误",
    ["引文实际出自《民法典》第五百八十四条（第 1 款）。"],
  ],
  [
    "a law that is not held",
    { verdict: "not_held", status: null, content: null },
    "plain",
    "未收录，未核查",
    [],
  ],
])("%s: the verdict, and what is wrong", (_, fields, tone, text, findings) => {
  const row = { ...right, ...fields };
  expect(verdictOf(row, zh.citations)).toEqual({ tone, text });
  expect(findingsOf(row, zh.citations)).toEqual(findings);
  const { text: english } = verdictOf(row, en.citations);
  expect(english).not.toMatch(/\p{Script=Han}/u);
  for (const field of [english, text]) expect(field).not.toMatch(/_/);
});

test("long common words are cut, and changed ones never", () => {
  const long = "甲".repeat(100);
  const differences = [
    { kind: "same" as const, text: `${long}。` },
    { kind: "added" as const, text: "半" },
    { kind: "missing" as const, text: long },
    { kind: "same" as const, text: `个月${long}` },
  ];
  expect(differencesOf({ ...right, quotations: [{ ...quotation, differences }] })).toEqual([
    [
      { kind: "same", text: `……${"甲".repeat(15)}。` },
      { kind: "added", text: "半" },
      { kind: "missing", text: long },
      { kind: "same", text: `个月${"甲".repeat(14)}……` },
    ],
  ]);
});

test("records with chosen fields are no citations for the table", () => {
  expect(isCitation({ ...right })).toBe(true);
  expect(isCitation({ verdict: "exists", cited: "民法典第577条" })).toBe(false);
});
