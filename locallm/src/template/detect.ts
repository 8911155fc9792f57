import { type KnownTemplate, knownTemplates } from "./known/families.ts";

/** The known family whose special tokens and marks a Jinja template contains, or null. */
export function detectTemplate(jinja: string): KnownTemplate | null {
  return knownTemplates.find(({ marks }) => marks.every((mark) => jinja.includes(mark))) ?? null;
}
