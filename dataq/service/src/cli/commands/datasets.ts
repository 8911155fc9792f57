import { counted } from "@dataq/contract";
import Table from "cli-table3";
import { Command } from "commander";
import type { Database } from "../../database/database.ts";
import { datasetBody } from "../../importer/dataset-body.ts";
import {
  type Dataset,
  findDataset,
  listDatasets,
  removeDataset,
  restorableDays,
  restoreDataset,
} from "../../importer/datasets.ts";
import { say } from "../../importer/message.ts";
import { licenceOf, publisherOf } from "../../importer/runs.ts";
import { findTarget } from "../../operations/imports.ts";
import { openIndex } from "../../search/open-index.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import { count } from "../numbers.ts";
import { withOwnDatabase } from "../own-database.ts";
import { tell, tellingParent } from "../parent.ts";

interface Options {
  readonly operation?: string;
  readonly json?: boolean;
}

/** `dataq datasets`: lists what was imported, and removes or restores it. */
export function datasetsCommand(): Command {
  const command = new Command("datasets").description("list, inspect, remove and restore imported data sets");
  command
    .command("list")
    .description("every data set, and the removed ones that can be restored")
    .option("--json", "print JSON")
    .action(async ({ json }: Options) => {
      const all = await onIndex((database, index) => listDatasets(database, index));
      if (json === true) console.log(JSON.stringify(all.map(datasetBody)));
      else if (all.length === 0) console.log("No data set is imported yet. See dataq import --help.");
      else console.log(tableOf(all));
    });
  onOne(
    command,
    "show",
    "show the outcome of every row and where the records come from",
    async (set, json) => {
      if (json) console.log(JSON.stringify(datasetBody(set)));
      else for (const line of linesOf(set)) console.log(line);
    },
  );
  onOne(command, "remove", `remove the records from the service`, async (set, json, database, index) => {
    await removeDataset(database, index, findTarget(set.target), set.name, { progress: tell });
    tell(say("dataset_removed", { name: set.name, days: restorableDays }));
    if (json) console.log(JSON.stringify({ name: set.name, operation: set.target, removed: set.served }));
  });
  onOne(
    command,
    "restore",
    `restore the previous state of a data set that was replaced or removed in the last ${restorableDays} days`,
    async (set, json, database, index) => {
      const target = findTarget(set.target);
      const { served } = await restoreDataset(database, index, target, set.name, { progress: tell });
      tell(say("dataset_restored", { name: set.name, served }));
      if (json) console.log(JSON.stringify({ name: set.name, operation: set.target, served }));
    },
  );
  return command;
}

function onOne(
  command: Command,
  name: string,
  description: string,
  run: (set: Dataset, json: boolean, database: Database, index: SearchIndex) => Promise<void>,
): void {
  command
    .command(name)
    .description(description)
    .argument("<name>", "name of the data set, as list shows it")
    .option("--operation <name>", "the operation, if several have a data set of that name")
    .option("--json", "print JSON")
    .action((dataset: string, { operation, json }: Options) =>
      onIndex(async (database, index) =>
        run(await findDataset(database, index, dataset, operation), json === true, database, index),
      ),
    );
}

function onIndex<Result>(run: (database: Database, index: SearchIndex) => Promise<Result>): Promise<Result> {
  return tellingParent(() =>
    withOwnDatabase({ applicationName: "dataq datasets", poolSize: 1 }, async (database, { search }) =>
      run(database, await openIndex(database, search)),
    ),
  );
}

function tableOf(all: readonly Dataset[]): string {
  const table = new Table({
    head: [
      "data set",
      "operation",
      "served",
      "rows",
      "refused",
      "duplicates",
      "publisher",
      "kind",
      "changed",
    ],
    style: { head: [], border: [] },
  });
  for (const set of all) {
    const first = set.runs[0];
    table.push([
      set.name,
      set.target,
      set.state === "removed" ? "removed" : count(set.served),
      set.rows === null ? "?" : count(set.rows),
      count(set.refused),
      count(set.duplicates),
      (first && publisherOf(first)) ?? "",
      first?.options.kind ?? "",
      dayOf(set.changedAt),
    ]);
  }
  return table.toString();
}

function linesOf(set: Dataset): string[] {
  const { served, duplicates, refused, passedOver, records, rows, past } = set;
  const ids = set.runs.flatMap((run) => run.duplicate_ids);
  const others = passedOver > 0 ? ` + ${count(passedOver)} for other operations` : "";
  const isRowByRow = rows === records + refused + passedOver;
  return [
    `${set.name} (${set.target})${set.state === "removed" ? ", removed" : ""}`,
    ...(set.state === "removed"
      ? []
      : [
          isRowByRow
            ? `${counted(rows ?? 0, "row")} read = ${count(served)} served + ${counted(duplicates, "duplicate")} + ${count(refused)} refused${others}`
            : `${rows === null ? "An unknown number of rows" : counted(rows, "row")} read (${count(refused)} refused${others}) made ${counted(records, "record")} = ${count(served)} served + ${counted(duplicates, "duplicate")}`,
        ]),
    ...(ids.length > 0
      ? [
          `Duplicates: ${ids.join(", ")}${duplicates > ids.length ? ` and ${count(duplicates - ids.length)} more` : ""}`,
        ]
      : []),
    ...set.runs.map(
      (run) =>
        `${run.options.mode === "replace" ? "Imported" : "Updated"} ${dayOf(run.updated_at)} from ${run.origin}; publisher ${publisherOf(run) ?? "not known"}, ${run.options.kind}, licence ${licenceOf(run) ?? "not stated"}`,
    ),
    ...(set.nextRefreshAt === null ? [] : [`Next refresh: ${dayOf(set.nextRefreshAt)}`]),
    ...(past === null
      ? []
      : [
          `Restorable until ${dayOf(past.restorableUntil)}: ${counted(past.served, "record")} that served until ${dayOf(past.endedAt)}`,
        ]),
  ];
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
