import { join } from "node:path";
import type { Database } from "../../src/database/database.ts";
import { type JudgmentRecord, judgmentsCorpus } from "../../src/operations/legal/cases/corpus.ts";
import { lawArticlesCorpus, type StoredArticle } from "../../src/operations/legal/laws/corpus.ts";
import { type JournalRecord, journalsCorpus } from "../../src/operations/research/journal-search/corpus.ts";
import { type PaperRecord, papersCorpus } from "../../src/operations/research/paper-search/corpus.ts";
import { embeddedIndex } from "../../src/search/open-index.ts";
import type { SearchIndex } from "../../src/search/search-index.ts";
import { importPack } from "../../test/pack.ts";

export type HeldRecord = StoredArticle | JudgmentRecord | PaperRecord | JournalRecord;

export const idOf = ({ id }: HeldRecord): string => id;

/** The laws are the same as on a first start. Both come from one database of laws. */
const packs = {
  law_catalog: "legal_law_catalog",
  law_articles: lawArticlesCorpus,
  judgments_real: judgmentsCorpus,
  papers_zh_csl: papersCorpus,
  papers_arxiv: papersCorpus,
  journals: journalsCorpus,
};

/** Imports the packs and reads back the records of each corpus. */
export async function importRecords(
  database: Database,
  folder: string,
  from: string,
  index: SearchIndex = embeddedIndex(database),
): Promise<{ readonly index: SearchIndex; readonly held: ReadonlyMap<string, readonly HeldRecord[]> }> {
  for (const [pack, target] of Object.entries(packs)) {
    const { outcome } = await importPack({ database, index, folder, packs: from }, pack, target);
    if (outcome !== "imported") throw new Error(`${join(from, pack)}: ${outcome}`);
  }
  const held = new Map<string, HeldRecord[]>();
  for (const corpus of [lawArticlesCorpus, judgmentsCorpus, papersCorpus, journalsCorpus]) {
    const records: HeldRecord[] = [];
    for await (const record of index.documents(corpus)) records.push(record as HeldRecord);
    held.set(corpus, records);
  }
  return { index, held };
}

/** The text that a plain search engine indexes: everything in the record that people search by. */
export function plainText(record: HeldRecord): string {
  if ("versions" in record) {
    const version = record.versions.findLast(({ content }) => content !== null) ?? record.versions[0];
    return lines([record.law_name, record.article_no, version?.chapter, version?.section, version?.content]);
  }
  if ("full_text" in record)
    return lines([
      record.title,
      record.case_no,
      record.court_name,
      record.cause_of_action,
      record.judgment_date,
      ...record.judges.map(({ name }) => name),
      record.full_text,
    ]);
  if ("authors" in record)
    return lines([
      record.title,
      record.title_en,
      ...record.authors.map(({ name }) => name),
      ...record.keywords,
      record.abstract,
      record.doi,
      record.id,
    ]);
  return lines([
    record.name,
    record.name_en,
    record.issn,
    record.eissn,
    record.cn_no,
    record.publisher,
    record.sponsor,
    ...record.subjects,
  ]);
}

function lines(parts: readonly (string | null | undefined)[]): string {
  return parts.filter((part) => part !== null && part !== undefined).join("\n");
}
