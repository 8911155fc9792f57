/** The words of a question that a reader looks for in the answer: two letters or more, without operators and quotes. */
export function wordsOf(query: string): readonly string[] {
  const words = query
    .split(/[\s"“”《》()（）,，。；;]+/)
    .map((word) => word.replace(/^[+-]|^\w+:/, ""))
    .filter((word) => [...word].length >= 2 && !/^(?:AND|OR|NOT)$/.test(word));
  return [...new Set(words)];
}

export interface PartOfText {
  readonly part: string;
  readonly isHit: boolean;
}

/** The text in parts: those that are one of the words, in any case, and the rest. */
export function hitsIn(text: string, words: readonly string[]): readonly PartOfText[] {
  if (words.length === 0) return [{ part: text, isHit: false }];
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`(${longestFirst.map((word) => escaped(word)).join("|")})`, "i");
  // A capturing group gives every hit a place of its own, always an odd one.
  return text
    .split(pattern)
    .map((part, at) => ({ part, isHit: at % 2 === 1 }))
    .filter(({ part }) => part !== "");
}

function escaped(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
