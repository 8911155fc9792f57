/** A text for people, in both languages of the product. */
export interface Bilingual {
  readonly en: string;
  readonly zh: string;
}

/** Where a field's Chinese meaning stands in its metadata; it goes out beside the schemas, never inside them. */
export const chinese = "x-zh";

/** The meaning of a field, as metadata of its schema: schemas carry the English one. */
export function meaning({ en, zh }: Bilingual) {
  return { description: en, [chinese]: zh };
}
