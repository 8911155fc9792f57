import { readFileSync } from "node:fs";

/** A line of a file: words that are sent, and what is expected of the answer. The first lines of each file say how. */
export interface Asked {
  readonly words: string;
  readonly expected: string;
  /** An article that the answer must name; empty where none must be. */
  readonly named: string;
}

export function readAsked(file: URL): Asked[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [words = "", expected = "", named = ""] = line.split("\t");
      return { words, expected, named };
    });
}

/** The sentences as they are sent: one text, a line each. */
export function opinionOf(sentences: readonly Asked[]): string {
  return sentences.map(({ words }) => words).join("\n");
}

/** What is read of a record of legal_citation_check. */
export interface JudgedCitation {
  readonly start_utf16: number;
  readonly problems: readonly string[];
}

/** Each sentence with the records of its citations. */
export function citationsOf<T extends JudgedCitation>(sentences: readonly Asked[], records: readonly T[]) {
  let start = 0;
  return sentences.map((sentence) => {
    const end = start + sentence.words.length;
    const own = records.filter(({ start_utf16: at }) => at >= start && at < end);
    start = end + 1;
    return { ...sentence, own };
  });
}

/** Whether a sentence is judged as expected: "right", "wrong", or "article 第…条" where the answer must name an article. */
export function isJudgedAs(expected: string, citations: readonly JudgedCitation[]): boolean {
  if (expected === "right")
    return citations.length > 0 && citations.every(({ problems }) => problems.length === 0);
  if (expected === "wrong") return citations.some(({ problems }) => problems.length > 0);
  // The article's own text may name another article.
  return citations.some((citation) =>
    JSON.stringify({ ...citation, content: null }).includes(expected.slice("article ".length)),
  );
}
