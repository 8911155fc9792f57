import type { ListedLaw } from "../../../../importer/national-laws/list-page.ts";
import { listedTitle } from "../../unheld/unheld-sources.ts";

/** The level of a listed law, in the words of the packs; null for a kind that is not known here. */
export function levelOfKind(kind: string | null): string | null {
  return levels.find(([pattern]) => pattern.test(kind ?? ""))?.[1] ?? null;
}

const levels: readonly (readonly [RegExp, string])[] = [
  [/^宪法$/, "宪法"],
  [/行政法规/, "行政法规"],
  [/监察法规/, "监察法规"],
  [/司法解释/, "司法解释"],
  [/地方|自治条例|单行条例|经济特区|自由贸易港|浦东新区/, "地方性法规"],
  [/法律|宪法|修正案|民商法|民法商法|行政法|经济法|社会法|刑法|程序法/, "法律"],
];

/**
 * The laws in the order in which their texts are read: first the regulations and interpretations that people's questions
 * need most, then laws, then the rest; of each, what is in force first and the newest first. Of local regulations, those
 * whose title or issuer has one of the places.
 */
export function inOrderOfUse(laws: readonly ListedLaw[], places: readonly string[]): ListedLaw[] {
  return laws
    .map((law) => ({ law, rank: rankOf(law) }))
    .filter(({ law, rank }) => rank < localRank || isOfPlace(law, places))
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        stateRank(a.law) - stateRank(b.law) ||
        compare(b.law.promulgated ?? "", a.law.promulgated ?? "") ||
        compare(a.law.id, b.law.id),
    )
    .map(({ law }) => law);
}

/** Whether a text is among those that are read first. */
export function isAskedMost(law: ListedLaw): boolean {
  return rankOf(law) === 0;
}

function rankOf(law: ListedLaw): number {
  const level = levelOfKind(law.kind);
  if (level === "地方性法规") return localRank;
  const isCurrent = law.state === null || law.state >= 3;
  if (isCurrent && level !== "法律" && level !== "宪法" && listedTitle(law.title) !== undefined) return 0;
  return level === "法律" || level === "宪法" ? 1 : 2;
}

function isOfPlace({ title, issuer }: ListedLaw, places: readonly string[]): boolean {
  return places.some((place) => title.includes(place) || issuer?.includes(place) === true);
}

function stateRank({ state }: ListedLaw): number {
  return state === null ? 5 : [3, 4, 2, 1].indexOf(state);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const localRank = 3;
