import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { zstdDecompressSync } from "node:zlib";
import type { Database } from "../src/database/database.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import { environmentOf, makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { importPack } from "../test/pack.ts";

export const title = "dataq: every data pack imports, with bad rows and kills too";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

/** The import target of each pack. Words for the segmenter come first. */
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

/**
 * Packs that are imported again with bad lines while the import is killed: one folded pack, one imported row
 * by row, and one that replaces generated records.
 */
const killed = ["journals", "judgments_real", "law_versions_md"] as const;
const kills = 5;
const badEvery = 100;

/**
 * Imports the packs of TEST_DATA one after the other into one database. Then imports some of them again with
 * every hundredth line truncated, and kills the import at several points: the old data must stay in service.
 * Finally completes the import, which must name every bad line. Fails at the first deviation.
 */
export async function run(print: (line: string) => void): Promise<void> {
  const from = process.env["TEST_DATA"];
  if (from === undefined) throw new Error("Set TEST_DATA to the folder with the data packs.");
  const folder = await makeDataFolder("tables");
  const database = await openFolder(folder);
  try {
    const index = embeddedIndex(database);
    print("| pack | as | rows | bad rows | records that serve | seconds |");
    print("| --- | --- | ---: | ---: | ---: | ---: |");
    const took = new Map<string, number>();
    for (const [pack, target] of Object.entries(packs)) {
      const begun = performance.now();
      const place = { database, index, folder, packs: from };
      const { outcome, rows, badRows, size } = await importPack(place, pack, target);
      if (outcome !== "imported") throw new Error(`${pack}: ${outcome}`);
      took.set(pack, performance.now() - begun);
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      print(`| ${pack} | ${target} | ${rows} | ${badRows} | ${size} | ${seconds} |`);
    }
    print("\n| again with bad lines | kills amid it | snapshots that changed | rows | bad rows named |");
    print("| --- | ---: | ---: | ---: | ---: |");
    for (const pack of killed) {
      const spoilt = join(folder, `${pack}.jsonl`);
      const bad = spoil(join(from, `${pack}.jsonl.zst`), spoilt);
      const report = await killAmid(database, folder, packs[pack], spoilt, took.get(pack) as number);
      const named = report.problems.map(({ line }) => line);
      if (report.badRows !== bad.length || named.some((line, place) => line !== bad[place]))
        throw new Error(`${pack}: ${report.badRows} bad rows, of which ${named}, not ${bad}`);
      print(`| ${pack} | ${kills} | 0 | ${report.rows} | ${report.badRows} |`);
    }
  } finally {
    await database.close();
    await removeDataFolder(folder);
  }
}

/** Writes a pack in which some lines are cut off. Returns their numbers. */
function spoil(pack: string, to: string): number[] {
  const bad: number[] = [];
  const lines = zstdDecompressSync(readFileSync(pack)).toString().trimEnd().split("\n");
  const out = lines.map((line, place) => {
    if ((place + 1) % badEvery !== 0) return line;
    bad.push(place + 1);
    return line.slice(0, line.length / 2);
  });
  writeFileSync(to, out.join("\n"));
  return bad;
}

/** Kills an import repeatedly, each time a little later, and then lets it finish. */
async function killAmid(
  database: Database,
  folder: string,
  target: string,
  file: string,
  tookMs: number,
): Promise<{ rows: number; badRows: number; problems: { line: number }[] }> {
  const serving = async () => {
    const found = await database.pool.query("select corpus, snapshot from search_corpus order by corpus");
    return JSON.stringify(found.rows);
  };
  const before = await serving();
  const start = (options: { timeout?: number } = {}) =>
    new Promise<string>((resolve, reject) => {
      const args = ["--conditions=source", main, "import", target, file, "--json"];
      execFile(
        process.execPath,
        args,
        { env: environmentOf(folder), maxBuffer: 1 << 26, killSignal: "SIGKILL", ...options },
        (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
      );
    });
  for (let kill = 1; kill <= kills; kill++) {
    const timeout = Math.round(500 + (0.8 * tookMs * kill) / kills);
    const ended = await start({ timeout }).then(
      () => "done",
      ({ signal }: { signal?: string }) => signal,
    );
    if (ended !== "SIGKILL") throw new Error(`${target}: ended with ${ended} before it was killed`);
    if ((await serving()) !== before) throw new Error(`${target}: a killed import changed what serves`);
  }
  return JSON.parse(await start());
}
