import type { Database } from "../database/database.ts";
import { ImportError } from "../importer/import-error.ts";
import { type ImportOptions, type ImportReport, importFile } from "../importer/import-file.ts";
import { lexiconImport } from "../importer/import-lexicon.ts";
import { importWhole, type WholeImport } from "../importer/import-whole.ts";
import type { LocalFile } from "../importer/origin/origin.ts";
import type { Publication } from "../importer/provenance.ts";
import { referenceTargets } from "../importer/reference.ts";
import type { Target } from "../importer/target.ts";
import type { PostingIndex } from "../search/postings/posting-index.ts";
import { registry } from "./registry.ts";

const imports: readonly (Target | WholeImport)[] = [
  ...Object.values(registry).map((parts) => parts.import),
  ...referenceTargets,
  lexiconImport,
];

/** Names that `dataq import` takes. */
export const importNames: readonly string[] = imports.map(({ name }) => name);

/** What is imported row by row. */
export const targets: readonly Target[] = imports.filter((each) => "map" in each);

/** Imports a file of any target. */
export async function importAny(
  database: Database,
  index: PostingIndex,
  name: string,
  file: LocalFile,
  publication: Publication,
  options: ImportOptions,
): Promise<ImportReport> {
  const found = imports.find((each) => each.name === name);
  if (found === undefined) throw new ImportError("unknown_target", { name, targets: importNames });
  return "map" in found
    ? importFile(database, index, found, file, publication, options)
    : importWhole(database, index, found, file, publication, options);
}
