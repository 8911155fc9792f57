import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Random } from "../../../fuzz/random.ts";
import { createSources } from "../src/operations/sources.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "../test/data-folder.ts";
import { importPack } from "../test/pack.ts";
import { articlesFor, sayOtherwise } from "../test/said-otherwise.ts";
import { depth } from "./judged/figures.ts";

export const title = "dataq: a question said in another way finds the same article";

/**
 * Needs TEST_DATA. Asks the questions of the dev half and of strangers that find a right article among the first
 * five, then each of them said otherwise, `--times` times (5) for each way. `--seed` (1). `--show` lists what is lost.
 */
export async function run(
  print: (line: string) => void,
  _: string,
  args: readonly string[] = [],
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: "1" },
      times: { type: "string", default: "5" },
      show: { type: "boolean", default: false },
    },
  });
  const packs = process.env["TEST_DATA"];
  if (packs === undefined) return print("Skipped: TEST_DATA names no folder with the packs.");
  const folder = await makeDataFolder("tables");
  const database = await openFolder(folder);
  const index = embeddedIndex(database);
  try {
    await importPack({ database, index, folder, packs }, "law_catalog", "legal_law_catalog");
    await importPack({ database, index, folder, packs }, "law_articles", "legal_laws");
    const ask = articlesFor(createSources({ index, samples: false }), depth);
    const asked = questions();
    const { rows, held } = await sayOtherwise(
      asked,
      ask,
      new Random(Number(values.seed)),
      Number(values.times),
    );
    print(
      `Seed ${values.seed}. ${held} of ${asked.length} questions find a right article among the first five.`,
    );
    print("");
    print("| said with | times | the same article is still among the first five | bar |");
    print("| --- | --: | --: | --: |");
    for (const { way, times, kept, bar } of rows)
      print(`| ${way} | ${times} | ${((100 * kept) / times).toFixed(1)} % | ${(100 * bar).toFixed(0)} % |`);
    if (values.show) for (const { way, lost } of rows) for (const line of lost) print(`\n${way}: ${line}`);
    const short = rows.filter(({ kept, times, bar }) => kept < bar * times);
    if (short.length > 0) throw new Error(`below the bar: ${short.map(({ way }) => way).join(", ")}`);
  } finally {
    await index.close();
    await database.close();
    await removeDataFolder(folder);
  }
}

/** Questions in words, with the articles that answer them. Articles by number are not asked: they are found by rule. */
function questions(): { query: string; right: string[] }[] {
  const dev = readFileSync(new URL("judged/dev.jsonl", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { kind: string; query: string; right: { articles?: string[] } })
    .flatMap(({ kind, query, right: { articles } }) =>
      kind === "question" && articles !== undefined ? [{ query, right: articles }] : [],
    );
  const strangers = ["questions.tsv", "second.tsv"].flatMap((name) =>
    readFileSync(new URL(`strangers/${name}`, import.meta.url), "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .flatMap((line) => {
        const [query = "", expected = ""] = line.split("\t");
        return /^\S+:\d/.test(expected) ? [{ query, right: expected.split(" ") }] : [];
      }),
  );
  return [...dev, ...strangers];
}
