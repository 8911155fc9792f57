/** The place of a word in the schema at `path`. */
export function wordAt(path: string, word: string): string {
  return path === "" ? word : `${path}.${word}`;
}

/** The end of a path, for the names of grammar rules. */
export function hintOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1) || "answer";
}
