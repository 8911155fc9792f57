/** More than any document gets from a term with this weight. */
export function worthOf(weight: number): number {
  return weight * (k1 + 1);
}

/**
 * BM25's length normalisation: a longer document must contain a word more often. A document's score for a term is
 * `worthOf` times frequency / (frequency + norm).
 */
export function normOf(length: number, normPerLength: number): number {
  return leastNorm + normPerLength * length;
}

/** What a token adds to the norm, in segments or a snapshot with this many tokens and documents. */
export function normPerLengthOf(tokens: number, documents: number): number {
  return (k1 * b) / Math.max(1, tokens / Math.max(1, documents));
}

const k1 = 1.2;
const b = 0.75;
const leastNorm = k1 * (1 - b);
