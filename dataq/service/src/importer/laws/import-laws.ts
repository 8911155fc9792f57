import { rm } from "node:fs/promises";
import {
  type LawFacts,
  lawArticleDocument,
  lawArticlesCorpus,
  type StoredArticle,
} from "../../search/corpora/law-articles.ts";
import { lawEntriesCorpus, lawEntryDocument, type StoredLaw } from "../../search/corpora/law-entries.ts";
import type { PostingIndex } from "../../search/postings/posting-index.ts";
import { FieldCounts } from "../field-counts.ts";
import { containerOf } from "../format/bytes.ts";
import { extractFromZip } from "../format/zip.ts";
import { ImportError } from "../import-error.ts";
import { type Message, say } from "../message.ts";
import type { LocalFile } from "../origin/origin.ts";
import type { Publication } from "../provenance.ts";
import { entriesOf, foldLaws, unfoldLaws, withProvenance } from "./fold.ts";
import { readLawDatabase } from "./law-database.ts";
import { readLawRows } from "./law-rows.ts";
import type { LawVersion, RowListener } from "./law-version.ts";

export interface LawImport {
  /** Articles read, over all versions. */
  readonly rows: number;
  readonly laws: number;
  /** Articles that serve now; versions of one article are one. */
  readonly size: number;
  readonly badRows: readonly { readonly row: string; readonly problem: Message }[];
  /** Fields that the file has, and in how many rows they are filled. */
  readonly fields: Readonly<Record<string, number>>;
}

export interface LawImportOptions {
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
  readonly progress?: (message: Message) => void;
}

/**
 * Adds versions of laws to those that are there, and switches articles and catalogue to the whole. The same import
 * again changes nothing.
 */
export async function importLaws(
  index: PostingIndex,
  file: LocalFile,
  publication: Publication,
  options: LawImportOptions = {},
): Promise<LawImport> {
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
  if (options.dryRun === true) return { rows, laws: versions.length, size: 0, badRows, fields };
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
  return { rows, laws: versions.length, size, badRows, fields };
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
