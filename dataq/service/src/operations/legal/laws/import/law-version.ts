import type { LawEvent, LawFacts } from "../corpus.ts";

/** One version of a law with its articles, whatever file it was read from. */
export interface LawVersion {
  readonly facts: LawFacts;
  readonly articles: readonly LawText[];
  /** What the source tells of the law's history, oldest first. */
  readonly history: readonly LawEvent[];
}

export interface LawText {
  /** 第五百七十七条, or 全文 for a law without articles. */
  readonly articleNo: string;
  readonly chapter: string | null;
  readonly section: string | null;
  readonly content: string;
}
