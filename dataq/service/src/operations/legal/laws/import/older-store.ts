import { adoptDataset } from "../../../../importer/datasets.ts";
import { keyedDocument } from "../../../../search/keyed-document.ts";
import type { SearchIndex } from "../../../../search/search-index.ts";
import { lawEntriesCorpus, type StoredLaw } from "../../law-catalog/corpus.ts";
import { lawArticlesCorpus, type StoredArticle } from "../corpus.ts";
import { whyNotLaw } from "./law-kind.ts";
import type { CataloguePack, LawPack, LawText } from "./law-version.ts";

/** Makes a pack from the articles of an older version of dataq, which did not store packs. */
export async function adoptOlderStore(
  index: SearchIndex,
  corpora: { readonly laws: string; readonly catalogue: string },
): Promise<void> {
  const articles: StoredArticle[] = [];
  for await (const body of index.documents(lawArticlesCorpus)) articles.push(body as StoredArticle);
  const entries: StoredLaw[] = [];
  for await (const body of index.documents(lawEntriesCorpus)) entries.push(body as StoredLaw);
  await adopt(index, "legal_laws", corpora.laws, versionsIn(articles));
  const catalogue = entries.map(({ article_count: _, ...law }) => ({ ...law, id: law.law_id }));
  await adopt(index, "legal_law_catalog", corpora.catalogue, catalogue);
}

async function adopt(
  index: SearchIndex,
  target: string,
  corpus: string,
  packs: readonly (LawPack | CataloguePack)[],
): Promise<void> {
  if (packs.length === 0) return;
  const documents = async function* () {
    for (const pack of packs) yield { ...keyedDocument(pack, []), id: `${adopted}|${pack.id}` };
  };
  await index.refresh(corpus, documents(), {
    dataset: adopted,
    mode: "replace",
    atSwitch: (change) => adoptDataset(change, { target, name: adopted }, corpus),
  });
}

/** The single data set that contained all laws. */
const adopted = "laws";

/** The versions from which the stored articles were folded. Texts that were mistaken for laws are left out. */
function versionsIn(articles: readonly StoredArticle[]): LawPack[] {
  const versions = new Map<string, LawPack & { readonly articles: LawText[] }>();
  for (const article of articles) {
    for (const { chapter, section, content, source, ...facts } of article.versions) {
      const id = `${facts.law_id}@${facts.version_date ?? ""}`;
      const version = versions.get(id) ?? { id, facts, articles: [], history: article.history ?? [], source };
      versions.set(id, version);
      if (content !== null)
        version.articles.push({ articleNo: article.article_no, chapter, section, content });
    }
  }
  return [...versions.values()].filter(
    ({ facts, articles: texts }) =>
      whyNotLaw({ title: facts.law_name, category: facts.department ?? "", articles: texts }) === null,
  );
}
