import { idfOf, type Statistics } from "./bm25.ts";
import type { Concept, Query, Wanted, Wording } from "./search-index.ts";

/** Every term that is read for it. */
export function wantedTerms(wanted: Wanted): string[] {
  return [...findingTerms(wanted), ...wanted.priors.flatMap(({ terms }) => terms)];
}

/** Terms that find documents. One of them is enough. */
export function findingTerms(wanted: Wanted): string[] {
  const wordings = [...wanted.alternatives.flat(2), ...wanted.hints];
  return [...wordings.flatMap(({ terms }) => terms), ...wanted.exact];
}

/**
 * Concepts that no document contains in any wording. They are ignored, so that the other concepts can still
 * match.
 */
export function unknownConcepts({ alternatives }: Wanted, { documentsWithTerm }: Statistics): Set<Concept> {
  const isKnown = ({ terms }: Wording) => terms.every((term) => (documentsWithTerm.get(term) ?? 0) > 0);
  return new Set(alternatives.flat().filter((concept) => !concept.some(isKnown)));
}

/** Documents that have an exact term, or every known concept of an alternative. Undefined if there can be none. */
export function completeQuery(wanted: Wanted, unknown: ReadonlySet<Concept>): Query | undefined {
  const whole = wanted.alternatives
    .map((concepts) => concepts.filter((concept) => !unknown.has(concept)))
    .filter((concepts) => concepts.length > 0)
    .map((concepts): Query => ({ all: concepts.map(conceptQuery) }));
  const terms = [...wanted.exact, ...wanted.sufficient];
  const alternatives = [...whole, ...terms.map((term) => ({ term }))];
  return alternatives.length === 0 ? undefined : anyOf(alternatives);
}

/**
 * Of the documents that `completeQuery` finds, those that have each concept in the question's own words. A concept that
 * no document has in these words may be there in related ones. Undefined if that makes no difference.
 */
export function ownQuery(
  wanted: Wanted,
  unknown: ReadonlySet<Concept>,
  { documentsWithTerm }: Statistics,
): Query | undefined {
  const isKnown = ({ terms }: Wording) => terms.every((term) => (documentsWithTerm.get(term) ?? 0) > 0);
  const ownOf = (concept: Concept): Concept => {
    const own = concept.filter((wording) => wording.isRelated === undefined && isKnown(wording));
    return own.length === 0 ? concept : own;
  };
  const concepts = wanted.alternatives.flat().filter((concept) => !unknown.has(concept));
  const isSame = concepts.every((concept) => {
    const own = new Set(ownOf(concept));
    return concept.every((wording) => own.has(wording) || !isKnown(wording));
  });
  if (isSame) return undefined;
  const known = wanted.alternatives.map((each) => each.filter((concept) => !unknown.has(concept)).map(ownOf));
  return completeQuery({ ...wanted, alternatives: known }, new Set());
}

/** If this many documents match completely, partial matches are not searched for. */
export const enoughComplete = 1_000;

/** The weight of each term of a wording. */
export function shareOf(weight: number, terms: number, isFlat: true | undefined): number {
  return isFlat ? weight / terms : weight / Math.sqrt(terms);
}

/** What an engine adds to the scores of documents that rank before all others. */
export interface Lifts {
  /** For a document with everything that is asked for. */
  readonly complete: number;
  /** For a document with everything in the words of the question, in addition. */
  readonly own: number;
  /** For a document with an exact term. */
  readonly exact: number;
}

/**
 * A score as it is shown. It falls as the score that ranks does: below 100 for a document with some of what is asked for,
 * from 100 for one with everything, from 200 for one with everything in the question's own words, from 300 for one with an
 * exact term.
 */
export function shownScore(score: number, { complete, own, exact }: Lifts): number {
  const tiers = [exact, complete + own, complete, 0];
  const tier = tiers.findIndex((least) => score >= least);
  const rest = score - (tiers[tier] as number);
  return 100 * (tiers.length - 1 - tier) + (100 * rest) / (rest + halfScore);
}

/** A sum of BM25 that is shown as half of a hundred: about what two or three rare words give. */
const halfScore = 25;

/** The share of its score that a document keeps if it matches hardly any of the concepts. */
export const leastShare = 0.4;

/** How much a concept counts among the others when some are missing: a rare one more than a common one. */
export function massOf(concept: Concept, statistics: Statistics): number {
  const first = concept[0]?.terms ?? [];
  return Math.max(1, ...first.map((term) => idfOf(term, statistics)));
}

function conceptQuery(concept: Concept): Query {
  return anyOf(
    concept.map(({ terms }) =>
      terms.length === 1 ? { term: terms[0] as string } : { all: terms.map((term) => ({ term })) },
    ),
  );
}

function anyOf(queries: readonly Query[]): Query {
  return queries.length === 1 ? (queries[0] as Query) : { any: queries };
}
