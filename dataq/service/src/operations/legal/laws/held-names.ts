import type { SearchIndex } from "../../../search/search-index.ts";
import { knownLaws } from "../citation-check/known-laws.ts";
import { LawNames } from "../question/named-laws.ts";
import { listedNames } from "../unheld/unheld-sources.ts";
import { lawTerm } from "./corpus.ts";

/** The names of the laws in a snapshot. */
export async function lawNames(index: SearchIndex, corpus: string): Promise<LawNames> {
  const terms = await index.terms(corpus, lawTerm(""));
  const known = namesOf.get(terms);
  if (known !== undefined) return known;
  const held = new Set(terms.map((term) => term.slice(lawTerm("").length)));
  const names = new LawNames(held, [...endedNames, ...listedNames]);
  namesOf.set(terms, names);
  return names;
}

const endedNames = [...knownLaws.values()].flatMap(({ key, repealed }) =>
  repealed === undefined ? [] : [key],
);

/** Cached by the list of terms, which stays the same object as long as the snapshot is served. */
const namesOf = new WeakMap<readonly string[], LawNames>();
