import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chinaDate } from "@dataq/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findDue, refreshDataset, refreshDue } from "../src/background/refresh/refresh.ts";
import type { Database } from "../src/database/database.ts";
import { datasetBody } from "../src/importer/dataset-body.ts";
import { findDataset, listDatasets, removeDataset, restoreDataset } from "../src/importer/datasets.ts";
import { readRows } from "../src/importer/format/read-rows.ts";
import type { ImportOptions } from "../src/importer/import-file.ts";
import { fetchOrigin } from "../src/importer/origin/origin.ts";
import { findTarget, importAny } from "../src/operations/imports.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";

const packs = process.env["TEST_DATA"];
const journals = "research_journal_search";

let folder: string;
let files: string;
let database: Database;
let index: SearchIndex;
/** What the server behind the addresses returns, by path. */
const pages = new Map<string, string>();
const server = createServer((request, response) => {
  const page = pages.get(request.url ?? "");
  response.writeHead(page === undefined ? 404 : 200).end(page);
});
let base: string;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  files = mkdtempSync(join(tmpdir(), "dataq-files-"));
  database = await openFolder(folder);
  index = embeddedIndex(database, { now: () => Number.POSITIVE_INFINITY });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, 120_000);

afterAll(async () => {
  server.close();
  await database.close();
  await removeDataFolder(folder);
  rmSync(files, { recursive: true, force: true });
});

const journal = (issn: number, title = `Journal ${issn}`) =>
  JSON.stringify({ title, issn: `1000-${String(issn).padStart(4, "0")}` });
const list = (...rows: readonly string[]) => rows.join("\n");
const many = (from: number, to: number) =>
  list(...Array.from({ length: to - from }, (_, n) => journal(from + n)));

async function bring(target: string, origin: string, options: ImportOptions = {}) {
  const file = await fetchOrigin(origin, { folder: join(folder, "downloads") });
  return importAny(database, index, target, file, options);
}

function write(name: string, content: string): string {
  const path = join(files, name);
  writeFileSync(path, content);
  return path;
}

async function namesOf(corpus: string): Promise<string[]> {
  index.forget(corpus);
  const names: string[] = [];
  for await (const body of index.documents(corpus))
    names.push((body as { name?: string; law_name?: string }).name ?? "");
  return names.sort();
}

const needs = () => ({ database, index, dataFolder: folder, progress: () => {} });
const setOf = (name: string) => findDataset(database, index, name, journals);

describe("the rows of a data set", () => {
  test("are all accounted for: refused, duplicate or served", async () => {
    const report = await bring(
      journals,
      write(
        "sums.jsonl",
        list(journal(1, "Old"), journal(2), "{", '{"issn":"1000-0003"}', journal(1, "New")),
      ),
      { source: "List", licence: "CC0" },
    );
    expect(report).toMatchObject({
      rows: 5,
      badRows: 2,
      records: 3,
      duplicates: 1,
      duplicateIds: ["journal:1000-0001"],
    });
    expect(await setOf("sums")).toMatchObject({
      state: "serving",
      rows: 5,
      refused: 2,
      passedOver: 0,
      records: 3,
      duplicates: 1,
      served: 2,
      runs: [{ options: { source: "List", licence: "CC0", kind: "third_party", mode: "replace" } }],
    });
    expect(await namesOf(journals)).toEqual(["Journal 2", "New"]);
  });

  test.runIf(packs)("of the real judgments: 861 read, 821 served, 40 duplicates", async () => {
    // Only the beginning of each text: indexing whole ones takes seconds (npm run proof -- data-packs does).
    const rows: string[] = [];
    const cut = (_: string, value: unknown) => (typeof value === "string" ? value.slice(0, 300) : value);
    for await (const row of readRows(join(packs as string, "judgments_real.jsonl.zst")))
      if ("fields" in row) rows.push(JSON.stringify(row.fields, cut));
    const report = await bring("legal_cases", write("judgments_real.jsonl", list(...rows)));
    expect(report).toMatchObject({ rows: 861, records: 861, badRows: 0, duplicates: 40, size: 821 });
    expect(report.duplicateIds).toHaveLength(40);
    expect(await findDataset(database, index, "judgments_real")).toMatchObject({
      rows: 861,
      duplicates: 40,
      served: 821,
    });
  });
});

describe("the publisher of a data set", () => {
  const shown = async (name: string) => {
    const { imports } = datasetBody(await setOf(name)) as { imports: object[] };
    return imports[0];
  };
  const sourcesOf = async (prefix: string) => {
    index.forget(journals);
    const found: { name: string; retrieved_at: string }[] = [];
    for await (const body of index.documents(journals)) {
      const { name, source } = body as { name: string; source: { name: string; retrieved_at: string } };
      if (name.startsWith(prefix)) found.push(source);
    }
    return found;
  };

  test("is named if the README or the rows name it, with the day of retrieval", async () => {
    const rows = ["DOAJ", "DOAJ", "国家新闻出版署"].map((source, n) =>
      JSON.stringify({ title: `Stated ${n}`, issn: `9000-000${n}`, source }),
    );
    const path = write("stated.jsonl", list(...rows));
    write(
      "README.md",
      "Taken on 2026-03-04.\n\n| file | origin | licence |\n|---|---|---|\n| stated | DOAJ list | ODbL |\n",
    );
    await bring(journals, path);
    rmSync(join(files, "README.md"));
    expect(await shown("stated")).toMatchObject({
      publisher: "DOAJ list; 国家新闻出版署",
      licence: "ODbL",
    });
    for (const { retrieved_at } of await sourcesOf("Stated"))
      expect(retrieved_at).toBe("2026-03-04T00:00:00+08:00");
    await bring(journals, write("unstated.jsonl", journal(1_500)));
    expect(await shown("unstated")).toMatchObject({
      publisher: "The operator of this service",
      licence: null,
    });
  });

  test("keeps the stated day as long as the file is unchanged", async () => {
    const dataset = "dated";
    pages.set("/dated.jsonl", list(journal(1_600, "Dated")));
    pages.set("/more.jsonl", list(journal(1_601, "Dated more")));
    await bring(journals, `${base}/dated.jsonl`, { dataset, retrieved: "2026-01-31" });
    await bring(journals, `${base}/more.jsonl`, { dataset, update: true, retrieved: "2026-02-28" });
    pages.set("/more.jsonl", list(journal(1_602, "Dated more")));
    await refreshDataset(needs(), { target: journals, name: dataset });
    const days = (await sourcesOf("Dated")).map(({ retrieved_at }) => retrieved_at.slice(0, 10)).sort();
    expect(days).toEqual(["2026-01-31", chinaDate(new Date())]);
  });
});

describe("a data set", () => {
  test("is replaced by another file of the same name, or the same file with other options", async () => {
    const options = { dataset: "replaced" };
    await bring(journals, write("a.jsonl", many(100, 104)), options);
    expect(await bring(journals, write("a.jsonl", many(100, 104)), options)).toMatchObject({
      outcome: "unchanged",
    });
    expect(
      await bring(journals, write("a.jsonl", many(100, 104)), { ...options, licence: "MIT" }),
    ).toMatchObject({ outcome: "imported" });
    await bring(journals, write("b.jsonl", many(102, 107)), options);
    expect(await setOf("replaced")).toMatchObject({ served: 5, past: { served: 4 } });
  });

  test("is not replaced by one of less than half its size without confirmation", async () => {
    await bring(journals, write("large.jsonl", many(200, 210)));
    const small = write("large.jsonl", many(200, 204));
    await expect(bring(journals, small)).rejects.toThrow(
      "The data set large serves 10 records and would have 4. Pass --yes",
    );
    expect(await setOf("large")).toMatchObject({ served: 10 });
    expect(await bring(journals, write("large.jsonl", many(200, 205)))).toMatchObject({
      outcome: "imported",
    });
    expect(await bring(journals, write("large.jsonl", many(200, 201)), { yes: true })).toMatchObject({
      outcome: "imported",
    });
    expect(await setOf("large")).toMatchObject({ served: 1, past: { served: 5 } });
  });

  test("that was replaced or removed is restored with the options of its imports", async () => {
    const target = findTarget(journals);
    const options = { kind: "official", source: "Register" } as const;
    await bring(journals, write("undone.jsonl", many(300, 303)), options);
    const before = await namesOf(journals);
    await bring(journals, write("undone.jsonl", many(310, 319)));
    await restoreDataset(database, index, target, "undone");
    expect(await namesOf(journals)).toEqual(before);
    expect(await setOf("undone")).toMatchObject({
      served: 3,
      runs: [{ options }],
      past: { served: 9 },
    });
    await removeDataset(database, index, target, "undone");
    expect(await setOf("undone")).toMatchObject({ state: "removed", served: 0, past: { served: 3 } });
    expect(await namesOf(journals)).not.toContain("Journal 300");
    await expect(removeDataset(database, index, target, "undone")).rejects.toThrow("not found");
    expect(await restoreDataset(database, index, target, "undone")).toEqual({ served: 3 });
    expect(await namesOf(journals)).toEqual(before);
  });

  test("cannot be restored after 7 days", async () => {
    const target = findTarget(journals);
    await bring(journals, write("late.jsonl", many(400, 402)));
    await removeDataset(database, index, target, "late");
    await database.pool.query(
      "update dataset_past set restorable_until = now() - interval '1 second' where name = 'late'",
    );
    await expect(restoreDataset(database, index, target, "late")).rejects.toThrow("Nothing to restore");
    await expect(setOf("late")).rejects.toThrow("not found");
  });

  test("that is the last one of its operation leaves no data when removed", async () => {
    const target = findTarget("holidays");
    const row = { date: "2024-01-01", name: "元旦", off: true };
    await bring(target.name, write("last.jsonl", JSON.stringify(row)));
    await removeDataset(database, index, target, "last");
    index.forget(target.corpus);
    expect(await index.state(target.corpus)).toBeUndefined();
    expect(await restoreDataset(database, index, target, "last")).toEqual({ served: 1 });
  });
});

describe("lists of words", () => {
  const lexicon = findTarget("lexicon");
  const word = (...words: string[]) => list(...words.map((each) => JSON.stringify({ word: each })));
  const words = async () => [...(await index.lexicons.words())];

  test("are data sets: the words of a removed one leave the dictionary", async () => {
    await bring(lexicon.name, write("good.jsonl", word("合同纠纷", "立案")));
    const report = await bring(lexicon.name, write("bad.jsonl", word("条还款", "立案", "超过四个字的词语")));
    expect(report).toMatchObject({ records: 3, size: 5 });
    expect(await words()).toEqual(["合同纠纷", "条还款", "立案"].sort());
    const cut = async () => (await index.lexicons.newestAnalyser()).queryTerms("借条还款");
    const hidden = await cut();
    expect(hidden).toEqual(["借", "条还款"]);
    await removeDataset(database, index, lexicon, "bad");
    expect(await words()).toEqual(["合同纠纷", "立案"]);
    expect(await cut()).toEqual(["借条", "还款"]);
    await restoreDataset(database, index, lexicon, "bad");
    expect(await cut()).toEqual(hidden);
    await removeDataset(database, index, lexicon, "bad");
    await removeDataset(database, index, lexicon, "good");
    expect(await words()).toEqual([]);
  });

  test("of an older version become a data set that can be removed", async () => {
    await database.pool.query(
      `delete from dataset_fold where name = 'lexicon';
       insert into search_lexicon (version, words) values ('words-1+old', '{诉讼时效,管辖}')`,
    );
    const due = await findDue(database, new Date());
    expect(due.isFoldPending).toBe(true);
    await refreshDue(needs(), due);
    expect(await findDataset(database, index, "earlier-words", lexicon.name)).toMatchObject({ served: 2 });
    expect(await words()).toEqual(["管辖", "诉讼时效"]);
    await removeDataset(database, index, lexicon, "earlier-words");
    expect(await words()).toEqual([]);
    expect((await findDue(database, new Date())).isFoldPending).toBe(false);
  });
});

describe("an address", () => {
  test("shares neither file nor data set with another that ends the same way", async () => {
    pages.set("/one/data.jsonl", many(500, 502));
    pages.set("/two/data.jsonl", many(502, 505));
    const [one, two] = [
      await bring(journals, `${base}/one/data.jsonl`),
      await bring(journals, `${base}/two/data.jsonl`),
    ];
    expect([one.records, two.records]).toEqual([2, 3]);
    expect(one.dataset).not.toBe(two.dataset);
    expect(one.dataset).toMatch(/\/one\/data$/);
    const names = await namesOf(journals);
    for (const issn of [500, 504]) expect(names).toContain(`Journal ${issn}`);
  });
});

describe("a refresh", () => {
  const dataset = "series";
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

  test("repeats an import and its update, with their options", async () => {
    pages.set("/a.jsonl", list(journal(600), journal(601), journal(602)));
    pages.set("/b.jsonl", list(journal(602, "From B")));
    const official = { kind: "official", source: "Office", licence: "CC0" } as const;
    await bring(journals, `${base}/a.jsonl`, { ...official, dataset });
    await bring(journals, `${base}/b.jsonl`, { dataset, update: true });
    expect(await setOf(dataset)).toMatchObject({ served: 3 });
    pages.set("/b.jsonl", list(journal(602, "From new B"), journal(603)));
    await refreshDataset(needs(), { target: journals, name: dataset });
    expect(await setOf(dataset)).toMatchObject({
      served: 4,
      rows: 5,
      duplicates: 1,
      runs: [
        { origin: `${base}/a.jsonl`, options: { ...official, mode: "replace" } },
        { origin: `${base}/b.jsonl`, options: { mode: "update", kind: "third_party" } },
      ],
    });
    const names = await namesOf(journals);
    expect(names).toContain("From new B");
    expect(names).not.toContain("From B");
  });

  test("keeps the records if an address fails or its file has shrunk, and tries again tomorrow", async () => {
    for (const page of [undefined, list(journal(600))]) {
      if (page === undefined) pages.delete("/a.jsonl");
      else pages.set("/a.jsonl", page);
      if (page !== undefined) pages.set("/b.jsonl", list(journal(600)));
      const lines: string[] = [];
      await refreshDataset(
        { ...needs(), progress: (line) => lines.push(line) },
        { target: journals, name: dataset },
      );
      expect(lines.join()).toMatch(/series keeps its records: .*(404|would have 1)/);
      expect(await setOf(dataset)).toMatchObject({ served: 4 });
      expect((await findDue(database, inDays(1.1))).datasets).toContainEqual({
        target: journals,
        name: dataset,
      });
    }
  });

  test("of a data set is not postponed by its updates, nor by imports of others", async () => {
    await database.pool.query(
      "update dataset set next_refresh_at = now() + interval '2 days' where name = $1",
      [dataset],
    );
    const before = (await setOf(dataset)).nextRefreshAt;
    pages.set("/c.jsonl", list(journal(605)));
    await bring(journals, `${base}/c.jsonl`, { dataset, update: true });
    await bring(journals, write("other.jsonl", many(700, 702)));
    expect((await setOf(dataset)).nextRefreshAt).toEqual(before);
    expect((await findDue(database, inDays(2.1))).datasets).toContainEqual({
      target: journals,
      name: dataset,
    });
  });

  test("ignores changes of a local file that nobody imported", async () => {
    const path = write("local.jsonl", many(800, 803));
    pages.set("/more.jsonl", list(journal(810)));
    await bring(journals, path, { dataset: "mixed" });
    await bring(journals, `${base}/more.jsonl`, { dataset: "mixed", update: true });
    write("local.jsonl", many(820, 823));
    pages.set("/more.jsonl", list(journal(811)));
    const lines: string[] = [];
    await refreshDataset(
      { ...needs(), progress: (line) => lines.push(line) },
      { target: journals, name: "mixed" },
    );
    expect(lines.join()).toContain("local.jsonl has changed since its import");
    expect(await namesOf(journals)).toContain("Journal 800");
  });
});

describe("packs of laws", () => {
  const law = (name: string, date: string, text: string) =>
    JSON.stringify({ category: "经济法", title: name, version_date: date, text: `第一条 ${text}` });
  const texts = async () => {
    index.forget("legal_laws");
    const found: string[] = [];
    for await (const body of index.documents("legal_laws"))
      for (const { content } of (body as { versions: { content: string }[] }).versions) found.push(content);
    return found.sort();
  };

  test("are data sets like others: replaced, removed and restored by name", async () => {
    const target = findTarget("legal_laws");
    await bring("legal_laws", write("old.jsonl", law("测试法", "2010-05-01", "旧文")));
    await bring("legal_laws", write("new.jsonl", law("测试法", "2020-05-01", "新文")));
    expect(await texts()).toEqual(["新文", "旧文"]);
    await bring("legal_laws", write("other.jsonl", law("测试法", "2021-05-01", "另文")), { dataset: "new" });
    expect(await texts()).toEqual(["另文", "旧文"]);
    await removeDataset(database, index, target, "old");
    expect(await texts()).toEqual(["另文"]);
    await restoreDataset(database, index, target, "new");
    await restoreDataset(database, index, target, "old");
    expect(await texts()).toEqual(["新文", "旧文"]);
    const all = await listDatasets(database, index);
    expect(all.filter((each) => each.target === "legal_laws").map(({ name }) => name)).toEqual([
      "new",
      "old",
    ]);
  });

  test("keep a version that another removed pack also had", async () => {
    const target = findTarget("legal_laws");
    await bring("legal_laws", write("twin.jsonl", law("测试法", "2020-05-01", "新文")));
    await removeDataset(database, index, target, "new");
    expect(await texts()).toEqual(["新文", "旧文"]);
  });

  test("are folded again after a process was killed in between", async () => {
    await database.pool.query("update dataset_fold set made_from = 'before'");
    const due = await findDue(database, new Date());
    expect(due.isFoldPending).toBe(true);
    await refreshDue(needs(), due);
    expect((await findDue(database, new Date())).isFoldPending).toBe(false);
    expect(await texts()).toEqual(["新文", "旧文"]);
  });

  test("are folded again by the same import after one was interrupted in between", async () => {
    await database.pool.query("update dataset_fold set made_from = 'before' where name = 'laws'");
    const again = await bring("legal_laws", write("twin.jsonl", law("测试法", "2020-05-01", "新文")));
    expect(again).toMatchObject({ outcome: "unchanged", size: 1 });
    expect((await findDue(database, new Date())).isFoldPending).toBe(false);
  });

  test("that an older version folded without storing them stay, as a data set", async () => {
    await database.pool.query(
      "delete from dataset where target = 'legal_laws'; delete from dataset_fold; delete from search_corpus where corpus = 'legal_laws#packs'",
    );
    index.forget("legal_laws#packs");
    const due = await findDue(database, new Date());
    expect(due.isFoldPending).toBe(true);
    await refreshDue(needs(), due);
    expect(await findDataset(database, index, "laws", "legal_laws")).toMatchObject({ state: "serving" });
    await bring("legal_laws", write("later.jsonl", law("另一法", "2022-01-01", "别的")));
    expect(await texts()).toEqual(["别的", "新文", "旧文"]);
    expect(await findDataset(database, index, "laws", "legal_laws")).toMatchObject({ served: 2 });
  });
});
