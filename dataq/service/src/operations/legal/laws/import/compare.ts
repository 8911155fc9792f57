/** The parts of an article that are compared. */
export interface Worded {
  readonly label: string;
  readonly words: string;
}

/** The older article that became an article of a newer version. */
export interface Origin {
  /** The article's number in the older version. */
  readonly label: string;
  readonly isSame: boolean;
}

/**
 * Finds the older article that each article of the newer version comes from, even if the number changed.
 * Compares equal wording first, then similar wording in the order of both texts. An article without an origin
 * was added.
 */
export function originsOf(older: readonly Worded[], newer: readonly Worded[]): Map<string, Origin> {
  const origins = new Map<string, Origin>();
  const taken = new Set<string>();
  const take = (article: Worded, origin: Worded) => {
    origins.set(article.label, { label: origin.label, isSame: origin.words === article.words });
    taken.add(origin.label);
  };
  const byLabel = new Map(older.map((article) => [article.label, article]));
  for (const article of newer) {
    const before = byLabel.get(article.label);
    if (before?.words === article.words) take(article, before);
  }
  const byWords = new Map(
    older.filter(({ label }) => !taken.has(label)).map((article) => [article.words, article]),
  );
  for (const article of newer) {
    const before = byWords.get(article.words);
    if (!origins.has(article.label) && before !== undefined && !taken.has(before.label))
      take(article, before);
  }
  const restOfOlder = older.filter(({ label }) => !taken.has(label));
  const restOfNewer = newer.filter(({ label }) => !origins.has(label));
  for (const [before, article] of alike(restOfOlder, restOfNewer)) take(article, before);
  // An article that was rewritten under its old number counts as amended.
  for (const article of newer) {
    const before = byLabel.get(article.label);
    if (!origins.has(article.label) && before !== undefined && !taken.has(before.label))
      take(article, before);
  }
  return origins;
}

/**
 * The characters of a text without punctuation and spaces, because editions of the same text differ in
 * punctuation, spaces and character width.
 */
export function wordsOf(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[○〇]/g, "零")
    .replace(/[^\p{L}\p{N}]/gu, "");
}

/** Pairs articles, in the order of both lists, so that the sum of their similarities is greatest. */
function alike(older: readonly Worded[], newer: readonly Worded[]): [Worded, Worded][] {
  if (older.length * newer.length > mostPairs) return [];
  const olderPairs = older.map(({ words }) => pairsOf(words));
  const newerPairs = newer.map(({ words }) => pairsOf(words));
  const width = newer.length + 1;
  const best = new Float32Array((older.length + 1) * width);
  const gain = new Float32Array((older.length + 1) * width);
  for (let o = older.length - 1; o >= 0; o--) {
    for (let n = newer.length - 1; n >= 0; n--) {
      const at = o * width + n;
      const likeness = likenessOf(olderPairs[o] as Uint32Array, newerPairs[n] as Uint32Array);
      gain[at] = likeness >= leastLikeness ? likeness : 0;
      const paired = gain[at] === 0 ? 0 : (gain[at] as number) + (best[at + width + 1] as number);
      best[at] = Math.max(paired, best[at + width] as number, best[at + 1] as number);
    }
  }
  const pairs: [Worded, Worded][] = [];
  for (let o = 0, n = 0; o < older.length && n < newer.length; ) {
    const at = o * width + n;
    const [down, right] = [best[at + width] as number, best[at + 1] as number];
    if (best[at] === down) o++;
    else if (best[at] === right) n++;
    else pairs.push([older[o++] as Worded, newer[n++] as Worded]);
  }
  return pairs;
}

const leastLikeness = 0.35;
/** More comparisons would take seconds, so larger texts are compared by number only. */
const mostPairs = 500_000;

/** The distinct pairs of neighbouring characters, sorted, so that two lists are compared in one pass. */
function pairsOf(words: string): Uint32Array {
  const pairs = new Uint32Array(Math.max(0, words.length - 1));
  for (let at = 0; at < pairs.length; at++)
    pairs[at] = words.charCodeAt(at) * 65_536 + words.charCodeAt(at + 1);
  pairs.sort();
  let kept = 0;
  for (const [at, pair] of pairs.entries()) if (at === 0 || pair !== pairs[kept - 1]) pairs[kept++] = pair;
  return pairs.subarray(0, kept);
}

/** The share of character pairs that two texts have in common, 0 to 1. */
function likenessOf(one: Uint32Array, other: Uint32Array): number {
  const all = one.length + other.length;
  if (2 * Math.min(one.length, other.length) < leastLikeness * all) return 0;
  let shared = 0;
  for (let a = 0, b = 0; a < one.length && b < other.length; ) {
    const difference = (one[a] as number) - (other[b] as number);
    if (difference === 0) shared++;
    if (difference <= 0) a++;
    if (difference >= 0) b++;
  }
  return all === 0 ? 0 : (2 * shared) / all;
}
