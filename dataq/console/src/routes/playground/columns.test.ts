import { expect, test } from "vitest";
import { columnsOf } from "./columns.ts";

const article = {
  id: "劳动合同法:19",
  law_id: "x",
  law_name: "中华人民共和国劳动合同法",
  article_no: "第十九条",
  chapter: "第二章",
  content: "劳动合同期限三个月以上不满一年的，试用期不得超过一个月。",
  promulgated_date: "2012-12-28",
  wording_since: "2008-01-01",
  expired_date: null,
  status: "in_force",
  status_text: "现行有效",
  score: 3,
};

test.each([
  ["en", "status"],
  ["zh", "status_text"],
] as const)("the table of law articles shows dates and, in %s, the field %s", (language, status) => {
  expect(columnsOf("legal_laws", [article], language)).toEqual([
    "law_name",
    "article_no",
    "content",
    status,
    "wording_since",
    "expired_date",
  ]);
});

test("every table has a field that is there in two languages in the reader's alone", () => {
  const row = { name: "x", status: "in_force", status_text: "现行有效", basis: "since", basis_zh: "自" };
  expect(columnsOf("other", [row], "en")).toEqual(["name", "status", "basis"]);
  expect(columnsOf("other", [row], "zh")).toEqual(["name", "basis_zh", "status_text"]);
  expect(columnsOf("other", [{ status_text: "执行中" }], "en")).toEqual(["status_text"]);
});

test("a call that chose its fields gets a table of these", () => {
  const { law_name, content } = article;
  expect(columnsOf("legal_laws", [{ law_name, content }], "en")).toEqual(["law_name", "content"]);
  expect(columnsOf("legal_laws", [{ chapter: "第二章" }], "zh")).toEqual(["chapter"]);
});

test("other tables begin with names and leave out what is empty or nested", () => {
  const row = {
    id: "1",
    score: 2,
    empty: null,
    nested: {},
    title: "判决",
    city: "上海",
    judgment_date: "2020-01-01",
  };
  expect(columnsOf("legal_cases", [row], "en")).toEqual(["title", "judgment_date", "city", "id"]);
});
