import { knownLaws } from "../../citation-check/known-laws.ts";
import { lawKey } from "../../question/law-reference.ts";
import { endOf } from "./dated-text.ts";
import type { FoldedLaw } from "./folded-law.ts";
import { happeningIn, repealedIn } from "./law-history.ts";

/** When a law was repealed and by which law; null where unknown. */
export interface Repeal {
  readonly date: string | null;
  readonly by: string | null;
}

/** Repeals by key of the repealed law, as stated by repealing laws, histories and the list of known laws. */
export function repealsOf(laws: readonly FoldedLaw[]): Map<string, Repeal> {
  const repeals = new Map<string, Repeal>();
  const note = (key: string, repeal: Repeal) => {
    const known = repeals.get(key);
    if (known === undefined || (repeal.date ?? "") < (known.date ?? "")) repeals.set(key, repeal);
  };
  const dates = new Map(laws.map((law) => [law.key, law.newest.facts.version_date ?? ""]));
  for (const law of laws) {
    for (const text of law.texts) {
      for (const name of repealedIn(endOf(text.articles))) {
        const key = lawKey(name);
        const date = text.effectiveDate;
        // A law that was passed later under the same name is a different law.
        if (key !== law.key && (dates.get(key) ?? "") <= (text.facts.version_date ?? ""))
          note(key, { date, by: law.newest.facts.law_name });
      }
    }
    const own = law.newest.history.findLast((event) => happeningIn(event.text) === "repealed");
    if (own !== undefined && own.date >= (law.newest.facts.version_date ?? ""))
      note(law.key, { date: own.date, by: null });
  }
  // No act in the data repeals most interpretations of the courts.
  const names = new Map(laws.map((law) => [law.key, law.newest.facts.law_name]));
  for (const { key, newest } of laws) {
    const known = knownLaws.get(key)?.repealed;
    if (known === undefined || repeals.has(key) || (newest.facts.version_date ?? "") >= known.date) continue;
    const by = known.by === null ? null : (names.get(lawKey(known.by)) ?? known.by);
    repeals.set(key, { date: known.date, by });
  }
  return repeals;
}
