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
  /** Of the whole law. */
  readonly history?: readonly LawEvent[];
  /** What acts of amendment did to this article, oldest first, whether or not a version of that day is held. */
  readonly acts?: readonly ArticleAct[];
  /** Versions from before the article got this number, which it has from version `from` on. */
  readonly past?: { readonly from: number; readonly versions: readonly ArticleVersion[] };
  /** When the whole law was repealed; `date` is null where only the fact is known. */
  readonly repealed?: { readonly date: string | null; readonly by: string | null };
  /** Acts tell all that was amended after the newest version: an article that none of them names stands as it did. */
  readonly amendments_known?: true;
  /** A newer text of the law is known, which is not held and of which no act tells what it changed. */
  readonly newer?: string;
}

/** A line of a law's history: passed, amended, repealed. */
export interface LawEvent {
  readonly date: string;
  readonly text: string;
}

export interface ArticleAct {
  readonly date: string;
  readonly effective_date: string | null;
  readonly change: "added" | "amended" | "repealed";
  readonly by: string | null;
}

export interface ArticleVersion extends LawFacts {
  readonly chapter: string | null;
  readonly section: string | null;
  readonly content: string | null;
  readonly source: Provenance;
  /** Day since which these words are known to hold, in this version and those before it; null where none tells it. */
  readonly since?: string | null;
  /** What this version did to the article; null before it first stands. */
  readonly change?: ArticleChange | null;
  /** Its number in the version before, where that was another. */
  readonly former_no?: string;
  /** The number that this text has from this version on, where it moved away. */
  readonly moved_to?: string;
}

/** `unknown`: the first version that is held, when it is not the law's first. */
export type ArticleChange =
  | "original"
  | "added"
  | "amended"
  | "repealed"
  | "renumbered"
  | "unchanged"
  | "unknown";

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
      ...yearsOf(article).map((year) => lawYearTerm(key, year)),
      ...(article.article === null
        ? []
        : [articleTerm(key, article.article), articleTerm(null, article.article)]),
    ],
    date: last?.version_date ?? null,
    body: article,
  };
}

/** Years of the versions in which the article stands. */
function yearsOf({ versions }: StoredArticle): string[] {
  const standing = versions.filter(({ content, version_date }) => content !== null && version_date !== null);
  return [...new Set(standing.map(({ version_date }) => (version_date as string).slice(0, 4)))];
}

/** The articles of the version of a law that was passed, revised or amended in a year. */
export function lawYearTerm(key: string, year: string): string {
  return `y:${key}|${year}`;
}

export function lawTerm(key: string): string {
  return `l:${key}`;
}

/** Without a law: the articles of this number in all laws. */
export function articleTerm(key: string | null, article: ArticleNumber): string {
  return `a:${key ?? ""}|${article.number}|${article.sub ?? ""}`;
}
