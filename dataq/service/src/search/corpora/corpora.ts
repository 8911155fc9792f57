import type { IndexDocument } from "../search-index.ts";
import { hotRanksCorpus, rankingDocument } from "./hot-ranks.ts";
import { journalDocument, journalsCorpus } from "./journals.ts";
import { judgmentDocument, judgmentsCorpus } from "./judgments.ts";
import { lawArticleDocument, lawArticlesCorpus } from "./law-articles.ts";
import { lawEntriesCorpus, lawEntryDocument } from "./law-entries.ts";
import { paperDocument, papersCorpus } from "./papers.ts";
import { patentDocument, patentsCorpus } from "./patents.ts";
import { scholarDocument, scholarsCorpus } from "./scholars.ts";

/** How the records of a corpus become documents of the index; for building it anew from what it holds. */
const makers = {
  [lawArticlesCorpus]: lawArticleDocument,
  [lawEntriesCorpus]: lawEntryDocument,
  [judgmentsCorpus]: judgmentDocument,
  [papersCorpus]: paperDocument,
  [patentsCorpus]: patentDocument,
  [journalsCorpus]: journalDocument,
  [scholarsCorpus]: scholarDocument,
  [hotRanksCorpus]: rankingDocument,
};

type Maker = (body: never) => IndexDocument;

/** Undefined for corpora that are only looked up by key: cutting them anew would change nothing. */
export function documentOf(corpus: string): Maker | undefined {
  const name = corpus.replace(/#sample$/, "");
  return Object.hasOwn(makers, name) ? (makers[name as keyof typeof makers] as Maker) : undefined;
}
