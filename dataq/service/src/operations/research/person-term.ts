/** Case, spaces and dots do not distinguish names. */
export function personTerm(name: string): string {
  return `p:${name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s.·,-]+/g, " ")
    .trim()}`;
}
