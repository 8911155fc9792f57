import type { Provenance } from "@dataq/contract";
import { adoptDataset } from "../../../../importer/datasets.ts";
import type { Fold } from "../../../../importer/fold.ts";
import { say } from "../../../../importer/message.ts";
import { keyedDocument } from "../../../../search/keyed-document.ts";
import type { PostingIndex } from "../../../../search/postings/posting-index.ts";
import type { IndexDocument } from "../../../../search/search-index.ts";
import { lawEntriesCorpus, lawEntryDocument, type StoredLaw } from "../../law-catalog/corpus.ts";
import { type LawFacts, lawArticleDocument, lawArticlesCorpus, type StoredArticle } from "../corpus.ts";
import { entriesOf, foldLaws, type SourcedVersion, unfoldLaws, withSources } from "./fold.ts";
import type { LawVersion } from "./law-version.ts";

/** A version of a law as a pack has it. Kept by pack, so that a pack can be replaced, removed and restored. */
export interface LawPack extends LawVersion {
  readonly id: string;
  readonly source: Provenance;
}

export const lawPacksCorpus = "legal_laws#packs";
export const cataloguePacksCorpus = "legal_law_catalog#packs";

export function packDocument(pack: LawPack): IndexDocument {
  return keyedDocument(pack, []);
}

/** Folds the versions of all packs into articles and catalogue, and switches to the whole. */
export const lawFold: Fold = {
  name: "laws",
  corpora: [lawPacksCorpus, cataloguePacksCorpus],
  async run(index, { isFirst, signal, progress }) {
    if (isFirst) await adoptOlder(index);
    const catalogue = new Map<string, StoredLaw>();
    for await (const law of documents<StoredLaw>(index, cataloguePacksCorpus)) catalogue.set(law.law_id, law);
    const versions: SourcedVersion[] = [];
    for await (const { facts, articles, history, source } of documents<LawPack>(index, lawPacksCorpus))
      versions.push(withSources({ facts: known(facts, catalogue), articles, history }, source));
    const articles = foldLaws(versions);
    progress?.(say("indexing_articles", { articles: articles.length, laws: versions.length }));
    const options = { dataset: "laws", mode: "replace" as const, ...(signal && { signal }) };
    await index.refresh(lawArticlesCorpus, each(articles, lawArticleDocument), {
      ...options,
      progress: (done) => {
        if (done % 5_000 === 0) progress?.(say("indexed_articles", { done, total: articles.length }));
      },
    });
    for (const entry of entriesOf(unfoldLaws(articles))) catalogue.set(entry.law_id, entry);
    await index.refresh(lawEntriesCorpus, each(catalogue.values(), lawEntryDocument), options);
  },
};

/** Packs of single articles name their law alone; the catalogue knows the rest. */
function known(facts: LawFacts, catalogue: ReadonlyMap<string, StoredLaw>): LawFacts {
  const { law_id, law_name, ...rest } = facts;
  const entry = catalogue.get(law_id);
  if (entry === undefined || Object.values(rest).some((fact) => fact !== null)) return facts;
  const { article_count: _count, source: _source, ...found } = entry;
  return { ...found, law_id, law_name };
}

/** What an older version folded without keeping its packs becomes a pack of its own. */
async function adoptOlder(index: PostingIndex): Promise<void> {
  const articles: StoredArticle[] = [];
  for await (const article of documents<StoredArticle>(index, lawArticlesCorpus)) articles.push(article);
  const versions = unfoldLaws(articles).map(({ facts, articles: texts, history, source }) => ({
    id: `${facts.law_id}@${facts.version_date ?? ""}`,
    facts,
    history,
    source,
    articles: texts.map(({ article_no, chapter, section, content }) => ({
      articleNo: article_no,
      chapter,
      section,
      content: content ?? "",
    })),
  }));
  const entries: StoredLaw[] = [];
  for await (const law of documents<StoredLaw>(index, lawEntriesCorpus)) entries.push(law);
  const adopt = async (target: string, corpus: string, found: readonly IndexDocument[]) => {
    if (found.length === 0) return;
    await index.refresh(
      corpus,
      each(found, (document) => ({ ...document, id: `laws|${document.id}` })),
      {
        dataset: "laws",
        mode: "replace",
        atSwitch: (change) => adoptDataset(change, { target, name: "laws" }, corpus),
      },
    );
  };
  await adopt("legal_laws", lawPacksCorpus, versions.map(packDocument));
  await adopt(
    "legal_law_catalog",
    cataloguePacksCorpus,
    entries.map((law) => keyedDocument({ ...law, id: law.law_id }, [])),
  );
}

async function* documents<Body>(index: PostingIndex, corpus: string): AsyncGenerator<Body> {
  for await (const body of index.documents(corpus)) yield body as Body;
}

async function* each<Item, Out>(items: Iterable<Item>, map: (item: Item) => Out): AsyncGenerator<Out> {
  for (const item of items) yield map(item);
}
