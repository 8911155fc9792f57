/** A text in both languages of the product. */
export interface Bilingual {
  readonly en: string;
  readonly zh: string;
}

export type Language = keyof Bilingual;

/** The metadata key of a field's Chinese meaning. It is published beside the schemas, not inside them. */
export const chinese = "x-zh";

/** Returns the meaning of a field as metadata of its schema. */
export function meaning({ en, zh }: Bilingual) {
  return { description: en, [chinese]: zh };
}
