import { expect, test } from "vitest";
import { listAnswer } from "./list-answer.ts";

const source = { name: "=cmd|' /C calc'!A0", kind: "official", document_id: "x", content_sha256: "0" };
const envelope = {
  operation: "research_paper_search",
  data: [
    {
      id: "1",
      paper_id: "1",
      doi: null,
      title: '=HYPERLINK("http://x","点")',
      title_en: "a,b\r\nc",
      authors: [{ name: "王刚" }],
      abstract: "-5 °C 下的 “电池”",
      keywords: [],
      journal: { name: "@学报", issn: null },
      citation_count: -3,
      retracted: false,
      source,
    },
    { id: "2", title: "", journal: null, source: { name: "甲", kind: "sample" } },
  ],
  page: 2,
  page_size: 2,
  total: 9,
  total_relation: "eq",
  total_pages: 5,
  has_more: true,
  sample: true,
  warnings: ["No record has 电池; 蓄电池 was searched."],
};
const bytes = Buffer.from(JSON.stringify(envelope));

/** Reads CSV as RFC 4180 says. */
function readCsv(text: string): Record<string, string>[] {
  const cells = [...text.matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r\n)/g)].map(([, cell = "", end]) => ({
    value: cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell,
    isLast: end !== ",",
  }));
  const lines: string[][] = [[]];
  for (const { value, isLast } of cells) {
    lines.at(-1)!.push(value);
    if (isLast) lines.push([]);
  }
  const [head = [], ...rows] = lines.slice(0, -1);
  return rows.map((row) => Object.fromEntries(head.map((name, place) => [name, row[place]!])));
}

test("CSV has the columns of the contract's record, with dotted names and JSON for lists", () => {
  const { text, headers } = listAnswer(bytes, { type: "csv", hasMark: false }, undefined);
  expect(text.split("\r\n")[0]).toMatch(
    /^id,paper_id,doi,title,title_en,authors,abstract,.*journal.name,journal.issn,.*source.name,source.kind,/,
  );
  const [first, second] = readCsv(text);
  expect(first).toMatchObject({
    id: "1",
    doi: "",
    title_en: "a,b\r\nc",
    authors: '[{"name":"王刚"}]',
    keywords: "[]",
    "journal.issn": "",
    citation_count: "-3",
    retracted: "false",
    "source.kind": "official",
  });
  expect(second).toMatchObject({ id: "2", title: "", "journal.name": "", "source.name": "甲" });
  expect(headers).toMatchObject({
    "content-type": "text/csv; charset=utf-8; header=present",
    "x-page": "2",
    "x-page-size": "2",
    "x-total": "9",
    "x-total-pages": "5",
    "x-has-more": "true",
    "x-sample": "true",
    "x-warnings": String.raw`["No record has \u7535\u6c60; \u84c4\u7535\u6c60 was searched."]`,
  });
});

test("a text that a spreadsheet would run gets an apostrophe, and a header counts such texts", () => {
  const { text, headers } = listAnswer(bytes, { type: "csv", hasMark: false }, undefined);
  expect(readCsv(text)[0]).toMatchObject({
    title: `'=HYPERLINK("http://x","点")`,
    abstract: "'-5 °C 下的 “电池”",
    "journal.name": "'@学报",
    "source.name": "'=cmd|' /C calc'!A0",
  });
  expect(headers["x-csv-escaped"]).toBe("4");
});

test("JSON Lines are the records, unchanged", () => {
  const { text, headers } = listAnswer(bytes, { type: "ndjson", hasMark: true }, undefined);
  expect(text.endsWith("\n")).toBe(true);
  expect(
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(envelope.data);
  expect(headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
});

test("chosen fields are the only columns, and the mark comes first if asked", () => {
  const { text } = listAnswer(bytes, { type: "csv", hasMark: true }, ["title", "journal"]);
  expect(text).toMatch(/^\ufeffid,title,journal\.name,journal\.issn,[a-z_.,]+\r\n/);
  expect(text).not.toContain("authors");
});

test("an empty list is only a line of names, and a single record one row", () => {
  const empty = Buffer.from(JSON.stringify({ ...envelope, data: [] }));
  expect(listAnswer(empty, { type: "csv", hasMark: false }, undefined).text.split("\r\n")).toHaveLength(2);
  expect(listAnswer(empty, { type: "ndjson", hasMark: false }, undefined).text).toBe("");
  const single = Buffer.from(
    JSON.stringify({ operation: "enterprise_company_detail", data: { id: "1", name: "甲" } }),
  );
  expect(readCsv(listAnswer(single, { type: "csv", hasMark: false }, undefined).text)).toMatchObject([
    { name: "甲" },
  ]);
});

test("long warnings are cut to what a header can hold", () => {
  const warnings = Array.from({ length: 100 }, (_, place) => `${place} ${"警告".repeat(50)}`);
  const { headers } = listAnswer(
    Buffer.from(JSON.stringify({ ...envelope, warnings })),
    { type: "csv", hasMark: false },
    undefined,
  );
  const shown = JSON.parse(headers["x-warnings"]!) as string[];
  expect(headers["x-warnings"]!.length).toBeLessThan(4_001);
  expect(shown).toEqual(warnings.slice(0, shown.length));
});
