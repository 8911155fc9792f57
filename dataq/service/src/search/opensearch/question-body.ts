import { type Statistics, worthOf } from "../bm25.ts";
import { numbersIn } from "../date-number.ts";
import type { Concept, Query, Question, Wanted, Wording } from "../search-index.ts";
import { completeQuery, findingTerms, type Lifts, leastShare, massOf, ownQuery, shareOf } from "../wanted.ts";
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

/** Many terms are one condition, because the number of clauses is limited. */
function anyOf(queries: readonly Query[]): Body {
  const terms = queries.flatMap((query) => ("term" in query ? [query.term] : []));
  const others = queries.filter((query) => !("term" in query)).map(conditionOf);
  const exact = terms.filter((term) => fieldOf(term) === "terms");
  const words = terms.filter((term) => fieldOf(term) === "words");
  const should = [
    ...(exact.length > 0 ? [{ terms: { terms: exact } }] : []),
    ...(words.length > mostApart ? [{ terms: { words } }] : words.map((term) => conditionOf({ term }))),
    ...others,
  ];
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

/** Of the complete documents those with everything in the question's own words; undefined if all have that. */
export function ownOf({ wanted, unknown, statistics }: Prepared): Body | undefined {
  const own = ownQuery(wanted, unknown, statistics);
  return own && conditionOf(own);
}

/** Documents with anything that is asked for. Those with everything are among them. */
export function anythingOf({ wanted }: Pick<Prepared, "wanted">): Body {
  return anyOf([...new Set(findingTerms(wanted))].map((term) => ({ term })));
}

/**
 * Scores what is asked for as the embedded engine does. Documents without any of it do not match. `isWhole`: only
 * documents with everything are scored, so that nothing has to raise them. `scoring`: the wordings that score.
 */
export function scoredOf(ranked: Prepared, isWhole = false, scoring = ranked.wanted): Body {
  const complete = isWhole ? undefined : completeOf(ranked);
  const own = ownOf(ranked);
  const raise = (filter: Body, boost: number): Body => ({ constant_score: { filter, boost } });
  const should = [
    ...conceptsOf({ ...ranked, wanted: scoring }, isWhole),
    ...scoring.hints.map(wordingOf),
    ...scoring.exact.map((term) => flat({ term }, lifts.exact)),
    ...(complete ? [raise(complete, own ? lifts.complete : lifts.complete + lifts.own)] : []),
    ...(own ? [raise(own, lifts.own)] : []),
  ];
  if (should.length === 0) return { match_none: {} };
  const scored = { bool: { should, minimum_should_match: 1 } };
  return scoring.priors.length === 0
    ? scored
    : { bool: { must: [scored], should: scoring.priors.map(wordingOf) } };
}

/**
 * What is wanted, without the lightest wordings of a question with more clauses than OpenSearch takes: they find documents
 * without scoring them. Each concept keeps its first wording. `beside`: the conditions of complete documents, which are
 * required or raise the score.
 */
export function scoringOf(ranked: Prepared, beside: readonly Body[]): Wanted {
  const { wanted } = ranked;
  if (findingTerms(wanted).length <= alwaysFew) return wanted;
  const concepts = wanted.alternatives.flat();
  const needed = [...concepts.flatMap((concept) => concept.slice(0, 1)), ...wanted.priors];
  const others = [...concepts.flatMap((concept) => concept.slice(1)), ...wanted.hints];
  const fixed = [...beside, ownOf(ranked), anythingOf(ranked), needed.map(wordingOf)];
  let left = mostClauses - clausesIn(fixed) - wanted.exact.length;
  const kept = new Set(
    others
      .toSorted((a, b) => b.weight - a.weight)
      .filter((wording) => {
        left -= clausesIn(wordingOf(wording));
        return left >= 0;
      }),
  );
  if (kept.size === others.length) return wanted;
  return {
    ...wanted,
    alternatives: wanted.alternatives.map((each) =>
      each.map((concept) => concept.filter((wording, place) => place === 0 || kept.has(wording))),
    ),
    hints: wanted.hints.filter((hint) => kept.has(hint)),
  };
}

/** As OpenSearch counts them: the conditions of functions are questions of their own. */
function clausesIn(part: unknown): number {
  if (typeof part !== "object" || part === null) return 0;
  if (Array.isArray(part)) return part.reduce((sum: number, each) => sum + clausesIn(each), 0);
  const entries = Object.entries(part).filter(([name]) => name !== "functions");
  return entries.reduce((sum, [name, each]) => sum + (leaves.has(name) ? 1 : clausesIn(each)), 0);
}

const leaves = new Set(["term", "terms", "span_term", "span_gap", "range", "match_all", "match_none"]);
/** OpenSearch refuses a question of more than 1,024 clauses. Some are left for the conditions of the page. */
const mostClauses = 1_000;
/** So few terms make fewer clauses, whatever wordings they are in. */
const alwaysFew = 100;
/** OpenSearch treats up to this many terms alike, whether they are one condition or several. */
const mostApart = 16;

/**
 * Added to the scores of documents that rank first. They are smaller than those of the embedded engine, because OpenSearch
 * keeps scores in 32 bits.
 */
export const lifts: Lifts = { complete: 1_024, own: 1_024, exact: 4_096 };

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
  // Few terms need no function: each number of terms adds its part.
  return {
    bool: {
      should: terms.map((_, place) => ({
        bool: { should: terms.map((term) => scored(term, count)), minimum_should_match: place + 1 },
      })),
    },
  };
}

/** A long quotation has a hundred terms. */
const mostSquared = 4;

function flat(query: Query, boost: number): Body {
  return { constant_score: { filter: conditionOf(query), boost } };
}
