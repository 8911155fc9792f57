import { sourceOfPart } from "../../../../importer/provenance.ts";
import type { StoredLaw } from "../../law-catalog/corpus.ts";
import { lawKey } from "../../question/law-reference.ts";
import type { LawFacts, LawTimeline, StoredArticle } from "../corpus.ts";
import { type Differences, differencesIn } from "../official/differences.ts";
import type { OfficialLaw } from "../official/official-law.ts";
import { factOf, OfficialLaws } from "../official/official-laws.ts";
import { type AmendingAct, amendedLaw, knownActs, readAmendingAct } from "./amending-act.ts";
import { Catalogue, compare, dayKey } from "./catalogue.ts";
import { chooseVersions, type HeldVersion } from "./choose-versions.ts";
import type { DatedText } from "./dated-text.ts";
import { FoldedLaw, type KnownVersion } from "./folded-law.ts";
import type { CataloguePack, LawPack } from "./law-version.ts";
import { type Repeal, repealsOf } from "./repeals.ts";

/** The served data, made from all packs at once. The order of the packs does not matter. */
export interface FoldedLaws {
  readonly articles: StoredArticle[];
  readonly entries: StoredLaw[];
  /** Versions that are not served until the operator accepts them. */
  readonly heldBack: readonly HeldVersion[];
  /** Where the official list and the packs differ. */
  readonly official: Differences;
}

export function foldLaws(
  versions: readonly LawPack[],
  entries: readonly CataloguePack[] = [],
  listed: readonly OfficialLaw[] = [],
): FoldedLaws {
  const catalogue = new Catalogue(entries);
  const official = new OfficialLaws(listed);
  const laws = new Map<string, LawPack[]>();
  const acts = new Map<string, AmendingAct[]>();
  for (const packed of versions) {
    const version = catalogue.complete(packed);
    const key = lawKey(version.facts.law_name);
    laws.set(key, [...(laws.get(key) ?? []), version]);
    const act = readAmendingAct(version);
    const amended = amendedLaw(version.facts.law_name);
    if (act !== undefined && amended !== null) acts.set(amended, [...(acts.get(amended) ?? []), act]);
  }
  const heldBack: HeldVersion[] = [];
  const compared: Beside[] = [];
  const served = [...laws]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, texts]) => {
      const actsOfLaw = ordered([...(acts.get(key) ?? []), ...knownActs(key)]);
      const { kept, held } = chooseVersions(key, texts, actsOfLaw);
      heldBack.push(...held);
      const known = newerKnown(held, catalogue.daysOf(key));
      const { as, others, matches } = asListed(official, key, kept);
      const told = new FoldedLaw(key, as, actsOfLaw, [...known, ...others]);
      if (listed.length > 0)
        compared.push({ kept, matches, told, plain: new FoldedLaw(key, kept, actsOfLaw, known) });
      return told;
    });
  const repeals = repealsOf(served);
  return {
    articles: served.flatMap((law) => law.articles(repeals.get(law.key))),
    entries: entriesOf(served, catalogue, repeals, official),
    heldBack,
    official: differencesIn(
      compared.flatMap(({ kept, matches, plain, told }) => {
        const repeal = repeals.get(told.key);
        const [before, after] = [plain.timeline(repeal), told.timeline(repeal)];
        return kept.map(({ facts, effectiveDate, source }, place) => ({
          law: facts.law_name,
          level_text: facts.level_text,
          version_date: facts.version_date,
          effective_date: effectiveDate,
          source: source.name,
          place,
          plain: before,
          told: after,
          listed: matches[place],
          isNamed: official.named(told.key).length > 0,
        }));
      }),
      listed
        .map(({ listed_on }) => listed_on)
        .sort()
        .at(-1) ?? null,
    ),
  };
}

/** A law without the official list and with it. */
interface Beside {
  readonly kept: readonly DatedText[];
  readonly matches: readonly (OfficialLaw | undefined)[];
  readonly plain: FoldedLaw;
  readonly told: FoldedLaw;
}

/**
 * One act for each date, oldest first. If a date has several acts, the one that names the most articles is
 * used.
 */
function ordered(acts: readonly AmendingAct[]): AmendingAct[] {
  const days = new Map<string, AmendingAct>();
  for (const act of [...acts].sort((a, b) => compare(a.date, b.date) || b.articles.size - a.articles.size)) {
    if (!days.has(act.date)) days.set(act.date, act);
  }
  return [...days.values()];
}

/** Versions that exist but are not served. */
function newerKnown(held: readonly HeldVersion[], catalogued: readonly string[]): KnownVersion[] {
  const days = [...held.map(({ versionDate }) => versionDate).filter((date) => date !== null), ...catalogued];
  return days.map((date) => ({ date, from: date }));
}

/** The texts with state and dates of the official list, what each is there, and the listed versions that are not held. */
function asListed(
  official: OfficialLaws,
  key: string,
  kept: readonly DatedText[],
): {
  readonly as: readonly DatedText[];
  readonly matches: readonly (OfficialLaw | undefined)[];
  readonly others: readonly KnownVersion[];
} {
  const matches = official.match(
    key,
    kept.map(({ facts }) => facts),
  );
  return {
    matches,
    as: kept.map((text, place) => withOfficial(text, matches[place])),
    others: official.named(key).flatMap((law) => {
      if (law.promulgated === null || matches.includes(law)) return [];
      const { promulgated: date, in_force_from: start, listed_on: listed } = law;
      return [{ date, from: start !== null && start > date ? start : date, listed }];
    }),
  };
}

/**
 * Whether the list's day is that on which a version took effect. A day before the version's own is that of the law's first
 * text; the day of promulgation itself may only fill the field, so a later day that the text states goes before it.
 */
function isOwnStart(listed: string | null, date: string, stated: string | null): listed is string {
  return listed !== null && (listed > date || (listed === date && stated === null));
}

function withOfficial(text: DatedText, law: OfficialLaw | undefined): DatedText {
  if (law === undefined) return text;
  const { facts } = text;
  const fact = factOf(law);
  const date = facts.version_date ?? law.promulgated ?? "";
  return {
    ...text,
    ...(isOwnStart(law.in_force_from, date, text.effectiveDate) && { effectiveDate: law.in_force_from }),
    facts: {
      ...facts,
      promulgated_date: law.promulgated ?? facts.promulgated_date,
      issuing_body: facts.issuing_body ?? law.issuer,
      ...(fact !== undefined && { official: fact }),
    },
  };
}

/** One entry for each version of each law, and one for each catalogue row without a text. */
function entriesOf(
  laws: readonly FoldedLaw[],
  catalogue: Catalogue,
  repeals: ReadonlyMap<string, Repeal>,
  official: OfficialLaws,
): StoredLaw[] {
  const entries = new Map<string, StoredLaw>();
  const timelines = new Map<string, LawTimeline>();
  for (const law of laws) {
    const timeline = law.timeline(repeals.get(law.key));
    timelines.set(law.key, timeline);
    for (const [place, text] of law.texts.entries()) {
      entries.set(dayKey(text.facts), {
        ...text.facts,
        effective_date: text.effectiveDate,
        law_effective_date: text.lawEffectiveDate,
        article_count: text.articles.length,
        timeline,
        place,
        source: sourceOfPart(text.source, text.facts, text.facts.law_id),
      });
    }
  }
  for (const { facts: stated, source } of catalogue.entries) {
    const day = dayKey(stated);
    if (entries.has(day)) continue;
    const facts = asListedDay(stated, official.ofDay(lawKey(stated.law_name), stated));
    entries.set(day, {
      ...facts,
      ...startsOf(facts),
      article_count: 0,
      ...among(timelines.get(lawKey(facts.law_name)), facts),
      source: sourceOfPart(source, facts, facts.law_id),
    });
  }
  for (const [key, versions] of official.nationalUnder((each) => !timelines.has(each)))
    for (const { facts, source } of versions) {
      const day = dayKey(facts);
      if (entries.has(day)) continue;
      const others = versions.map((each) => each.facts);
      entries.set(day, {
        ...facts,
        article_count: 0,
        timeline: timelines.get(key) ?? { versions: others },
        place: others.indexOf(facts),
        source: sourceOfPart(source, facts, facts.law_id),
      });
    }
  return [...entries].sort(([a], [b]) => compare(a, b)).map(([, entry]) => entry);
}

/** The facts of a catalogue with those of the official list. */
function asListedDay(facts: LawFacts, law: OfficialLaw | undefined): LawFacts {
  const fact = law && factOf(law);
  if (law === undefined || fact === undefined) return facts;
  return { ...facts, effective_date: law.in_force_from ?? facts.effective_date, official: fact };
}

/** A version without a text, placed among those that have one. */
function among(law: LawTimeline | undefined, facts: LawFacts): Pick<StoredLaw, "timeline" | "place"> {
  const { version_date, status_text } = facts;
  const { effective_date } = startsOf(facts);
  const own = {
    version_date,
    effective_date,
    status_text,
    ...(facts.official && { official: facts.official }),
  };
  if (law === undefined || version_date === null) return { timeline: { versions: [own] }, place: 0 };
  const place = law.versions.filter((held) => (held.version_date ?? "") < version_date).length;
  const { newer, newer_from, newer_listed, ...rest } = law;
  const isLater = newer !== undefined && newer > version_date;
  const versions = law.versions.toSpliced(place, 0, own);
  const later = isLater && {
    newer,
    ...(newer_from !== undefined && { newer_from }),
    ...(newer_listed !== undefined && { newer_listed }),
  };
  return { timeline: { ...rest, versions, ...later }, place };
}

/** Catalogues give an amended version the day on which the law took effect, which is not the version's own. */
function startsOf({ version_date: date, effective_date: stated }: LawFacts) {
  const isOwn = stated !== null && (date === null || stated >= date);
  return { effective_date: isOwn ? stated : null, law_effective_date: stated };
}
