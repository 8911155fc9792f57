import type { Provenance } from "@dataq/contract";
import type { IndexDocument } from "../../../search/search-index.ts";
import { readNumber } from "../question/chinese-number.ts";
import { type ArticleNumber, lawKey } from "../question/law-reference.ts";

/** Everything on which the state of a law on a day depends. */
export interface LawTimeline {
  /** Oldest first. */
  readonly versions: readonly Pick<
    LawFacts,
    "version_date" | "effective_date" | "status_text" | "official"
  >[];
  /** When the whole law was repealed; `date` is null if unknown. */
  readonly repealed?: { readonly date: string | null; readonly by: string | null };
  /**
   * Set if all amendments after the newest version are known. An article that none of them names is then
   * unchanged.
   */
  readonly amendments_known?: true;
  /** Date of a newer text of the law that is not in the data. Its changes are unknown. */
  readonly newer?: string;
  /** The day from which that text applies, where it is not the day of its date. */
  readonly newer_from?: string;
  /** The day of the official list that has it; missing where another source mentions it. */
  readonly newer_listed?: string;
}

/**
 * An article with all its versions, as the index stores it. The version in force depends on the day of the
 * question.
 */
export interface StoredArticle extends LawTimeline {
  readonly id: string;
  readonly law_name: string;
  readonly article_no: string;
  readonly article: ArticleNumber | null;
  /** Oldest first. The content is null in a version that lacks the article. */
  readonly versions: readonly ArticleVersion[];
  /** Facts of the whole law. */
  readonly history?: readonly LawEvent[];
  /** Changes that amending acts made to this article, oldest first, even if no version of that date is in the data. */
  readonly acts?: readonly ArticleAct[];
  /** Versions in which the article had another number. It has its present number from version `from` on. */
  readonly past?: { readonly from: number; readonly versions: readonly ArticleVersion[] };
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
  /**
   * A day on which this wording was in force already, as far as the versions held show; null if unknown. The wording
   * may be older: see `wording_since`.
   */
  readonly since?: string | null;
  /** The day on which this wording took effect; null if an amendment that is not in the data may have made it earlier. */
  readonly wording_since?: string | null;
  /** What this version changed in the article; null before the article existed. */
  readonly change?: ArticleChange | null;
  /** The article's number in the previous version, if it was different. */
  readonly former_no?: string;
  /** The later number of this text, if the article was renumbered. */
  readonly moved_to?: string;
}

/** `unknown` means that the oldest version held is not the law's first version. */
export type ArticleChange =
  | "original"
  | "added"
  | "amended"
  | "repealed"
  | "renumbered"
  | "unchanged"
  | "unknown";

/** What is known of one version of a law. Texts are as in the source. */
export interface LawFacts {
  readonly law_id: string;
  readonly law_name: string;
  readonly level_text: string | null;
  readonly issuing_body: string | null;
  readonly promulgated_date: string | null;
  readonly effective_date: string | null;
  /** When the law took effect, in its first text or in the last that replaced it as a whole. */
  readonly law_effective_date?: string | null;
  readonly version_date: string | null;
  readonly status_text: string | null;
  readonly department: string | null;
  /** What the official list says of this version. */
  readonly official?: OfficialFact;
}

/** A state of the official list, and the day on which it said so. */
export interface OfficialFact {
  readonly state: 1 | 2 | 3 | 4;
  readonly on: string;
}

export const lawArticlesCorpus = "legal_laws";

export function lawArticleDocument(article: StoredArticle): IndexDocument {
  const key = lawKey(article.law_name);
  const last = article.versions[article.versions.length - 1];
  const cited = citedNumber(article);
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
      ...(cited === null ? [] : [articleTerm(key, cited)]),
      // An article without a law is never the item of an amendment.
      ...(article.article === null ? [] : [articleTerm(null, article.article)]),
    ],
    date: last?.version_date ?? null,
    body: article,
    meaning: [article.law_name, last?.chapter, last?.section, [...contents].at(-1)].filter(Boolean).join(" "),
  };
}

/** The number that people cite an article by. Amendments have items (条目十一), which are cited as articles. */
export function citedNumber({ article, article_no }: Pick<StoredArticle, "article" | "article_no">) {
  if (article !== null) return article;
  const number = readNumber(/^条目(.+)$/.exec(article_no)?.[1] ?? "");
  return number === undefined ? null : { number, sub: null };
}

/** Years of the versions that contain the article. */
function yearsOf({ versions }: StoredArticle): string[] {
  const standing = versions.filter(({ content, version_date }) => content !== null && version_date !== null);
  return [...new Set(standing.map(({ version_date }) => (version_date as string).slice(0, 4)))];
}

/** The term for the articles of the version that was passed, revised or amended in a year. */
export function lawYearTerm(key: string, year: string): string {
  return `y:${key}|${year}`;
}

export function lawTerm(key: string): string {
  return `l:${key}`;
}

/**
 * The term of an article in one law. If `key` is null, the term finds the article with this number in every
 * law.
 */
export function articleTerm(key: string | null, article: ArticleNumber): string {
  return `a:${key ?? ""}|${article.number}|${article.sub ?? ""}`;
}
