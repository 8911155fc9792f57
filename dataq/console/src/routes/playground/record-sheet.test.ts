import { describe, expect, test } from "vitest";
import { sheetOf } from "./record-sheet.ts";

const article = {
  id: "law:1",
  law_id: "civil-code",
  law_name: "中华人民共和国民法典",
  article_no: "第五百八十五条",
  content: "短文。",
  effective_date: "2021-01-01",
  wording_since: "2021-01-01",
  status: "in_force",
  status_text: "现行有效",
  issuer: null,
  keywords: ["违约金", "损失"],
  revisions: [{ from: "2021-01-01", text: "…" }],
  source: { name: "x", kind: "official" },
};

describe("a record as a page", () => {
  test("begins with what it is called, then its text, then facts, then lists", () => {
    expect(sheetOf(article, "zh")).toEqual({
      heading: "《中华人民共和国民法典》第五百八十五条",
      texts: [["content", "短文。"]],
      facts: [
        ["wording_since", "2021-01-01"],
        ["status_text", "现行有效"],
        ["keywords", "违约金、损失"],
      ],
      rest: [["revisions", article.revisions]],
    });
  });

  test("tells a state once, in the reader's language, and Chinese where there is nothing else", () => {
    expect(sheetOf(article, "en").facts[1]).toEqual(["status", "in_force"]);
    expect(sheetOf({ ...article, status: null }, "en").facts[1]).toEqual(["status_text", "现行有效"]);
  });

  test("sets long texts apart, but no address, and gives a rank to the heading", () => {
    const url = `https://example.com/${"a".repeat(80)}`;
    const long = "字".repeat(60);
    expect(sheetOf({ title: "话题", rank: 3, url, abstract: long, pinned: false, heat: 0 }, "en")).toEqual({
      heading: "3. 话题",
      texts: [["abstract", long]],
      facts: [
        ["url", url],
        ["pinned", false],
        ["heat", 0],
      ],
      rest: [],
    });
  });

  test("has no heading rather than the number of a program", () => {
    expect(sheetOf({ id: "x:1", company_id: "9", capital: 5 }, "en")).toEqual({
      heading: "",
      texts: [],
      facts: [["capital", 5]],
      rest: [],
    });
  });
});
