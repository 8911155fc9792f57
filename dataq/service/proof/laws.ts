import { join } from "node:path";
import { fetchOrigin } from "../src/importer/origin/origin.ts";
import { importAny } from "../src/operations/imports.ts";
import type { StoredArticle } from "../src/operations/legal/laws/corpus.ts";
import { articleRecord } from "../src/operations/legal/laws/record.ts";
import { createSources } from "../src/operations/sources.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { articleOf, foldPacks, inEveryOrder, readPack } from "../test/law-packs.ts";
import { knownArticles, lawNames } from "../test/law-table.ts";
import { plain, rawVersions } from "./laws/last-articles.ts";

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
  const faults = await againstLastArticles(folder, expected.articles);
  print(
    `| articles in force of the 50 laws whose number, words and state are not those of the law's last text | ${faults.length} of ${expected.articles.filter(isOf50).length.toLocaleString("en")} |`,
  );
  await askForNames(folder, print);
  for (const fault of faults) print(fault);
}

const isOf50 = ({ law_name }: StoredArticle) => lawNames.includes(law_name.replace("中华人民共和国", ""));

/** Compares what is said to be in force with the last text of each law, read from the packs without the import. */
async function againstLastArticles(
  packFolder: string,
  articles: readonly StoredArticle[],
): Promise<string[]> {
  const raw = await rawVersions(packFolder);
  const today = now.toISOString().slice(0, 10);
  const faults: string[] = [];
  for (const name of lawNames) {
    const own = articles.filter(
      (article) =>
        isOf50(article) &&
        article.law_name.endsWith(name) &&
        article.law_name.replace("中华人民共和国", "") === name,
    );
    const versions = (raw.get(name) ?? []).filter(({ from }) => from <= today);
    const lastPassed = versions
      .map(({ passed }) => passed)
      .sort()
      .at(-1);
    // A text without a day may be the last one.
    const last = versions.filter(({ passed }) => passed === lastPassed || passed === "");
    if (last.length === 0) {
      faults.push(`${name}: no text`);
      continue;
    }
    const inForce = new Map<string, string>();
    for (const article of own) {
      const record = articleRecord(article, now);
      if (record.status === "in_force") inForce.set(article.id.split(":")[1]!, plain(record.content));
    }
    for (const [number, words] of inForce) {
      // A heading or a list of annexes may follow the words in a raw text.
      if (last.some(({ articles }) => articles.get(number)?.startsWith(words))) continue;
      const text = last
        .map(({ articles }) => articles.get(number)?.slice(0, 40) ?? "no such article")
        .join(" / ");
      faults.push(`${name}:${number} in force: ${words.slice(0, 40)}; the text of ${lastPassed}: ${text}`);
    }
    const missing = last.map(({ articles }) =>
      [...articles].flatMap(([number, words]) =>
        words === "" || words === "删去" || inForce.has(number) ? [] : [number],
      ),
    );
    if (missing.every(({ length }) => length > 0))
      faults.push(
        `${name}: not in force, though in the text of ${lastPassed}: ${missing[0]!.slice(0, 20).join(" ")}`,
      );
  }
  return faults;
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
