import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figuresOf, meanOf } from "../proof/judged/figures.ts";
import type { Database } from "../src/database/database.ts";
import { createSources } from "../src/operations/sources.ts";
import { PostingIndex } from "../src/search/postings/posting-index.ts";
import { WrittenRecord } from "../src/sources/written-record.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { judgedQueries } from "./judged-queries.ts";
import { importPack } from "./pack.ts";

const packs = process.env["TEST_DATA"];
const hasPacks = packs !== undefined && existsSync(packs);

let folder: string;
let database: Database;
let index: PostingIndex;

beforeAll(async () => {
  if (!hasPacks) return;
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  index = new PostingIndex(database);
  for (const [target, pack] of [
    ["lexicon", "legal_lexicon"],
    ["legal_law_catalog", "law_catalog"],
    ["legal_laws", "law_articles"],
    ["legal_cases", "judgments_real"],
    ["research_paper_search", "papers_zh_csl"],
    ["research_paper_search", "papers_arxiv"],
    ["research_journal_search", "journals"],
  ] as const) {
    const report = await importPack({ database, index, folder, packs }, pack, target);
    expect(report).toMatchObject({ outcome: "imported", badRows: 0 });
  }
}, 300_000);

afterAll(async () => {
  if (!hasPacks) return;
  await database.close();
  await removeDataFolder(folder);
});

test.skipIf(!hasPacks)(
  "60 judged queries: articles come first, the others are among the first ten (needs TEST_DATA)",
  async () => {
    expect(judgedQueries).toHaveLength(60);
    const sources = createSources({ index, samples: false });
    const missed: string[] = [];
    for (const { operation, query, expected } of judgedQueries) {
      const answer = await sources
        .find(operation)
        ?.run(
          { query },
          { page: 1, pageSize: 10 },
          { signal: AbortSignal.timeout(10_000), now: new Date(), sandbox: false },
        );
      const ids = (answer?.records ?? []).map((record) => {
        const fields = record instanceof WrittenRecord ? record.parse() : record;
        return (fields as { id: string }).id;
      });
      const isFound =
        operation === "legal_laws" ? ids[0] === expected[0] : expected.every((id) => ids.includes(id));
      if (!isFound) missed.push(`${operation} ${query}: ${ids.slice(0, 3).join(", ")}`);
    }
    expect(missed.filter((line) => line.startsWith("legal_laws"))).toEqual([]);
    // recall@10 of at least 0.9 over the 36 others.
    expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(3);
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
