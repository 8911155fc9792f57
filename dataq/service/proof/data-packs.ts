import { join } from "node:path";
import { importAny } from "../src/importer/import.ts";
import { fetchOrigin } from "../src/importer/origin/origin.ts";
import { PostingIndex } from "../src/search/postings/posting-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";

export const title = "dataq: every data pack imports";

/** What each pack is imported as, in an order in which words for the segmenter come first. */
const packs = {
  legal_lexicon: "lexicon",
  admin_divisions: "divisions",
  holidays: "holidays",
  companies_gleif_cn: "company_names",
  law_catalog: "legal_law_catalog",
  law_articles: "legal_laws",
  law_versions_md: "legal_laws",
  laws_current_md: "legal_laws",
  judgments_real: "legal_cases",
  hot_rank_weibo: "content_hot_rank",
  hot_rank_zhihu: "content_hot_rank",
  hot_rank_multi: "content_hot_rank",
  hot_rank_11_platforms: "content_hot_rank",
  papers_zh_csl: "research_paper_search",
  papers_arxiv: "research_paper_search",
  journals: "research_journal_search",
};

/** Imports the packs of TEST_DATA one after the other into one database. Fails at the first that does not import. */
export async function run(print: (line: string) => void): Promise<void> {
  const from = process.env["TEST_DATA"];
  if (from === undefined) throw new Error("Set TEST_DATA to the folder with the data packs.");
  const folder = await makeDataFolder("tables");
  const database = await openFolder(folder);
  try {
    const index = new PostingIndex(database);
    print("| pack | as | rows | bad rows | records that serve | seconds |");
    print("| --- | --- | ---: | ---: | ---: | ---: |");
    for (const [pack, target] of Object.entries(packs)) {
      const begun = performance.now();
      const file = await fetchOrigin(join(from, `${pack}.jsonl.zst`), { folder });
      const publication = {
        name: pack,
        kind: "third_party" as const,
        url: null,
        licence: null,
        retrievedAt: new Date(),
      };
      const { outcome, rows, badRows, size } = await importAny(
        database,
        index,
        target,
        file,
        publication,
        {},
      );
      if (outcome !== "imported") throw new Error(`${pack}: ${outcome}`);
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      print(`| ${pack} | ${target} | ${rows} | ${badRows} | ${size} | ${seconds} |`);
    }
  } finally {
    await database.close();
    await removeDataFolder(folder);
  }
}
