import type { Provenance } from "@dataq/contract";
import type { IndexDocument } from "../../../search/search-index.ts";
import { type ArticleNumber, lawKey } from "../question/law-reference.ts";

/** An article through its versions, as the index keeps it; which version holds depends on the day of the question. */
export interface StoredArticle {
  readonly id: string;
  readonly law_name: string;
  readonly article_no: string;
  readonly article: ArticleNumber | null;
  /** Oldest first. A version in which the article does not stand has null content. */
  readonly versions: readonly ArticleVersion[];
  /** Of the whole law; not there in what was stored before packs' histories were kept. */
  readonly history?: readonly LawEvent[];
}

/** A line of a law's history: passed, amended, repealed. */
export interface LawEvent {
  readonly date: string;
  readonly text: string;
}

export interface ArticleVersion extends LawFacts {
  readonly chapter: string | null;
  readonly section: string | null;
  readonly content: string | null;
  readonly source: Provenance;
}

/** What is known of one version of a law. Texts as the source has them. */
export interface LawFacts {
  readonly law_id: string;
  readonly law_name: string;
  readonly level_text: string | null;
  readonly issuing_body: string | null;
  readonly promulgated_date: string | null;
  readonly effective_date: string | null;
  readonly version_date: string | null;
  readonly status_text: string | null;
  readonly department: string | null;
}

export const lawArticlesCorpus = "legal_laws";

export function lawArticleDocument(article: StoredArticle): IndexDocument {
  const key = lawKey(article.law_name);
  const last = article.versions[article.versions.length - 1];
  const contents = new Set(article.versions.map((version) => version.content ?? ""));
  return {
    id: article.id,
    texts: [
      { text: article.law_name, weight: 2 },
      { text: `${last?.chapter ?? ""} ${last?.section ?? ""}`, weight: 1 },
      ...[...contents].map((text) => ({ text, weight: 1 })),
    ],
    terms: [
      lawTerm(key),
      ...(article.article === null
        ? []
        : [articleTerm(key, article.article), articleTerm(null, article.article)]),
    ],
    date: last?.version_date ?? null,
    body: article,
  };
}

export function lawTerm(key: string): string {
  return `l:${key}`;
}

/** Without a law: the articles of this number in all laws. */
export function articleTerm(key: string | null, article: ArticleNumber): string {
  return `a:${key ?? ""}|${article.number}|${article.sub ?? ""}`;
}
