import type { IndexDocument } from "./search-index.ts";

/** A record that is looked up by one or more keys and never searched. */
export function keyedDocument(
  record: { readonly id: string },
  keys: readonly string[],
  date: string | null = null,
): IndexDocument {
  return { id: record.id, texts: [], terms: keys.map(keyTerm), date, body: record };
}

export function keyTerm(key: string): string {
  return `k:${key}`;
}

/** Company and personal names are compared without brackets, case and spaces. */
export function nameKey(name: string): string {
  return name.normalize("NFKC").toLowerCase().replace(/\s/g, "");
}
