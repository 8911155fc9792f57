/** Other forms of an English word in lower case: nation for nations, cities for city. */
export function otherForms(word: string): string[] {
  if (!/^[a-z]{3,30}$/.test(word)) return [];
  const singular = singularOf(word);
  const base = singular ?? word;
  return [...new Set([base, ...pluralsOf(base)])].filter((form) => form !== word);
}

/** Every word that differs by one typing error: a letter omitted, doubled, wrong, or swapped with the next. */
export function slipsOf(word: string): string[] {
  if (!/^[a-z]{4,20}$/.test(word)) return [];
  const found = new Set<string>();
  for (let at = 0; at <= word.length; at++) {
    const before = word.slice(0, at);
    const after = word.slice(at);
    found.add(before + after.slice(1));
    if (after.length > 1) found.add(`${before}${after[1]}${after[0]}${after.slice(2)}`);
    for (const letter of letters) {
      found.add(before + letter + after.slice(1));
      found.add(before + letter + after);
    }
  }
  found.delete(word);
  return [...found];
}

const letters = "abcdefghijklmnopqrstuvwxyz";

function singularOf(word: string): string | undefined {
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return /[^siu]s$/.test(word) ? word.slice(0, -1) : undefined;
}

function pluralsOf(word: string): string[] {
  if (/[^aeiou]y$/.test(word)) return [`${word.slice(0, -1)}ies`];
  return /(?:s|x|z|ch|sh)$/.test(word) ? [`${word}es`] : [`${word}s`];
}
