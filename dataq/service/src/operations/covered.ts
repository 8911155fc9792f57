import { type Bilingual, counted } from "@dataq/contract";
import type { Coverage } from "@dataq/contract/wire";
import { keyTerm } from "../search/keyed-document.ts";
import type { Contents, SearchIndex } from "../search/search-index.ts";
import { regionOfCode, regionPrefix } from "./regions.ts";

/** A state of imported records. */
export interface Covered {
  readonly index: SearchIndex;
  readonly corpus: string;
  readonly snapshot: number;
  readonly contents: Contents;
  /** Data set of generated records, which do not count. */
  readonly generated: string | undefined;
  /** How many records there are, and of which days. */
  readonly text: Bilingual;
}

/** Says what the records of an operation cover, where their number and days do not say it. */
export type TellCoverage = (covered: Covered) => Promise<Pick<Coverage, "parts" | "text"> | undefined>;

/** The days behind what they belong to. */
export function withDays({ en, zh }: Bilingual, from: string | null, to: string | null): Bilingual {
  if (from === null || to === null) return { en, zh };
  if (from === to) return { en: `${en}, of ${from}`, zh: `${zh}，${from}` };
  return { en: `${en}, ${from} to ${to}`, zh: `${zh}，${from} 至 ${to}` };
}

/** The records of each region, by the keys that their import gave them. */
export const tellRegions: TellCoverage = (covered) =>
  tellByTerm(covered, keyTerm(regionPrefix), regionOfCode, { en: "region", zh: "个省级地区" });

/**
 * The records with each term that begins with a prefix. `nameOf` says what the rest of a term means; what it does not know
 * is not counted.
 */
export async function tellByTerm(
  { index, corpus, generated, text }: Covered,
  prefix: string,
  nameOf: (rest: string) => Bilingual | undefined,
  what: Bilingual,
): Promise<Pick<Coverage, "parts" | "text"> | undefined> {
  const parts: { what: Bilingual; count: number; oldest_day: null; newest_day: null }[] = [];
  for (const term of await index.terms(corpus, prefix)) {
    const name = nameOf(term.slice(prefix.length));
    const count = name === undefined ? 0 : await index.count(corpus, [term], generated);
    if (name === undefined || count === 0) continue;
    parts.push({ what: { en: name.en, zh: name.zh }, count, oldest_day: null, newest_day: null });
  }
  if (parts.length === 0) return undefined;
  const named = parts.length <= mostNamed ? parts.map((part) => part.what) : [];
  return {
    parts,
    text: {
      en: `${text.en}; ${counted(parts.length, what.en)}${named.length === 0 ? "" : ` (${named.map(({ en }) => en).join(", ")})`}`,
      zh: `${text.zh}；${parts.length} ${what.zh}${named.length === 0 ? "" : `（${named.map(({ zh }) => zh).join("、")}）`}`,
    },
  };
}

/** More names would hide the numbers. */
const mostNamed = 6;
