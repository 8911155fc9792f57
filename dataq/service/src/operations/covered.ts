import type { Bilingual } from "@dataq/contract";
import type { Coverage } from "@dataq/contract/wire";
import type { Contents, SearchIndex } from "../search/search-index.ts";

/** A state of imported records. */
export interface Covered {
  readonly index: SearchIndex;
  readonly corpus: string;
  readonly snapshot: number;
  readonly contents: Contents;
}

/** Says what the records of an operation cover, where their number and days do not say it. */
export type TellCoverage = (covered: Covered) => Promise<Pick<Coverage, "parts" | "text"> | undefined>;

/** The days behind what they belong to. */
export function withDays({ en, zh }: Bilingual, from: string | null, to: string | null): Bilingual {
  if (from === null || to === null) return { en, zh };
  if (from === to) return { en: `${en}, of ${from}`, zh: `${zh}，${from}` };
  return { en: `${en}, ${from} to ${to}`, zh: `${zh}，${from} 至 ${to}` };
}
