import type { Database } from "../database/database.ts";
import type { Fold } from "../importer/fold.ts";
import { ImportError } from "../importer/import-error.ts";
import { type ImportOptions, type ImportReport, importFile } from "../importer/import-file.ts";
import { lexiconTarget } from "../importer/lexicon.ts";
import type { LocalFile } from "../importer/origin/local-file.ts";
import { referenceTargets } from "../importer/reference.ts";
import type { Target } from "../importer/target.ts";
import type { SearchIndex } from "../search/search-index.ts";
import { officialListImport } from "./legal/laws/official/official-list.ts";
import { registry } from "./registry.ts";

/** Everything that is imported into data sets. */
export const targets: readonly Target[] = [
  ...Object.values(registry).flatMap((parts) => parts.import ?? []),
  ...referenceTargets,
  officialListImport,
  lexiconTarget,
];

/** All folds: data that is made from the records of several data sets. */
export const folds: readonly Fold[] = [
  ...new Set(targets.flatMap((target) => (target.fold === undefined ? [] : [target.fold]))),
];

/** Names that `dataq import` accepts. */
export const importNames: readonly string[] = [...targets.map(({ name }) => name)];

/** Throws if there is no import target of that name. */
export function findTarget(name: string): Target {
  const found = targets.find((target) => target.name === name);
  if (found === undefined) throw new ImportError("unknown_target", { name, targets: importNames });
  return found;
}

/** Imports a file of any target. */
export async function importAny(
  database: Database,
  index: SearchIndex,
  name: string,
  file: LocalFile,
  options: ImportOptions,
): Promise<ImportReport> {
  return importFile(database, index, findTarget(name), file, options);
}
