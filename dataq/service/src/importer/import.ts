import type { Database } from "../database/database.ts";
import type { PostingIndex } from "../search/postings/posting-index.ts";
import { ImportError, saidOf } from "./import-error.ts";
import { datasetOf, type ImportOptions, type ImportReport, importFile } from "./import-file.ts";
import { importLexicon } from "./import-lexicon.ts";
import { importCatalog } from "./laws/import-catalog.ts";
import { importLaws, type LawImport } from "./laws/import-laws.ts";
import { inEnglish, say } from "./message.ts";
import type { LocalFile } from "./origin/origin.ts";
import type { Publication } from "./provenance.ts";
import { isImported, Run } from "./runs.ts";
import { findTarget, targets } from "./targets/targets.ts";

const foldedTargets = { legal_laws: importLaws, legal_law_catalog: importCatalog } as const;

/** Names that `dataq import` takes. */
export const importNames: readonly string[] = [
  ...Object.keys(foldedTargets),
  ...targets.map(({ name }) => name),
  "lexicon",
];

/** Imports a file of any target. */
export async function importAny(
  database: Database,
  index: PostingIndex,
  name: string,
  file: LocalFile,
  publication: Publication,
  options: ImportOptions,
): Promise<ImportReport> {
  if (name === "legal_laws" || name === "legal_law_catalog") {
    return recorded(database, name, file, options, () =>
      foldedTargets[name](index, file, publication, options),
    );
  }
  if (name === "lexicon") {
    return recorded(database, name, file, options, async () => {
      const { version, ...read } = await importLexicon(index, file, options);
      if (version !== null) options.progress?.(say("new_dictionary", { version }));
      return { ...read, laws: 0, size: read.rows };
    });
  }
  const target = findTarget(name);
  if (target === undefined) throw new ImportError("unknown_target", { name, targets: importNames });
  return importFile(database, index, target, file, publication, options);
}

/** Runs an import that is not row by row, and reports it as the others. */
async function recorded(
  database: Database,
  name: string,
  file: LocalFile,
  options: ImportOptions,
  run: () => Promise<LawImport>,
): Promise<ImportReport> {
  const dataset = options.dataset ?? datasetOf(file.name);
  const base = { target: name, dataset, passedOver: 0 };
  const report = (
    { rows, size, badRows, fields }: LawImport,
    outcome: ImportReport["outcome"],
  ): ImportReport => ({
    ...base,
    outcome,
    fields,
    rows,
    records: rows,
    badRows: badRows.length,
    problems: badRows
      .slice(0, 50)
      .map(({ row, problem }) => ({ line: Number(/\d+/.exec(row)?.[0] ?? 0), problem: inEnglish(problem) })),
    size: outcome === "dry_run" ? null : size,
  });
  if (options.dryRun === true) return report(await run(), "dry_run");
  if (options.again !== true && (await isImported(database, name, dataset, file.sha256))) {
    return report({ rows: 0, laws: 0, size: 0, badRows: [], fields: {} }, "unchanged");
  }
  const started = await Run.start(database, {
    target: name,
    dataset,
    origin: file.origin,
    sha256: file.sha256,
  });
  try {
    const result = await run();
    await started.finish("done", result.rows, result.badRows.length, null);
    return report(result, "imported");
  } catch (error) {
    await started.finish("failed", 0, 0, saidOf(error)).catch(() => {});
    throw error;
  }
}
