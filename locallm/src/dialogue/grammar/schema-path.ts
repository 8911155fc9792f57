/** The path of a keyword in the schema at `path`. */
export function wordAt(path: string, word: string): string {
  return path === "" ? word : `${path}.${word}`;
}

/** The last part of a path, for the names of grammar rules. */
export function hintOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1) || "answer";
}
