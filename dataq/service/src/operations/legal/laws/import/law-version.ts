import type { Provenance } from "@dataq/contract";
import type { LawEvent, LawFacts } from "../corpus.ts";

/** One version of a law with its articles, whatever file it was read from. */
export interface LawVersion {
  /**
   * The facts as the file states them. The effective date of each article is computed when all versions are
   * folded.
   */
  readonly facts: LawFacts;
  readonly articles: readonly LawText[];
  /** The law's history according to the source, oldest first. */
  readonly history: readonly LawEvent[];
}

export interface LawText {
  /** 第五百七十七条, or 全文 for a law without articles. */
  readonly articleNo: string;
  readonly chapter: string | null;
  readonly section: string | null;
  readonly content: string;
}

/**
 * A version as it is in a pack. Versions are stored by pack, so that a pack can be replaced, removed and
 * restored.
 */
export interface LawPack extends LawVersion {
  readonly id: string;
  readonly source: Provenance;
  /** The operator accepted the version although it drops many of the law's articles. */
  readonly accepted?: boolean;
}

/** A row of a catalogue: facts without text. */
export interface CataloguePack extends LawFacts {
  readonly id: string;
  readonly source: Provenance;
}
