import type { Provenance } from "@dataq/contract";
import type { JudgmentRecord } from "../cases/corpus.ts";
import type { StoredArticle } from "../laws/corpus.ts";
import type { ArticleNumber } from "../question/law-reference.ts";

/** The texts that citations are checked against. */
export interface HeldTexts {
  /** The articles with these numbers, by `placeKey`. Those that do not exist are left out. */
  articles(places: readonly LawArticle[]): Promise<ReadonlyMap<string, StoredArticle>>;
  /** Any article of a law, for facts of the whole law. */
  anyArticle(law: string): Promise<StoredArticle | undefined>;
  /** The numbers of all articles of a law. */
  numbers(law: string): Promise<readonly ArticleNumber[]>;
  /** Articles of a law that have many of these words, the best first. */
  withWords(law: string, words: string): Promise<readonly StoredArticle[]>;
  /** Articles of any law that have many of these words, the best first. */
  anywhere(words: string): Promise<readonly StoredArticle[]>;
  /** Judgments by case number as written. */
  judgments(caseNumbers: readonly string[]): Promise<ReadonlyMap<string, HeldJudgment>>;
  /** The source that states which laws are in the data. */
  readonly source: Provenance;
}

export interface LawArticle {
  readonly law: string;
  readonly article: ArticleNumber;
}

export type HeldJudgment = Pick<JudgmentRecord, "id" | "title" | "court_name" | "judgment_date"> & {
  readonly source: Provenance;
};

export function placeKey({ law, article }: LawArticle): string {
  return `${law}|${article.number}|${article.sub ?? ""}`;
}
