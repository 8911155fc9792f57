/** Names are one whatever their case, spaces and points. */
export function personTerm(name: string): string {
  return `p:${name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s.·,-]+/g, " ")
    .trim()}`;
}
