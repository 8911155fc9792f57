/** A text for people, in both languages of the product. */
export interface Bilingual {
  readonly en: string;
  readonly zh: string;
}
