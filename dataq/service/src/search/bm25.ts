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

/** Counts over all segments, so that the rank does not depend on how documents are spread over them. */
export interface Statistics {
  readonly documents: number;
  readonly documentsWithTerm: ReadonlyMap<string, number>;
}

/** The inverse document frequency: high for rare terms. */
export function idfOf(term: string, { documents, documentsWithTerm }: Statistics): number {
  const withTerm = documentsWithTerm.get(term) ?? 0;
  return Math.log(1 + (documents - withTerm + 0.5) / (withTerm + 0.5));
}

const k1 = 1.2;
const b = 0.75;
const leastNorm = k1 * (1 - b);
