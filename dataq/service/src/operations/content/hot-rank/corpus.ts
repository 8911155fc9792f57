import type { Provenance } from "@dataq/contract";
import { keyedDocument } from "../../../search/keyed-document.ts";
import type { IndexDocument } from "../../../search/search-index.ts";

/** The ranking of a platform on a day, from an archive. */
export interface StoredRanking {
  readonly id: string;
  readonly platform: string;
  readonly date: string;
  readonly items: readonly {
    readonly title: string;
    readonly heat: number | null;
    readonly reads: number | null;
    readonly discussions: number | null;
  }[];
  readonly source: Provenance;
}

export const hotRanksCorpus = "content_hot_rank";
/** Prefix of the terms that list the platforms with a ranking. */
export const platformPrefix = "platform|";

export function rankingDocument(ranking: StoredRanking): IndexDocument {
  const { platform, date } = ranking;
  return keyedDocument(ranking, [rankingKey(platform, date), platformPrefix + platform, dayKey(date)], date);
}

export function rankingKey(platform: string, date: string): string {
  return `rank|${platform}|${date}`;
}

export function dayKey(date: string): string {
  return `day|${date}`;
}
