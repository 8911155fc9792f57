import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figuresOf, meanOf } from "../proof/judged/figures.ts";
import type { Database } from "../src/database/database.ts";
import { createSources } from "../src/operations/sources.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { judgedQueries, missedQueries } from "./judged-queries.ts";
import { importPack } from "./pack.ts";

const packs = process.env["TEST_DATA"];
const hasPacks = packs !== undefined && existsSync(packs);

let folder: string;
let database: Database;
let index: SearchIndex;

/**
 * A tenth of each pack, and what the queries ask for. All records of the packs: npm run proof -- judged. They take
 * longer to import than everything else here.
 */
const wanted = new Set(judgedQueries.flatMap(({ expected }) => expected));
const lawsAsked = [...wanted].flatMap((id) => /^([^:]+[法典]):/.exec(id)?.[1] ?? []);
const isOfTenth = (_: unknown, place: number) => place % 10 === 0;
const tenth: Readonly<Record<string, Parameters<typeof importPack>[3]>> = {
  law_articles: ({ law_id, law_name }) =>
    Number.parseInt(String(law_id).slice(0, 8), 16) % 10 === 0 ||
    lawsAsked.some((name) => [name, `中华人民共和国${name}`].includes(String(law_name))),
  journals: (fields, place) =>
    isOfTenth(fields, place) || wanted.has(`journal:${fields["issn"] ?? fields["eissn"]}`),
};
const withId: Parameters<typeof importPack>[3] = (fields, place) =>
  isOfTenth(fields, place) || wanted.has(String(fields["id"]));

beforeAll(async () => {
  if (!hasPacks) return;
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  index = embeddedIndex(database);
  for (const [target, pack, keep] of [
    ["lexicon", "legal_lexicon"],
    ["legal_law_catalog", "law_catalog"],
    ["legal_laws", "law_articles", tenth["law_articles"]],
    ["legal_cases", "judgments_real", withId],
    ["research_paper_search", "papers_zh_csl", withId],
    ["research_paper_search", "papers_arxiv", withId],
    ["research_journal_search", "journals", tenth["journals"]],
  ] as const) {
    const report = await importPack({ database, index, folder, packs }, pack, target, keep);
    expect(report).toMatchObject({ outcome: "imported", badRows: 0 });
  }
}, 300_000);

afterAll(async () => {
  if (!hasPacks) return;
  await database.close();
  await removeDataFolder(folder);
});

test.skipIf(!hasPacks)(
  "60 judged queries: articles come first, the others are among the first ten (needs TEST_DATA; on all records: npm run proof -- judged)",
  async () => {
    expect(judgedQueries).toHaveLength(60);
    const { articles, others } = await missedQueries(createSources({ index, samples: false }));
    expect(articles).toEqual([]);
    // recall@10 of at least 0.9 over the 36 others.
    expect(others.length, others.join("\n")).toBeLessThanOrEqual(3);
  },
);

test("figures of a ranking count the first ten results only", () => {
  const right = new Set(["a", "b"]);
  expect(figuresOf(["a", "b", "x"], right)).toEqual({
    success1: 1,
    success5: 1,
    reciprocalRank: 1,
    ndcg10: 1,
  });
  const third = figuresOf(["x", "y", "a"], right);
  expect(third).toMatchObject({ success1: 0, success5: 1, reciprocalRank: 1 / 3 });
  // One of two right records at place 3: (1 / log2 4) / (1 / log2 2 + 1 / log2 3).
  expect(third.ndcg10).toBeCloseTo(0.3066, 4);
  const tenOthers = Array.from({ length: 10 }, (_, place) => `x${place}`);
  const none = { success1: 0, success5: 0, reciprocalRank: 0, ndcg10: 0 };
  expect(figuresOf([...tenOthers, "a"], right)).toEqual(none);
  expect(figuresOf([], right)).toEqual(none);
  expect(figuresOf([...tenOthers.slice(0, 5), "a"], right)).toMatchObject({
    success5: 0,
    reciprocalRank: 1 / 6,
  });
  const many = new Set([...tenOthers, "a", "b"]);
  expect(figuresOf(tenOthers, many).ndcg10).toBeCloseTo(1, 10);
  expect(meanOf([third, figuresOf([], right)]).success5).toBe(0.5);
});
