import { type KnownTemplate, knownTemplates } from "./known/families.ts";

/**
 * The known family that a Jinja template belongs to, by the special tokens and marks in its text; null for
 * none. For models whose own template cannot be read, and for `show`.
 */
export function detectTemplate(jinja: string): KnownTemplate | null {
  return knownTemplates.find(({ marks }) => marks.every((mark) => jinja.includes(mark))) ?? null;
}
