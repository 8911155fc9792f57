import type { Bilingual } from "../bilingual.ts";

/** What fields mean, by their names; `parties.name` where a name alone would say too little. */
export type Words = Readonly<Record<string, Bilingual>>;

export function word(en: string, zh: string): Bilingual {
  return { en, zh };
}
