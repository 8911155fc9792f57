import type { Bilingual } from "../bilingual.ts";

/** Meanings of fields by name; `parties.name` if the name alone says too little. */
export type Words = Readonly<Record<string, Bilingual>>;

export function word(en: string, zh: string): Bilingual {
  return { en, zh };
}
