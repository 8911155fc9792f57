import type { Bilingual } from "../bilingual.ts";

/** Meanings of fields by name. A path such as `parties.name` is used where the name alone is ambiguous. */
export type Words = Readonly<Record<string, Bilingual>>;

export function word(en: string, zh: string): Bilingual {
  return { en, zh };
}
