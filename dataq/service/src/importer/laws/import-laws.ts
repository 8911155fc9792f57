import { rm } from "node:fs/promises";
import {
  lawArticleDocument,
  lawArticlesCorpus,
  type StoredArticle,
} from "../../search/corpora/law-articles.ts";
import { lawEntriesCorpus, lawEntryDocument } from "../../search/corpora/law-entries.ts";
import type { PostingIndex } from "../../search/postings/posting-index.ts";
import { containerOf } from "../format/bytes.ts";
import { extractFromZip } from "../format/zip.ts";
import { ImportError } from "../import-error.ts";
import type { LocalFile } from "../origin/origin.ts";
import type { Publication } from "../provenance.ts";
import { entriesOf, foldLaws, unfoldLaws, withProvenance } from "./fold.ts";
import { readLawDatabase } from "./law-database.ts";
import type { LawVersion } from "./law-version.ts";

export interface LawImport {
  readonly rows: number;
  readonly laws: number;
  readonly badRows: readonly { readonly row: string; readonly problem: string }[];
}

/**
 * Adds versions of laws to those that are there, and switches articles and catalogue to the whole. The same import
 * again changes nothing.
 */
export async function importLaws(
  index: PostingIndex,
  file: LocalFile,
  publication: Publication,
  options: { readonly signal?: AbortSignal; readonly progress?: (line: string) => void },
): Promise<LawImport> {
  const badRows: { row: string; problem: string }[] = [];
  const versions = await readVersions(file, (row, problem) => badRows.push({ row, problem }));
  const rows = versions.reduce((sum, version) => sum + version.articles.length, 0);
  if (rows === 0) throw new ImportError(`${file.name} holds no article of a law.`);
  const stored: StoredArticle[] = [];
  for await (const body of index.documents(lawArticlesCorpus)) stored.push(body as StoredArticle);
  const all = [...unfoldLaws(stored), ...versions.map((version) => withProvenance(version, publication))];
  const articles = foldLaws(all);
  options.progress?.(`Indexing ${rows} articles of ${versions.length} laws`);
  const refresh = {
    dataset: "laws",
    mode: "replace" as const,
    ...(options.signal && { signal: options.signal }),
  };
  await index.refresh(lawArticlesCorpus, each(articles, lawArticleDocument), {
    ...refresh,
    progress: (done) => {
      if (done % 5_000 === 0) options.progress?.(`Indexed ${done} of ${articles.length} articles`);
    },
  });
  const entries = entriesOf(unfoldLaws(articles), publication);
  await index.refresh(lawEntriesCorpus, each(entries, lawEntryDocument), refresh);
  return { rows, laws: versions.length, badRows };
}

async function readVersions(
  file: LocalFile,
  onBadRow: (row: string, problem: string) => void,
): Promise<LawVersion[]> {
  const container = await containerOf(file.path);
  if (container === "sqlite") return readLawDatabase(file.path, onBadRow);
  if (container === "zip") {
    const unpacked = `${file.path}.db`;
    const name = await extractFromZip(file.path, (entry) => entry.endsWith(".db"), unpacked);
    if (name === undefined) throw new ImportError(`${file.name} holds no SQLite database of laws.`);
    try {
      return readLawDatabase(unpacked, onBadRow);
    } finally {
      await rm(unpacked, { force: true });
    }
  }
  throw new ImportError(`${file.name} is not in a form that laws are read from.`);
}

async function* each<Item, Out>(items: Iterable<Item>, map: (item: Item) => Out): AsyncGenerator<Out> {
  for (const item of items) yield map(item);
}
