import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Params } from "@dataq/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import { removeDataset } from "../src/importer/datasets.ts";
import type { ImportOptions, ImportReport } from "../src/importer/import-file.ts";
import { fetchOrigin } from "../src/importer/origin/origin.ts";
import { findTarget, importAny } from "../src/operations/imports.ts";
import type { articleRecord } from "../src/operations/legal/laws/record.ts";
import { createSources } from "../src/operations/sources.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { told } from "./told.ts";

const now = new Date("2026-11-22T04:00:00Z");

let folder: string;
let files: string;
let database: Database;
let index: SearchIndex;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  files = mkdtempSync(join(tmpdir(), "dataq-laws-"));
  database = await openFolder(folder);
  index = embeddedIndex(database, { now: () => Number.POSITIVE_INFINITY });
}, 120_000);

afterAll(async () => {
  await database.close();
  await removeDataFolder(folder);
  rmSync(files, { recursive: true, force: true });
});

const passed = "2005年10月27日 第十届全国人民代表大会常务委员会第十八次会议通过";
const amended =
  "2018年10月26日 第十三届全国人民代表大会常务委员会第六次会议《关于修改〈中华人民共和国试验法〉的决定》修正";
const revised = "2023年12月29日 第十四届全国人民代表大会常务委员会第七次会议修订";
const law = (versionDate: string, history: readonly string[], ...articles: readonly string[]) => ({
  category: "民法商法",
  name: "试验法",
  title: "中华人民共和国试验法",
  version_date: versionDate,
  revision_history: history,
  text: articles.join("\n\n"),
});
const of2018 = law(
  "2018-10-26",
  [passed, amended],
  "第一条 为了规范试验，制定本法。",
  "第二条 旧的规定，以备比较。",
  "第三条 本法自2006年1月1日起施行。",
);
const of2023 = law(
  "2023-12-29",
  [passed, amended, revised],
  "第一条 为了规范试验，制定本法。",
  "第二条 试验应当公开进行，并且接受监督。",
  "第三条 本法自2024年7月1日起施行。",
);
const files3 = {
  versions: [of2018, { ...of2018, title: "劳动仲裁攻略", name: "攻略" }],
  current: [{ ...of2023, version_date: undefined, domain: "civil-and-commercial" }],
  annex: [{ ...of2023, version_date: "2025-01-01", text: "第一条 只有一条。" }],
};

async function bring(name: keyof typeof files3, options: ImportOptions = {}): Promise<ImportReport> {
  const path = join(files, `${name}.jsonl`);
  writeFileSync(path, files3[name].map((row) => JSON.stringify(row)).join("\n"));
  const file = await fetchOrigin(path, { folder });
  return importAny(database, index, "legal_laws", file, { again: true, ...options });
}

/** What is served, without the times of the imports. */
async function served(): Promise<unknown[]> {
  index.forget("legal_laws");
  const articles: unknown[] = [];
  for await (const body of index.documents("legal_laws"))
    articles.push(
      JSON.parse(JSON.stringify(body, (name, value) => (name === "retrieved_at" ? null : value))),
    );
  return articles;
}

async function ask(asked: string | Params) {
  for (const corpus of ["legal_laws", "legal_law_catalog"]) index.forget(corpus);
  const source = createSources({ index, samples: false }).find("legal_laws");
  const context = { signal: AbortSignal.timeout(10_000), now, sandbox: false };
  const params = typeof asked === "string" ? { query: asked } : asked;
  const answer = await source?.run(params, { page: 1, pageSize: 20 }, context);
  return {
    ...answer,
    warnings: told(answer?.warnings),
    records: (answer?.records ?? []) as ReturnType<typeof articleRecord>[],
  };
}

test("packs of laws are served the same in any order and when repeated, and what is held back is named", async () => {
  const names = Object.keys(files3) as (keyof typeof files3)[];
  let expected: unknown[] | undefined;
  // fold.test.ts checks all six orders. Here two of them go through the index.
  for (const order of [names, names.toReversed()]) {
    for (const name of [...order, ...order]) {
      const report = await bring(name);
      expect(report).toMatchObject({ outcome: "imported", badRows: name === "versions" ? 1 : 0 });
    }
    const { notes, problems } = await bring("versions");
    expect(problems).toMatchObject([{ line: 2, problem: expect.stringContaining("a guide, not a law") }]);
    // Nothing changed, so nothing was folded again. The next import of another pack reports the version again.
    const named = [...notes, ...(await bring("annex")).notes].map(({ note }) => note);
    expect(named.join()).toContain("2025-01-01");
    const found = await served();
    expected ??= found;
    expect(found).toEqual(expected);
    for (const name of names) await removeDataset(database, index, findTarget("legal_laws"), name);
  }
  expect(expected).toHaveLength(3);
}, 120_000);

test("a year selects the version of that year; one that is not in the data is free, with a warning", async () => {
  await bring("versions");
  await bring("current");
  const old = await ask("试验法(2018修正) 第二条");
  expect(old).toMatchObject({ outcome: "found", total: 1 });
  expect(old.records[0]).toMatchObject({
    content: "旧的规定，以备比较。",
    version_date: "2018-10-26",
    as_of: "2018修正",
    status: "amended",
    expired_date: "2024-07-01",
  });
  expect((await ask("试验法2023修订 第2条")).records[0]).toMatchObject({
    content: "试验应当公开进行，并且接受监督。",
    as_of: "2023修订",
    effective_date: "2024-07-01",
  });
  const both = await ask("试验法2018修正第一条、第二条");
  expect(both).toMatchObject({ total: 2 });
  expect(new Set(both.records.map(({ as_of }) => as_of))).toEqual(new Set(["2018修正"]));
  // There was no amendment in between: the text of 2018 was also in force in 2020.
  expect((await ask("2020年试验法")).records.map(({ version_date }) => version_date)).toEqual(
    Array(3).fill("2018-10-26"),
  );
  expect((await ask("试验法 第二条")).records[0]).toMatchObject({ as_of: null, version_date: "2023-12-29" });
  for (const query of ["2005年试验法", "试验法(2013修正) 第二条"]) {
    const missing = await ask(query);
    expect(missing).toMatchObject({ outcome: "empty", notHeld: true, records: [] });
    expect(missing.warnings?.join()).toContain("2018-10-26, 2023-12-29");
  }
  for (const query of ["试验法(2024-06-30) 第二条", "试验法 2024年3月 第二条", "2024.6.1的试验法 第2条"])
    expect((await ask(query)).records[0], query).toMatchObject({ content: "旧的规定，以备比较。" });
  for (const query of [
    "试验法(2024-07-01) 第二条",
    "试验法 2024年12月 第二条",
    "试验法2023年12月29日 第二条",
  ])
    expect((await ask(query)).records[0], query).toMatchObject({ version_date: "2023-12-29" });
  for (const query of [
    "试验法2030 第二条",
    "试验法1800年 第二条",
    "试验法(2026-11-23) 第二条",
    "试验法 2012-01-01",
  ])
    expect(await ask(query), query).toMatchObject({ outcome: "empty", notHeld: true, records: [] });
  // No version has the article: it cannot exist, so the answer is free, as without a year.
  expect(await ask("试验法(2018修正) 第九条")).toMatchObject({
    outcome: "empty",
    notHeld: true,
    records: [],
  });
  for (const query of ["从未有过法 第九条", "从未有过法(2018修正) 第九条"])
    expect(await ask(query)).toMatchObject({ outcome: "empty", notHeld: true });
});

test.each<[Params, string]>([
  [{ law: "试验法" }, "试验法"],
  [{ law: "《中华人民共和国试验法》", article: "2" }, "试验法 第二条"],
  [{ query: "试验法", article: "第二条" }, "试验法 第二条"],
  [{ query: "公开进行", law: "试验法" }, "试验法 公开进行"],
  [{ law: "试验法", year: "2018" }, "2018年试验法"],
  [{ law: "试验法", article: "2", year: "2018" }, "2018年试验法 第二条"],
  [{ query: "试验法 第二条", year: "2018" }, "2018年试验法 第二条"],
  [{ query: "试验法(2018修正)", article: "2", year: "2018" }, "试验法(2018修正) 第二条"],
  [{ law: "试验法", article: "9" }, "试验法 第九条"],
  [{ law: "试验法", year: "2005" }, "2005年试验法"],
  [{ law: "从未有过法" }, "从未有过法"],
  [{ law: "从未有过法", article: "1", year: "2018" }, "2018年从未有过法 第一条"],
])("the filters %j find what %s finds", async (params, query) => {
  const [filtered, asked] = [await ask(params), await ask(query)];
  const shown = ({ records, total, notHeld }: Awaited<ReturnType<typeof ask>>) => ({
    total,
    notHeld,
    records: records.map(({ article_no, version_date, content }) => ({ article_no, version_date, content })),
  });
  expect(shown(filtered)).toEqual(shown(asked));
});

test("filters of laws narrow the query and never widen it", async () => {
  expect(await ask({ query: "试验法 第一条", article: "2" })).toMatchObject({ outcome: "empty", total: 0 });
  expect(await ask({ query: "从未有过法", law: "试验法" })).toMatchObject({ outcome: "empty" });
  expect(await ask({ law: '试验法" OR 《民法典》' })).toMatchObject({ outcome: "empty", notHeld: true });
  // 怎么办 asks for nothing by itself.
  expect(await ask({ query: "怎么办", law: "试验法" })).toMatchObject({ total: 3 });
  await expect(ask({ year: "2018" })).rejects.toMatchObject({ details: { param: "params.year" } });
  await expect(ask({ query: "工资", year: "2018" })).rejects.toMatchObject({
    details: { param: "params.year" },
  });
  await expect(ask({ query: "试验法(2018修正)", year: "2023" })).rejects.toMatchObject({
    details: { param: "params.year", details: [{ code: "conflict" }] },
  });
});

test("citations are checked against the imported versions, and counted for the price", async () => {
  await bring("versions");
  await bring("current");
  index.forget("legal_laws");
  const source = createSources({ index, samples: false }).find("legal_citation_check");
  const text =
    "《试验法》第二条规定：“旧的规定，以备比较。”《中华人民共和国试验法》第九条、（2024）京01民终1号。";
  const context = { signal: AbortSignal.timeout(10_000), now, sandbox: false };
  const on = async (date: string) => {
    const params = { text, date };
    expect(await source?.count?.(params, false)).toBe(3);
    return source?.run(params, { page: 1, pageSize: 20 }, context);
  };
  const answer = await on("2026-11-22");
  expect(answer).toMatchObject({
    outcome: "found",
    isPart: true,
    index: { refreshed_at: expect.stringMatching(/^20/) },
    summary: { date: "2026-11-22", citations: 3, with_problems: 2, not_checked: 1 },
    records: [
      {
        verdict: "exists",
        content: "试验应当公开进行，并且接受监督。",
        problems: ["quotation_differs"],
        quotations: [{ agrees: false, agrees_with_version: "2018-10-26" }],
      },
      { verdict: "no_such_article", nearest: { article_no: "第三条" } },
      {
        kind: "case",
        verdict: "not_held",
        source: {
          name: "dataq legal_laws",
          kind: "third_party",
          document_id: expect.stringMatching(/^snapshot \d+$/),
          retrieved_at: expect.stringMatching(/^20/),
        },
      },
    ],
  });
  expect(answer).not.toHaveProperty("notHeld");
  expect(await source?.version?.(false)).toMatch(/^imported \d+ none$/);
  const whole = { text: "《试验法》第一条、第二条和第三条", date: "2026-11-22" };
  const checked = await source?.run(whole, { page: 1, pageSize: 20 }, context);
  expect(checked?.records?.map((record) => (record as { verdict: string }).verdict)).toEqual([
    ...["exists", "exists", "exists"],
  ]);
  expect(checked).not.toHaveProperty("isPart");
  // A repealed law whose text is not in the data is one citation with a problem, not also one that was not checked.
  const params = {
    text: "《婚姻法》第三十二条、《试验法》第二条、（2024）京01民终1号。",
    date: "2026-11-22",
  };
  expect((await source?.run(params, { page: 1, pageSize: 20 }, context))?.summary).toMatchObject({
    citations: 3,
    with_problems: 1,
    not_checked: 1,
  });
  expect((await on("2020-01-01"))?.records?.[0]).toMatchObject({
    version_date: "2018-10-26",
    problems: [],
    quotations: [{ agrees: true }],
  });
  const nothing = { text: "你好", date: "2026-11-22" };
  expect(await source?.count?.(nothing, false)).toBe(0);
  const empty = await source?.run(nothing, { page: 1, pageSize: 20 }, context);
  expect(empty).toMatchObject({ outcome: "empty", records: [], warnings: [{ code: "no_citations" }] });
  expect(empty).not.toHaveProperty("notHeld");
  const unheld = { text: "《合同法》第五十二条", date: "2026-11-22" };
  expect(await source?.run(unheld, { page: 1, pageSize: 20 }, context)).toMatchObject({ notHeld: true });
  expect(await source?.count?.({ text: "试验法第一条".repeat(500) }, false)).toBe(500);
  await expect(source?.count?.({ text: "试验法第一条".repeat(501) }, false)).rejects.toMatchObject({
    code: "invalid_params",
    details: { param: "params.text" },
  });
});

test("a version that omits many articles is served once the operator accepts it", async () => {
  await bring("versions");
  await bring("current");
  expect((await bring("annex")).notes).toEqual([
    {
      note: expect.stringContaining("--accept-versions"),
      noteZh: expect.stringContaining("--accept-versions"),
    },
  ]);
  expect((await ask("试验法")).total).toBe(3);
  expect((await ask("试验法 第一条")).records[0]).toMatchObject({ status: "unknown" });
  expect((await bring("annex", { acceptVersions: true, again: false })).notes).toEqual([]);
  expect((await ask("试验法 第二条")).records[0]).toMatchObject({ status: "repealed" });
});
