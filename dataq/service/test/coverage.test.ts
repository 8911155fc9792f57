import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import { rankingDocument } from "../src/operations/content/hot-rank/corpus.ts";
import { Coverages } from "../src/operations/coverage.ts";
import { lawEntryDocument } from "../src/operations/legal/law-catalog/corpus.ts";
import { createSources } from "../src/operations/sources.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { IndexDocument, SearchIndex } from "../src/search/search-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { told } from "./told.ts";

const catalogue = join(process.env["TEST_DATA"] ?? "/nowhere", "law_catalog.jsonl.zst");

let folder: string;
let database: Database;
let index: SearchIndex;
let coverages: Coverages;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  index = embeddedIndex(database, { now: () => Number.POSITIVE_INFINITY });
  coverages = new Coverages(index);
}, 120_000);

afterAll(async () => {
  await database.close();
  await removeDataFolder(folder);
});

const source = {
  name: "测试",
  kind: "third_party" as const,
  retrieved_at: "2026-01-01T08:00:00+08:00",
  content_sha256: "",
};

test("laws are counted by kind, whatever versions and data sets hold them, and missing kinds are said", async () => {
  const kinds = ["宪法", "法律", "行政法规", "司法解释", "部门规章", "地方性法规", "会议纪要", null];
  const entry = fc.record({
    name: fc.integer({ min: 0, max: 30 }).map((number) => `第${number}号法`),
    kind: fc.constantFrom(...kinds),
    year: fc.integer({ min: 1950, max: 2030 }),
    dataset: fc.constantFrom("甲", "乙"),
  });
  const draws = fc.array(entry, { minLength: 1, maxLength: 40 });
  for (const drawn of fc.sample(draws, { seed: 36, numRuns: 12 })) {
    // One law has one kind.
    const kindOf = new Map(drawn.map(({ name, kind }) => [name, kind]));
    for (const dataset of ["甲", "乙"]) {
      const mine = drawn.filter((each) => each.dataset === dataset);
      const documents = mine.map(({ name, year }, at) =>
        lawEntryDocument({
          law_id: `${dataset}${at}`,
          law_name: name,
          level_text: kindOf.get(name) ?? null,
          issuing_body: null,
          promulgated_date: null,
          effective_date: null,
          version_date: `${year}-05-01`,
          status_text: null,
          department: null,
          article_count: 1,
          source,
        }),
      );
      await refresh("legal_law_catalog", dataset, documents);
    }
    const coverage = await coverages.of("legal_law_catalog");
    expect(coverage?.records).toBe(drawn.length);
    const countOf = (...of: (string | null)[]) =>
      [...kindOf.values()].filter((kind) => of.includes(kind)).length;
    const expected = {
      "national law": countOf("宪法", "法律"),
      "administrative regulation": countOf("行政法规"),
      "judicial interpretation": countOf("司法解释"),
      "departmental rule": countOf("部门规章"),
      "local regulation": countOf("地方性法规"),
    };
    const unclassified = countOf("会议纪要", null);
    const counted = Object.fromEntries(coverage?.parts.map(({ what, count }) => [what.en, count]) ?? []);
    expect(counted).toEqual({ ...expected, ...(unclassified > 0 && { "unclassified text": unclassified }) });
    for (const [kind, count] of Object.entries(expected)) {
      const text = coverage?.text.en ?? "";
      if (count > 0) expect(text).toContain(`${count} ${kind}`);
      // What is not classified may be of this kind.
      else expect(text.includes(`no ${kind}s`)).toBe(unclassified === 0);
    }
  }
});

test("rankings are counted by platform, with the days that are held, and a day that is not is answered with them", async () => {
  const ranking = (platform: string, date: string) =>
    rankingDocument({ id: `${platform}:${date}`, platform, date, items: [], source });
  await refresh("content_hot_rank", "榜", [
    ranking("weibo", "2020-11-24"),
    ranking("weibo", "2026-08-23"),
    ranking("zhihu", "2024-02-29"),
  ]);
  const coverage = await coverages.of("content_hot_rank");
  const part = (name: string, count: number, oldest_day: string, newest_day: string) => ({
    what: { en: name, zh: name },
    count,
    oldest_day,
    newest_day,
  });
  expect(coverage).toEqual({
    text: {
      en: "2 platforms (weibo, zhihu), 2020-11-24 to 2026-08-23",
      zh: "2 个平台（weibo、zhihu），2020-11-24 至 2026-08-23",
    },
    records: 3,
    oldest_day: "2020-11-24",
    newest_day: "2026-08-23",
    parts: [part("weibo", 2, "2020-11-24", "2026-08-23"), part("zhihu", 1, "2024-02-29", "2024-02-29")],
  });
  const context = { signal: AbortSignal.timeout(10_000), now: new Date("2026-11-22"), sandbox: false };
  const sources = createSources({ index, samples: false });
  const page = { page: 1, pageSize: 20 };
  const asked = { platform: "weibo", date: "2019-01-01" };
  const answer = await sources.find("content_hot_rank")?.run(asked, page, context);
  expect(told(answer?.warnings ?? [])).toEqual([
    "This service does not have the ranking of weibo on 2019-01-01.",
    "Held here: 2 platforms (weibo, zhihu), 2020-11-24 to 2026-08-23.",
  ]);
  expect(answer).toMatchObject({ coverage: { oldest_day: "2020-11-24" }, notHeld: true });
  await index.refresh("content_hot_rank", each([]), { dataset: "榜", mode: "replace" });
  index.forget("content_hot_rank");
  expect(await coverages.of("content_hot_rank")).toBeNull();
});

test.skipIf(!existsSync(catalogue))(
  "the page on open data says how many laws the first start brings (needs TEST_DATA)",
  () => {
    const rows = zstdDecompressSync(readFileSync(catalogue)).toString().trim().split("\n");
    const names = new Set(rows.map((row) => (JSON.parse(row) as { law_name: string }).law_name));
    const page = readFileSync(join(import.meta.dirname, "../../../docs/dataq/open-data.md"), "utf8");
    expect(page).toContain(`${names.size} national laws`);
  },
);

test("an operation without imported records covers nothing", async () => {
  expect(await coverages.of("enterprise_company_detail")).toBeNull();
});

async function refresh(corpus: string, dataset: string, documents: readonly IndexDocument[]): Promise<void> {
  await index.refresh(corpus, each(documents), { dataset, mode: "replace" });
  index.forget(corpus);
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
