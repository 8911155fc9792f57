import { type Statistics, worthOf } from "../bm25.ts";
import { numbersIn } from "../date-number.ts";
import type { Concept, Query, Question, Wanted, Wording } from "../search-index.ts";
import { completeQuery, findingTerms, leastShare, massOf, shareOf } from "../wanted.ts";
import { fieldOf, phraseCharacters } from "./document-fields.ts";

/** A query of OpenSearch. */
export type Body = Readonly<Record<string, unknown>>;

/** The condition of a question, in OpenSearch's words. */
export function conditionOf(query: Query): Body {
  if ("term" in query) return { term: { [fieldOf(query.term)]: query.term } };
  if ("not" in query) return { bool: { must_not: [conditionOf(query.not)] } };
  if ("all" in query) return allOf(query.all.map(conditionOf));
  if ("any" in query) return anyOf(query.any);
  if ("of" in query)
    return { bool: { should: query.of.map(conditionOf), minimum_should_match: query.atLeast } };
  return phraseOf(query.phrase);
}

function allOf(conditions: readonly Body[]): Body {
  return conditions.length === 0 ? { match_all: {} } : { bool: { filter: conditions } };
}

/** The conditions of a question, all of which must match. */
export function conditionsOf({ query, dates }: Pick<Question, "query" | "dates">): Body[] {
  const conditions = "all" in query ? query.all.map(conditionOf) : [conditionOf(query)];
  return [...conditions, ...datesOf(dates)];
}

/** Many exact terms are one condition, because the number of clauses is limited. */
function anyOf(queries: readonly Query[]): Body {
  const terms = queries.flatMap((query) =>
    "term" in query && fieldOf(query.term) === "terms" ? [query.term] : [],
  );
  const others = queries.filter((query) => !("term" in query) || fieldOf(query.term) === "words");
  const should = [...(terms.length > 0 ? [{ terms: { terms } }] : []), ...others.map(conditionOf)];
  return should.length === 0 ? { match_none: {} } : { bool: { should, minimum_should_match: 1 } };
}

function phraseOf(phrase: Extract<Query, { phrase: unknown }>["phrase"]): Body {
  const tokens = phraseCharacters(phrase);
  if (tokens.length === 0 || tokens.some(({ before }) => before < 0)) return { match_none: {} };
  const clauses = tokens.flatMap(({ before, token }) => [
    ...(before > 0 ? [{ span_gap: { characters: before } }] : []),
    { span_term: { characters: token } },
  ]);
  const together = clauses.length === 1 ? clauses[0] : { span_near: { clauses, slop: 0, in_order: true } };
  // The words must also have been split like this.
  return allOf(
    [...new Set(phrase.map(({ term }) => term))]
      .map((term) => conditionOf({ term }))
      .concat(together as Body),
  );
}

function datesOf(dates: Question["dates"]): Body[] {
  if (dates === undefined) return [];
  if (dates === "none") return [{ term: { date: 0 } }];
  const [from, to] = numbersIn(dates);
  return [{ range: { date: { gte: from, lte: to } } }];
}

/** What a question asks for, prepared for a snapshot. */
export interface Prepared {
  readonly wanted: Wanted;
  readonly unknown: ReadonlySet<Concept>;
  readonly statistics: Statistics;
}

/** Documents with everything that is asked for; undefined if there can be none. */
export function completeOf({ wanted, unknown }: Pick<Prepared, "wanted" | "unknown">): Body | undefined {
  const complete = completeQuery(wanted, unknown);
  return complete && conditionOf(complete);
}

/** Documents with anything that is asked for. */
export function anythingOf(ranked: Pick<Prepared, "wanted" | "unknown">): Body {
  const complete = completeOf(ranked);
  const terms = [...new Set(findingTerms(ranked.wanted))];
  const should = [anyOf(terms.map((term) => ({ term }))), ...(complete ? [complete] : [])];
  return { bool: { should, minimum_should_match: 1 } };
}

/**
 * Scores what is asked for as the embedded engine does. Documents without any of it do not match. `isWhole`: only
 * documents with everything are scored, so that nothing has to raise them.
 */
export function scoredOf(ranked: Prepared, isWhole = false): Body {
  const { wanted } = ranked;
  const complete = isWhole ? undefined : completeOf(ranked);
  const should = [
    ...conceptsOf(ranked, isWhole),
    ...wanted.hints.map(wordingOf),
    ...wanted.exact.map((term) => flat({ term }, exactScore)),
    ...(complete ? [{ constant_score: { filter: complete, boost: completeScore } }] : []),
  ];
  if (should.length === 0) return { match_none: {} };
  const scored = { bool: { should, minimum_should_match: 1 } };
  return wanted.priors.length === 0
    ? scored
    : { bool: { must: [scored], should: wanted.priors.map(wordingOf) } };
}

/**
 * Added to the scores of documents that rank first. They are smaller than those of the embedded engine, because OpenSearch
 * keeps scores in 32 bits.
 */
const completeScore = 1_024;
export const exactScore = 4_096;

/** A score as it is shown. */
export function shownScore(score: number): number {
  return (score % exactScore) % completeScore;
}

function conceptsOf({ wanted, unknown, statistics }: Prepared, isWhole: boolean): Body[] {
  const concepts = wanted.alternatives.flat();
  const scores = concepts.map((concept) => {
    const wordings = concept.map(wordingOf);
    return wordings.length === 1 ? (wordings[0] as Body) : { dis_max: { queries: wordings } };
  });
  const { alternatives, exact, sufficient } = wanted;
  const hasEach =
    isWhole && alternatives.length + exact.length + sufficient.length === 1 && unknown.size === 0;
  if (scores.length < 2 || hasEach) return scores;
  const worth = concepts.map((concept) => massOf(concept, statistics));
  const mass = worth.reduce((sum, each) => sum + each, 0);
  const functions = concepts.map((concept, place) => ({
    filter: anyOf([...new Set(concept.flatMap(({ terms }) => terms))].map((term) => ({ term }))),
    weight: ((1 - leastShare) * (worth[place] as number)) / mass,
  }));
  return [
    {
      function_score: {
        query: { bool: { should: scores, minimum_should_match: 1 } },
        functions: [{ weight: leastShare }, ...functions],
        score_mode: "sum",
        boost_mode: "multiply",
      },
    },
  ];
}

function wordingOf({ terms, weight, isFlat }: Wording): Body {
  const count = terms.length;
  const share = shareOf(weight, count, isFlat);
  // OpenSearch leaves out the constant factor of BM25.
  const scored = (term: string, parts: number) =>
    isFlat
      ? flat({ term }, share / parts)
      : { term: { [fieldOf(term)]: { value: term, boost: worthOf(share) / parts } } };
  if (count === 1) return scored(terms[0] as string, 1);
  // The sum of its terms, times the share of them that a document has.
  if (count > mostSquared)
    return {
      function_score: {
        query: { bool: { should: terms.map((term) => scored(term, 1)), minimum_should_match: 1 } },
        functions: terms.map((term) => ({ filter: conditionOf({ term }), weight: 1 / count })),
        score_mode: "sum",
        boost_mode: "multiply",
      },
    };
  // The same without a function, which would read every document: each number of terms adds its part.
  return {
    bool: {
      should: terms.map((_, place) => ({
        bool: { should: terms.map((term) => scored(term, count)), minimum_should_match: place + 1 },
      })),
    },
  };
}

/** OpenSearch refuses questions of more than 1,024 clauses. A long quotation has a hundred terms. */
const mostSquared = 4;

function flat(query: Query, boost: number): Body {
  return { constant_score: { filter: conditionOf(query), boost } };
}
