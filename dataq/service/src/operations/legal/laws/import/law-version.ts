import type { Provenance } from "@dataq/contract";
import type { LawEvent, LawFacts } from "../corpus.ts";

/** One version of a law with its articles, whatever file it was read from. */
export interface LawVersion {
  /** As the file states them; which day each article took effect is worked out when all versions are folded. */
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

/** A version as a pack has it. Kept by pack, so that a pack can be replaced, removed and restored. */
export interface LawPack extends LawVersion {
  readonly id: string;
  readonly source: Provenance;
  /** The operator takes it although it drops many of the law's articles. */
  readonly accepted?: boolean;
}

/** A row of a catalogue: facts without text. */
export interface CataloguePack extends LawFacts {
  readonly id: string;
  readonly source: Provenance;
}
