import { join } from "node:path";
import { fetchOrigin } from "../src/importer/origin/origin.ts";
import { importAny } from "../src/operations/imports.ts";
import { articleRecord } from "../src/operations/legal/laws/record.ts";
import { createSources } from "../src/operations/sources.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { articleOf, foldPacks, inEveryOrder, readPack } from "../test/law-packs.ts";
import { knownArticles, lawNames } from "../test/law-table.ts";

export const title =
  "dataq: three packs of laws in every order, the table of known articles, and 50 names of laws";

const packs = ["law_articles", "laws_current_md", "law_versions_md"];
const now = new Date("2026-11-22T04:00:00Z");

/** Needs TEST_DATA. Folds the whole packs in all six orders, each twice, then imports them and asks for the laws. */
export async function run(print: (line: string) => void): Promise<void> {
  const folder = process.env["TEST_DATA"];
  if (folder === undefined) return print("Skipped: TEST_DATA names no folder with the packs.");
  const place = (name: string) => join(folder, `${name}.jsonl.zst`);
  const catalogue = await readPack("law_catalog", place("law_catalog"));
  const read = await Promise.all(packs.map((name) => readPack(name, place(name))));
  const expected = foldPacks([...read, catalogue]);
  const text = JSON.stringify(expected.articles);
  let same = 0;
  const orders = inEveryOrder(read);
  for (const order of orders) {
    const once = foldPacks([catalogue, ...order]);
    const twice = foldPacks([...order, catalogue, ...order]);
    if (JSON.stringify(once.articles) === text && JSON.stringify(twice.articles) === text) same++;
  }
  const wrong = knownArticles.filter(({ id, starts, source: _, ...known }) => {
    const record = articleRecord(articleOf(expected, id), now);
    const found = {
      status: record.status,
      effective: record.effective_date,
      expired: record.expired_date,
      change: record.revisions.at(-1)?.change,
    };
    return (
      !record.content.replace(/\s/g, "").startsWith(starts) || JSON.stringify(found) !== JSON.stringify(known)
    );
  });
  print("| | |");
  print("| --- | --: |");
  print(`| articles | ${expected.articles.length.toLocaleString("en")} |`);
  print(`| orders of the three packs, once and twice, that fold to the same | ${same} of ${orders.length} |`);
  print(
    `| known articles with their text, status and dates | ${knownArticles.length - wrong.length} of ${knownArticles.length} |`,
  );
  print(`| versions held back | ${expected.heldBack.length} |`);
  await askForNames(folder, print);
}

async function askForNames(packFolder: string, print: (line: string) => void): Promise<void> {
  const folder = await makeDataFolder("tables");
  const database = await openFolder(folder);
  try {
    const index = embeddedIndex(database);
    for (const [target, name] of [
      ...packs.map((pack) => ["legal_laws", pack] as const),
      ["legal_law_catalog", "law_catalog"] as const,
    ]) {
      const file = await fetchOrigin(join(packFolder, `${name}.jsonl.zst`), { folder });
      await importAny(database, index, target, file, {});
    }
    const source = createSources({ index, samples: false }).find("legal_laws");
    const context = { signal: AbortSignal.timeout(600_000), now, sandbox: false };
    const strange: string[] = [];
    for (const name of lawNames) {
      const answer = await source?.run({ query: name }, { page: 1, pageSize: 10 }, context);
      const laws = (answer?.records ?? []).map((record) => (record as { law_name: string }).law_name);
      const isOther = (law: string) => law.replace("中华人民共和国", "") !== name;
      if (laws.length !== 10 || laws.some(isOther)) strange.push(`${name}: ${[...new Set(laws)].join(", ")}`);
    }
    print(
      `| names of laws whose first ten hits are that law's articles | ${lawNames.length - strange.length} of ${lawNames.length} |`,
    );
    for (const line of strange) print(line);
  } finally {
    await database.close();
    await removeDataFolder(folder);
  }
}
