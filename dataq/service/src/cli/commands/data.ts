import { copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { counted } from "@dataq/contract";
import Table from "cli-table3";
import { Command } from "commander";
import type { Config } from "../../config.ts";
import type { Database } from "../../database/database.ts";
import { ImportError } from "../../importer/import-error.ts";
import { inEnglish } from "../../importer/message.ts";
import { originOf, placesOf } from "../../importer/open-data/fetch-set.ts";
import {
  type AddressSet,
  bytesOf,
  type FileSet,
  fileSets,
  findSet,
  isOfAddress,
  isOfFiles,
  type OpenSet,
  openSets,
} from "../../importer/open-data/sets.ts";
import { digestOf } from "../../importer/origin/download.ts";
import { fetchOrigin } from "../../importer/origin/origin.ts";
import { getAddressSet, getSet, removeSet, type SetState, setStates } from "../../operations/open-data.ts";
import { openIndex } from "../../search/open-index.ts";
import type { SearchIndex } from "../../search/search-index.ts";
import { withOwnDatabase } from "../own-database.ts";
import { tell, tellingParent } from "../parent.ts";
import { askLive, collect, type LiveOptions, liveLines, readMost, reportDifferences } from "./live-set.ts";

/** `dataq data`: the catalogue of open data, and what of it is here. */
export function dataCommand(): Command {
  const command = new Command("data").description(
    "open data: real records for operations that have only samples (docs/dataq/open-data.md)",
  );
  command
    .command("list")
    .description("every set, what it makes real, and whether it is here")
    .option("--json", "print JSON")
    .action(({ json }: { json?: boolean }) =>
      onIndex(async (database, index) => {
        const states = await setStates(database, index);
        if (json === true)
          console.log(JSON.stringify([...states].map(([set, state]) => ({ ...set, state }))));
        else console.log(tableOf(states));
      }),
    );
  command
    .command("show")
    .description("coverage, publishers, licence and files of a set")
    .argument("<name>", "name of the set, as list shows it")
    .option("--json", "print JSON")
    .action((name: string, { json }: { json?: boolean }) => {
      const set = findSet(name);
      if (json === true) console.log(JSON.stringify(set));
      else for (const line of linesOf(set)) console.log(line);
    });
  command
    .command("get")
    .description("download and import sets; what is here already is not done again")
    .argument("[name...]", "names of sets, as list shows them")
    .option("--all", "every set of files that can be brought; publishers are asked live only by name")
    .option("-y, --yes", "ask a publisher live without a question at the terminal")
    .option("--list-only", "of a live set: only the list with states and dates, no texts")
    .option(
      "--most <texts>",
      "of a live set: no more texts than this, those that people ask for first",
      readMost,
    )
    .option(
      "--local <place>",
      "of a live set: also the local regulations of a place; may be repeated",
      collect,
    )
    .option("--whole", "of a live set: read all of the list again, not only what changed")
    .addHelpText("after", examples)
    .action((names: string[], { all, ...live }: { all?: boolean } & LiveOptions) => {
      if ((all === true) === names.length > 0)
        throw new Error("Name sets, or pass --all. See dataq data list.");
      return getAll(all === true ? fileSets() : names.map(findSet), live);
    });
  command
    .command("update")
    .description(
      "bring the sets that are here to what this version's catalogue has, and live ones to what is new",
    )
    .option("-y, --yes", "ask publishers live without a question at the terminal")
    .action((live: LiveOptions) =>
      onIndex(async (database, index, config) => {
        const states = [...(await setStates(database, index))];
        const old = states.filter(([set, state]) => state === (isOfFiles(set) ? "part" : "here"));
        if (old.length === 0) console.log("Every set that is here is as the catalogue has it.");
        // A publisher that nobody agreed to ask keeps no file from being updated.
        const filesFirst = old.toSorted(([a], [b]) => Number(isOfFiles(b)) - Number(isOfFiles(a)));
        for (const [set] of filesFirst)
          await getOne(set, database, index, config, { ...live, isUpdate: true });
      }),
    );
  command
    .command("remove")
    .description("remove what a set brought; it can be restored for 7 days: dataq datasets restore")
    .argument("<name>", "name of the set")
    .action((name: string) =>
      onIndex(async (database, index, config) => {
        const removed = await removeSet(needsOf(database, index, config), findSet(name));
        console.log(removed === 0 ? `${name} is not here.` : `${name} was removed.`);
      }),
    );
  command
    .command("report")
    .description("where the official list of laws and what is held differ")
    .argument("<name>", "national-laws")
    .option("--json", "print JSON")
    .action((name: string, { json }: { json?: boolean }) => {
      if (isOfFiles(findSet(name))) throw new Error(`${name} is no live set; only those have a report.`);
      return onIndex((_, index) => reportDifferences(index, json === true));
    });
  command
    .command("mirror")
    .description("copy the files of all sets into a folder, from which others can get them")
    .argument("<folder>", "created if it does not exist; may be served over http as it is")
    .action((folder: string) => onConfig((config) => makeMirror(resolve(folder), config)));
  command
    .command("check")
    .description("say whether the mirror has every file with the length and digest that the catalogue states")
    .action(() => onConfig(checkMirror));
  return command;
}

const examples = `
Examples:
  dataq data get judgments-criminal papers-arxiv
  dataq data get national-laws --list-only
  DATAQ_DATA_MIRROR=https://mirror.example/dataq dataq data get --all
  DATAQ_DATA_MIRROR=/media/usb/dataq dataq data get --all`;

/** A set that cannot be brought does not stop the others. */
async function getAll(sets: readonly OpenSet[], live: LiveOptions): Promise<void> {
  await onIndex(async (database, index, config) => {
    const failed: string[] = [];
    for (const set of sets) {
      try {
        await getOne(set, database, index, config, live);
      } catch (error) {
        if (sets.length === 1 || !(error instanceof ImportError)) throw error;
        console.log(`${set.name}: ${error.message}`);
        failed.push(set.name);
      }
    }
    if (failed.length > 0)
      throw new Error(`${counted(failed.length, "set")} could not be brought: ${failed.join(", ")}.`);
  });
}

async function getOne(
  set: OpenSet,
  database: Database,
  index: SearchIndex,
  config: Config,
  live: LiveOptions & { readonly isUpdate?: boolean },
): Promise<void> {
  if (isOfAddress(set)) return getNewest(set, database, index, config, live.isUpdate === true);
  if (!isOfFiles(set)) return askLive(set, database, index, config, live);
  const isHere = (await setStates(database, index)).get(set) === "here";
  if (isHere) return console.log(`${set.name}: is here already.`);
  console.error(`${set.name}: licence ${set.licence.en}.${set.duties === null ? "" : ` ${set.duties.en}`}`);
  const reports = await getSet(needsOf(database, index, config), set);
  if (reports.length === 0) console.log(`${set.name}: was here; what is made from it is finished now.`);
  for (const { target, records, badRows, outcome, size } of reports)
    console.log(
      outcome === "unchanged"
        ? `${set.name}: ${target} has it already.`
        : `${set.name}: ${counted(records, "record")} imported, ${counted(badRows, "row")} refused; ${target} now serves ${counted(size ?? 0, "record")}.`,
    );
}

/** A set that its publisher replaces: brought once, and again with `data update`. */
async function getNewest(
  set: AddressSet,
  database: Database,
  index: SearchIndex,
  config: Config,
  isUpdate: boolean,
): Promise<void> {
  const isHere = (await setStates(database, index)).get(set) === "here";
  if (isHere && !isUpdate)
    return console.log(`${set.name}: is here already; "dataq data update" brings its publisher's newest.`);
  console.error(`${set.name}: licence ${set.licence.en}.${set.duties === null ? "" : ` ${set.duties.en}`}`);
  console.error(`From ${set.address}, about ${(set.bytes / 1e6).toFixed(0)} MB.`);
  for (const { target, records, badRows, passedOver, outcome, size } of await getAddressSet(
    needsOf(database, index, config),
    set,
  ))
    console.log(
      outcome === "unchanged"
        ? `${set.name}: ${target} has it already.`
        : `${set.name}: ${counted(records, "record")} imported, ${counted(badRows, "row")} refused, ${counted(passedOver, "other row")} passed over; ${target} now serves ${counted(size ?? 0, "record")}.`,
    );
}

function needsOf(database: Database, index: SearchIndex, { dataFolder, dataMirror: mirror }: Config) {
  return { database, index, dataFolder, mirror, progress: tell };
}

function onIndex(
  run: (database: Database, index: SearchIndex, config: Config) => Promise<void>,
): Promise<void> {
  return tellingParent(() =>
    withOwnDatabase({ applicationName: "dataq data", poolSize: 1 }, async (database, config) =>
      run(database, await openIndex(database, config.search), config),
    ),
  );
}

async function onConfig(run: (config: Config) => Promise<void>): Promise<void> {
  const { readConfig } = await import("../../config.ts");
  await run(readConfig());
}

/** A folder with `sha256/<digest>` for each file. A file appears there whole or not at all. */
async function makeMirror(folder: string, { dataFolder, dataMirror: mirror }: Config): Promise<void> {
  await mkdir(join(folder, "sha256"), { recursive: true });
  const missing: string[] = [];
  for (const set of fileSets())
    for (const file of set.files) {
      const [place] = placesOf(file);
      const path = join(folder, place);
      if ((await digestOf(path)) === file.sha256) continue;
      try {
        const options = { folder: join(dataFolder, "downloads"), mirror, progress: tell };
        const found = await fetchOrigin(originOf(set, file), options);
        await copyFile(found.path, `${path}.partial`);
        await rename(`${path}.partial`, path);
        console.log(`${file.name}: copied.`);
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
        await rm(`${path}.partial`, { force: true });
        missing.push(file.name);
        console.log(`${file.name}: ${error.message}`);
      }
    }
  const names = fileSets().flatMap((set) => set.files.map(({ sha256, name }) => `${sha256}  ${name}\n`));
  await writeFile(join(folder, "SHA256SUMS"), [...new Set(names)].join(""));
  if (missing.length > 0) throw new Error(`The mirror lacks ${counted(missing.length, "file")}.`);
  console.log(`${folder} has all files. Others use it with DATAQ_DATA_MIRROR=${folder}`);
}

/** Names what is not as the catalogue says, and what cannot be reached from here. */
async function checkMirror({ dataMirror: mirror }: Config): Promise<void> {
  if (mirror === undefined)
    console.error("DATAQ_DATA_MIRROR names no mirror: only addresses of publishers are checked.");
  const { mkdtemp } = await import("node:fs/promises");
  const { tmpdir } = await import("node:os");
  const folder = await mkdtemp(join(tmpdir(), "dataq-check-"));
  let wrong = 0;
  try {
    for (const set of mirror === undefined ? [] : fileSets())
      for (const file of set.files) {
        try {
          await fetchOrigin(originOf(set, file), { folder, mirror });
          console.log(`${file.name}: ok`);
        } catch (error) {
          if (!(error instanceof ImportError)) throw error;
          const isOther = error.said.code === "set_other_digest" || error.said.code === "set_not_in_mirror";
          if (isOther) wrong++;
          console.log(`${file.name}: ${isOther ? "WRONG" : "not reached"}: ${inEnglish(error.said)}`);
        }
      }
    for (const set of openSets())
      if (isOfAddress(set)) console.log(`${set.file}: ${await answerOf(set)}`);
      else if (!isOfFiles(set)) console.log(`${set.name}: not asked: it is read live, only when you name it`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  if (wrong > 0) throw new Error(`${counted(wrong, "file is", "files are")} not as the catalogue says.`);
}

/** What the address of a file without a digest answers. Only its head is asked for. */
async function answerOf({ address }: AddressSet): Promise<string> {
  try {
    const { status, headers } = await fetch(address, { method: "HEAD", signal: AbortSignal.timeout(20_000) });
    const length = headers.get("content-length");
    return `${status === 200 ? "ok" : `answers with status ${status}`}, ${length === null ? "length not told" : `${length} bytes`}; it has no digest: ${address}`;
  } catch (error) {
    return `not reached: ${address}: ${((error as Error).cause as Error | undefined)?.message ?? (error as Error).message}`;
  }
}

const shownStates: Readonly<Record<SetState, string>> = { here: "here", part: "older", missing: "" };

function tableOf(states: ReadonlyMap<OpenSet, SetState>): string {
  const table = new Table({
    head: ["set", "makes real", "MB", "here", "what"],
    style: { head: [], border: [] },
  });
  for (const [set, state] of states)
    table.push([
      set.name,
      set.makes.join("\n"),
      isOfFiles(set) || isOfAddress(set) ? (bytesOf(set) / 1e6).toFixed(1) : "live",
      shownStates[state],
      `${set.title.en}\n${set.title.zh}`,
    ]);
  return table.toString();
}

function linesOf(set: OpenSet): string[] {
  return [
    `${set.name}: ${set.title.en} · ${set.title.zh}`,
    `Makes real: ${set.makes.join(", ") || "nothing by itself; it helps to make and find records"}`,
    `Holds: ${set.coverage.en}`,
    `内容：${set.coverage.zh}`,
    ...set.publishers.map(
      ({ name, at, url, licence, files = [] }) =>
        `From ${name} ${at}, ${licence ?? "no licence"}: ${url}${files.length > 0 ? ` (${files.join(", ")})` : ""}`,
    ),
    `Licence: ${set.licence.en}${set.duties === null ? "" : `. ${set.duties.en}`}`,
    ...(set.duties === null ? [] : [`许可证要求：${set.duties.zh}`]),
    ...(isOfFiles(set) ? fileLines(set) : isOfAddress(set) ? addressLines(set) : liveLines(set)),
  ];
}

function addressLines({ address, bytes, rows, described, seconds }: AddressSet): string[] {
  const where = Object.entries(rows.where).map(([column, values]) => `${column} ${values.join(" or ")}`);
  return [
    `From ${address}, about ${(bytes / 1e6).toFixed(0)} MB, an import takes about ${counted(seconds, "second")}. Its publisher replaces it, so that it has no digest; "dataq data update" brings the newest.`,
    ...(where.length > 0 ? [`Only rows with ${where.join(", ")}.`] : []),
    `Described from public programs on ${described}; never run against the real publisher.`,
  ];
}

function fileLines(set: FileSet): string[] {
  return [
    `Taken on ${set.taken}; an import takes about ${counted(set.seconds, "second")}.`,
    ...set.files.map(
      ({ name, bytes, sha256 }) => `File ${name}, ${counted(bytes, "byte")}, SHA-256 ${sha256}`,
    ),
    ...(set.package === null ? [] : [`Without a mirror it comes from the Python package ${set.package}.`]),
  ];
}
