import { counted } from "@dataq/contract";
import { Command } from "commander";
import { refreshCorpus } from "../../background/refresh/refresh.ts";
import type { Config } from "../../config.ts";
import type { Database } from "../../database/database.ts";
import { lastRuns } from "../../importer/runs.ts";
import { buildLegalIndex, emptyLegalFill, fullSize } from "../../operations/legal/cases/fill.ts";
import { openIndex } from "../../search/open-index.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import { count } from "../numbers.ts";
import { withOwnDatabase } from "../own-database.ts";

/** `dataq index`: build and refresh search indexes while the old ones keep serving. */
export function indexCommand(): Command {
  const command = new Command("index").description("build, refresh and inspect search indexes");
  command
    .command("build")
    .description("refresh indexes now, while the old ones keep serving")
    .argument("[corpus...]", "operations whose index is refreshed (default: all)")
    .option(
      "--full",
      `fill the legal index up to ${fullSize.toLocaleString("en")} judgments with marked samples`,
    )
    .option("--no-fill", "remove these samples from the legal index")
    .action((corpora: string[], options: { full?: boolean; fill: boolean }) =>
      withIndex(async (database, index, { dataFolder, dataMirror: mirror }) => {
        if (!options.fill) {
          const { size } = await emptyLegalFill(index);
          console.log(`legal_cases: ${counted(size, "judgment is", "judgments are")} served, all imported.`);
          return;
        }
        if (options.full === true) {
          const { size, real } = await buildLegalIndex(database, index, { progress: tellOf("Building") });
          console.log(
            `legal_cases: ${counted(size, "judgment is", "judgments are")} served, ${count(real)} imported.`,
          );
          return;
        }
        const progress = (line: string) => console.error(line);
        const known = (await index.corpora())
          .map(({ corpus }) => corpus)
          .filter((corpus) => !corpus.endsWith("#packs"));
        const unknown = corpora.filter((corpus) => !known.includes(corpus));
        if (unknown.length > 0)
          throw new Error(
            known.length === 0
              ? "No index exists yet. Import records first: dataq import --help"
              : `No index of ${unknown.join(", ")}. Use one of ${known.join(", ")}.`,
          );
        for (const corpus of corpora.length > 0 ? corpora : known) {
          await refreshCorpus({ database, index, dataFolder, mirror, progress }, corpus);
        }
      }),
    );
  command
    .command("status")
    .description("show size and age of every index, and running builds")
    .option("--json", "print JSON")
    .action((options: { json?: boolean }) =>
      withIndex(async (database, index) => {
        const indexes = (await index.corpora()).filter(({ corpus }) => !corpus.endsWith("#packs"));
        const runs = (await lastRuns(database)).filter(({ state }) => state === "running");
        if (options.json === true) console.log(JSON.stringify({ indexes, running: runs }));
        else {
          for (const { corpus, size, refreshed_at, next_refresh_at } of indexes) {
            console.log(
              `${corpus}: ${counted(size, "document")}, refreshed ${refreshed_at}, next ${next_refresh_at ?? "never"}`,
            );
          }
          for (const { target, dataset, done, total } of runs) {
            console.log(`${target}: building ${dataset} ${done}/${total ?? "?"}`);
          }
        }
      }),
    );
  return command;
}

function withIndex(
  run: (database: Database, index: SearchIndex, config: Config) => Promise<void>,
): Promise<void> {
  return withOwnDatabase({ applicationName: "dataq index", poolSize: 1 }, async (database, config) =>
    run(database, await openIndex(database, config.search), config),
  );
}

/** Prints a line for every 5 %. */
function tellOf(what: string) {
  let told = 0;
  return (done: number, total: number) => {
    const part = Math.floor((20 * done) / Math.max(1, total));
    if (part <= told) return;
    told = part;
    console.error(`${what} ${done.toLocaleString("en")}/${total.toLocaleString("en")}`);
  };
}
