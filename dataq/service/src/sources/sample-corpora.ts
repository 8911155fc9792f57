import { sampleJudgment } from "../sample/judgments/judgments.ts";
import { sampleLaws } from "../sample/laws.ts";
import { journalCount, sampleJournal } from "../sample/research/journals.ts";
import { paperCount, samplePaper } from "../sample/research/papers.ts";
import { patentCount, samplePatent } from "../sample/research/patents.ts";
import { sampleScholars } from "../sample/research/scholars.ts";
import { journalDocument, journalsCorpus } from "../search/corpora/journals.ts";
import { judgmentDocument, judgmentsCorpus } from "../search/corpora/judgments.ts";
import { lawArticleDocument, lawArticlesCorpus } from "../search/corpora/law-articles.ts";
import { lawEntriesCorpus, lawEntryDocument } from "../search/corpora/law-entries.ts";
import { paperDocument, papersCorpus } from "../search/corpora/papers.ts";
import { patentDocument, patentsCorpus } from "../search/corpora/patents.ts";
import { scholarDocument, scholarsCorpus } from "../search/corpora/scholars.ts";
import type { IndexDocument } from "../search/search-index.ts";

/** Changes whenever the generator does, so that older samples are built anew. */
export const sampleDataset = "sample-1";

/** Where the samples of a corpus are kept, apart from what is imported. */
export function sampleCorpus(corpus: string): string {
  return `${corpus}#sample`;
}

export const sampleJudgmentCount = 2_000;

/** Documents of every sample corpus, the quick ones first. */
export const sampleCorpora: readonly { readonly corpus: string; documents(): Iterable<IndexDocument> }[] = [
  { corpus: lawArticlesCorpus, documents: articles },
  { corpus: lawEntriesCorpus, documents: laws },
  {
    corpus: journalsCorpus,
    documents: () => numbered(journalCount, (n) => journalDocument(sampleJournal(n))),
  },
  { corpus: patentsCorpus, documents: () => numbered(patentCount, (n) => patentDocument(samplePatent(n))) },
  { corpus: papersCorpus, documents: () => numbered(paperCount, (n) => paperDocument(samplePaper(n))) },
  { corpus: scholarsCorpus, documents: scholars },
  {
    corpus: judgmentsCorpus,
    documents: () => numbered(sampleJudgmentCount, (n) => judgmentDocument(sampleJudgment(n))),
  },
];

function* numbered(count: number, make: (number: number) => IndexDocument): Generator<IndexDocument> {
  for (let number = 0; number < count; number++) yield make(number);
}

function scholars(): IndexDocument[] {
  const papers = Array.from({ length: paperCount }, (_, number) => samplePaper(number));
  return sampleScholars(papers).map(scholarDocument);
}

function articles(): IndexDocument[] {
  return sampleLaws().flatMap(({ facts, articles: list }) =>
    list.map(({ number, content, source }) =>
      lawArticleDocument({
        id: `${facts.law_id}:${number}`,
        law_name: facts.law_name,
        article_no: `第${"零一二三四五六七八九"[number]}条`,
        article: { number, sub: null },
        versions: [{ ...facts, chapter: null, section: null, content, source }],
      }),
    ),
  );
}

function laws(): IndexDocument[] {
  return sampleLaws().map(({ facts, articles: list }) =>
    lawEntryDocument({
      ...facts,
      article_count: list.length,
      source: (list[0] as (typeof list)[number]).source,
    }),
  );
}
