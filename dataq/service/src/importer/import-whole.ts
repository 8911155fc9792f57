import type { Database } from "../database/database.ts";
import type { PostingIndex } from "../search/postings/posting-index.ts";
import { saidOf } from "./import-error.ts";
import { datasetOf, type ImportOptions, type ImportReport } from "./import-file.ts";
import { inEnglish, type Message } from "./message.ts";
import type { LocalFile } from "./origin/origin.ts";
import type { Publication } from "./provenance.ts";
import { isImported, Run } from "./runs.ts";

/** An import that reads its file as a whole instead of row by row: laws are folded from their versions. */
export interface WholeImport {
  readonly name: string;
  run(
    index: PostingIndex,
    file: LocalFile,
    publication: Publication,
    options: ImportOptions,
  ): Promise<WholeResult>;
}

export interface WholeResult {
  readonly rows: number;
  /** Documents that serve now. */
  readonly size: number;
  readonly badRows: readonly { readonly row: string; readonly problem: Message }[];
  /** Fields that the file has, and in how many rows they are filled. */
  readonly fields: Readonly<Record<string, number>>;
}

/** Runs such an import, and reports it like one that goes row by row. */
export async function importWhole(
  database: Database,
  index: PostingIndex,
  { name, run }: WholeImport,
  file: LocalFile,
  publication: Publication,
  options: ImportOptions,
): Promise<ImportReport> {
  const dataset = options.dataset ?? datasetOf(file.name);
  const base = { target: name, dataset, passedOver: 0 };
  const report = (
    { rows, size, badRows, fields }: WholeResult,
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
  const read = () => run(index, file, publication, options);
  if (options.dryRun === true) return report(await read(), "dry_run");
  if (options.again !== true && (await isImported(database, name, dataset, file.sha256))) {
    return report({ rows: 0, size: 0, badRows: [], fields: {} }, "unchanged");
  }
  const started = await Run.start(database, {
    target: name,
    dataset,
    origin: file.origin,
    sha256: file.sha256,
  });
  try {
    const result = await read();
    await started.finish("done", result.rows, result.badRows.length, null);
    return report(result, "imported");
  } catch (error) {
    await started.finish("failed", 0, 0, saidOf(error)).catch(() => {});
    throw error;
  }
}
