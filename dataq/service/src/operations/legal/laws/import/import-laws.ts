import { rm } from "node:fs/promises";
import { FieldCounts } from "../../../../importer/field-counts.ts";
import { containerOf } from "../../../../importer/format/bytes.ts";
import { extractFromZip } from "../../../../importer/format/zip.ts";
import { ImportError } from "../../../../importer/import-error.ts";
import type { ImportOptions } from "../../../../importer/import-file.ts";
import type { WholeImport, WholeResult } from "../../../../importer/import-whole.ts";
import { type Message, say } from "../../../../importer/message.ts";
import type { LocalFile } from "../../../../importer/origin/origin.ts";
import type { Publication } from "../../../../importer/provenance.ts";
import type { PostingIndex } from "../../../../search/postings/posting-index.ts";
import { lawEntriesCorpus, lawEntryDocument, type StoredLaw } from "../../law-catalog/corpus.ts";
import { type LawFacts, lawArticleDocument, lawArticlesCorpus, type StoredArticle } from "../corpus.ts";
import { entriesOf, foldLaws, unfoldLaws, withProvenance } from "./fold.ts";
import { readLawDatabase } from "./law-database.ts";
import { readLawRows } from "./law-rows.ts";
import type { LawVersion, RowListener } from "./law-version.ts";

export const lawImport: WholeImport = { name: "legal_laws", run: importLaws };

/**
 * Adds versions of laws to those that are there, and switches articles and catalogue to the whole. The same import
 * again changes nothing.
 */
async function importLaws(
  index: PostingIndex,
  file: LocalFile,
  publication: Publication,
  options: ImportOptions,
): Promise<WholeResult> {
  const badRows: { row: string; problem: Message }[] = [];
  const entries = await storedEntries(index);
  const factsOf = (lawId: string): LawFacts | undefined => entries.get(lawId);
  const counts = new FieldCounts();
  const versions = await readVersions(file, factsOf, {
    row: (fields) => counts.add(fields),
    bad: (row, problem) => badRows.push({ row, problem }),
  });
  const fields = counts.report();
  const rows = versions.reduce((sum, version) => sum + version.articles.length, 0);
  if (rows === 0) throw new ImportError("no_article", { file: file.name });
  if (options.dryRun === true) return { rows, size: 0, badRows, fields };
  const stored: StoredArticle[] = [];
  for await (const body of index.documents(lawArticlesCorpus)) stored.push(body as StoredArticle);
  const all = [...unfoldLaws(stored), ...versions.map((version) => withProvenance(version, publication))];
  const articles = foldLaws(all);
  options.progress?.(say("indexing_articles", { articles: rows, laws: versions.length }));
  const refresh = {
    dataset: "laws",
    mode: "replace" as const,
    ...(options.signal && { signal: options.signal }),
  };
  const { size } = await index.refresh(lawArticlesCorpus, each(articles, lawArticleDocument), {
    ...refresh,
    progress: (done) => {
      if (done % 5_000 === 0) options.progress?.(say("indexed_articles", { done, total: articles.length }));
    },
  });
  const merged = new Map(entries);
  for (const entry of entriesOf(unfoldLaws(articles), publication)) merged.set(entry.law_id, entry);
  await index.refresh(lawEntriesCorpus, each(merged.values(), lawEntryDocument), refresh);
  return { rows, size, badRows, fields };
}

/** The catalogue by law id. */
export async function storedEntries(index: PostingIndex): Promise<Map<string, StoredLaw>> {
  const entries = new Map<string, StoredLaw>();
  for await (const body of index.documents(lawEntriesCorpus)) {
    const law = body as StoredLaw;
    entries.set(law.law_id, law);
  }
  return entries;
}

async function readVersions(
  file: LocalFile,
  factsOf: (lawId: string) => LawFacts | undefined,
  told: RowListener,
): Promise<LawVersion[]> {
  const container = await containerOf(file.path);
  if (container === "sqlite") return readLawDatabase(file.path, told);
  if (container === "zip") {
    // Beside the file, under a name of its own: two imports at once must not share it.
    const unpacked = `${file.path}.${process.pid}.${Date.now()}.db`;
    try {
      const name = await extractFromZip(file.path, (entry) => entry.endsWith(".db"), unpacked);
      if (name === undefined) throw new ImportError("no_law_database", { file: file.name });
      return readLawDatabase(unpacked, told);
    } finally {
      await rm(unpacked, { force: true });
    }
  }
  return readLawRows(file.path, factsOf, told);
}

async function* each<Item, Out>(items: Iterable<Item>, map: (item: Item) => Out): AsyncGenerator<Out> {
  for (const item of items) yield map(item);
}
