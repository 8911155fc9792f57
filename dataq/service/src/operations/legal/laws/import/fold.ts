import type { Provenance } from "@dataq/contract";
import { canonicalJson, sourceOfPart } from "../../../../importer/provenance.ts";
import type { StoredLaw } from "../../law-catalog/corpus.ts";
import { lawKey, readArticleNumber } from "../../question/law-reference.ts";
import type { ArticleChange, ArticleVersion, LawEvent, LawFacts, StoredArticle } from "../corpus.ts";
import { type AmendingAct, amendedLaw, knownActs, labelOf, readAmendingAct } from "./amending-act.ts";
import { type Origin, originsOf, type Worded, wordsOf } from "./compare.ts";
import { effectiveDateOfDecision } from "./decisions.ts";
import {
  effectiveDateInHistory,
  effectiveDateInText,
  happeningIn,
  isEffectiveAtOnce,
  repealedIn,
  textEvents,
} from "./law-history.ts";
import type { CataloguePack, LawPack, LawText } from "./law-version.ts";

/** What serves, made from all packs at once: the same packs in any order give the same. */
export interface FoldedLaws {
  readonly articles: StoredArticle[];
  readonly entries: StoredLaw[];
  /** Versions that do not serve until the operator says so. */
  readonly heldBack: readonly HeldVersion[];
}

export interface HeldVersion {
  /** Name of its source. */
  readonly source: string;
  readonly law: string;
  /** Null where the version cannot be placed among the others, because nothing dates it. */
  readonly versionDate: string | null;
  readonly dropped: number;
  /** Articles of the version before it. */
  readonly of: number;
}

/** A version may drop this part of a law's articles; what drops more is more often a cut text than a new law. */
const mostDropped = 0.1;

export function foldLaws(versions: readonly LawPack[], entries: readonly CataloguePack[] = []): FoldedLaws {
  const catalogue = new Catalogue(entries);
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
  const served = [...laws]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, texts]) => {
      const actsOfLaw = ordered([...(acts.get(key) ?? []), ...knownActs(key)]);
      const { kept, held } = choose(key, texts, actsOfLaw);
      heldBack.push(...held);
      return new Law(key, kept, actsOfLaw, newerKnown(held, catalogue.daysOf(key)));
    });
  const repeals = repealsOf(served);
  return {
    articles: served.flatMap((law) => law.articles(repeals.get(law.key))),
    entries: entriesOf(served, catalogue, repeals),
    heldBack,
  };
}

/** Facts of laws by id and by name and day, wherever a pack states them. */
class Catalogue {
  readonly #byId = new Map<string, LawFacts>();
  readonly #byDay = new Map<string, LawFacts>();
  readonly #days = new Map<string, string[]>();
  readonly entries: readonly Sourced[];

  constructor(packs: readonly CataloguePack[]) {
    this.entries = packs.map(({ id: _, source, ...facts }) => ({ facts, source })).sort(byKnowledge);
    for (const { facts: known } of this.entries) {
      if (!this.#byId.has(known.law_id)) this.#byId.set(known.law_id, known);
      const day = dayKey(known);
      if (!this.#byDay.has(day)) this.#byDay.set(day, known);
      const key = lawKey(known.law_name);
      if (known.version_date !== null)
        this.#days.set(key, [...(this.#days.get(key) ?? []), known.version_date]);
    }
  }

  /** Days of the versions of a law that the catalogues name. */
  daysOf(key: string): readonly string[] {
    return this.#days.get(key) ?? [];
  }

  /** The version with what the catalogue knows and its own pack does not. */
  complete(version: LawPack): LawPack {
    const known = this.#byId.get(version.facts.law_id);
    const facts = known === undefined ? version.facts : filled(version.facts, known);
    const sameDay = this.#byDay.get(dayKey(facts));
    return { ...version, facts: sameDay === undefined ? facts : filled(facts, sameDay) };
  }
}

function dayKey(facts: LawFacts): string {
  return `${lawKey(facts.law_name)} ${facts.version_date ?? ""}`;
}

function filled(facts: LawFacts, known: LawFacts): LawFacts {
  const own = Object.entries(facts).filter(([, value]) => value !== null);
  return { ...known, ...Object.fromEntries(own) };
}

/** More is known first; among equals an order that does not hang on when each was imported. */
function byKnowledge(a: Sourced, b: Sourced): number {
  const more = knowledge(b.facts) - knowledge(a.facts);
  return more !== 0 ? more : compare(orderOf(a), orderOf(b));
}

interface Sourced {
  readonly facts: LawFacts;
  readonly source: Provenance;
}

function orderOf({ facts, source }: Sourced): string {
  return `${source.name} ${canonicalJson(facts)}`;
}

function knowledge(facts: LawFacts): number {
  return Object.values(facts).filter((fact) => fact !== null).length;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** One text for each day, oldest first, and what is held back. */
function choose(
  key: string,
  texts: readonly LawPack[],
  acts: readonly AmendingAct[],
): { readonly kept: DatedText[]; readonly held: HeldVersion[] } {
  const history = texts.map((text) => text.history).reduce(fuller, []);
  const days = new Map<string, DatedText>();
  for (const text of [...texts].sort(byCompleteness)) {
    const day = text.facts.version_date ?? "";
    const chosen = days.get(day);
    const isAccepted = text.accepted === true || chosen?.accepted === true;
    days.set(
      day,
      chosen === undefined
        ? datedText(key, text, history, acts)
        : { ...chosen, facts: filled(chosen.facts, text.facts), accepted: isAccepted },
    );
  }
  const undated = days.get("");
  days.delete("");
  const dated = [...days].sort(([a], [b]) => compare(a, b)).map(([, text]) => text);
  if (undated !== undefined && dated.length === 0) return { kept: [undated], held: [] };
  const kept: DatedText[] = [];
  const held: HeldVersion[] = [];
  for (const text of dated) {
    const before = kept.at(-1);
    if (before !== undefined && isRepeated(before, text)) {
      // The day on which it was passed, and the day on which it was published.
      kept[kept.length - 1] = { ...text, facts: filled(text.facts, before.facts) };
      continue;
    }
    const dropped = before === undefined ? 0 : droppedFrom(before, text);
    if (before === undefined || text.accepted === true || dropped <= mostDropped * before.labels.size)
      kept.push(text);
    else held.push(heldVersion(text, dropped, before.labels.size));
  }
  const isKnown = undated === undefined || kept.some((text) => hasSameWords(text, undated));
  if (!isKnown) held.push(heldVersion(undated, 0, undated.labels.size));
  return { kept, held };
}

/** A version with what comparing needs. */
interface DatedText extends LawPack {
  readonly labels: ReadonlyMap<string, LawText>;
  /** Made when first asked for: of most laws only one version is held. */
  readonly worded: () => readonly Worded[];
  readonly effectiveDate: string | null;
}

function datedText(
  key: string,
  version: LawPack,
  history: readonly LawEvent[],
  acts: readonly AmendingAct[],
): DatedText {
  const labels = numbered(version.articles);
  let worded: readonly Worded[] | undefined;
  return {
    ...version,
    history,
    labels,
    worded: () => {
      worded ??= [...labels].map(([label, { content }]) => ({ label, words: wordsOf(content) }));
      return worded;
    },
    effectiveDate: effectiveDateOf(key, version, history, acts),
  };
}

/** One text under two days: it has the same words and holds from the same day. */
function isRepeated(before: DatedText, text: DatedText): boolean {
  return (
    text.effectiveDate !== null && before.effectiveDate === text.effectiveDate && hasSameWords(before, text)
  );
}

function heldVersion(text: LawPack, dropped: number, of: number): HeldVersion {
  const { law_name: law, version_date: versionDate } = text.facts;
  return { source: text.source.name, law, versionDate, dropped, of };
}

/** The text with more articles, of which more is known, in a packs' order that is always the same. */
function byCompleteness(a: LawPack, b: LawPack): number {
  return (
    b.articles.length - a.articles.length ||
    byKnowledge(a, b) ||
    compare(canonicalJson(a.articles), canonicalJson(b.articles))
  );
}

/** The history that reaches further, and of those the one that tells more. */
function fuller(a: readonly LawEvent[], b: readonly LawEvent[]): readonly LawEvent[] {
  const [lastA, lastB] = [a.at(-1)?.date ?? "", b.at(-1)?.date ?? ""];
  if (lastA !== lastB) return lastA > lastB ? a : b;
  if (a.length !== b.length) return a.length > b.length ? a : b;
  return canonicalJson(a) <= canonicalJson(b) ? a : b;
}

function droppedFrom(before: DatedText, text: DatedText): number {
  return [...before.labels.keys()].filter((label) => !text.labels.has(label)).length;
}

function hasSameWords(one: DatedText, other: DatedText): boolean {
  if (one.labels.size !== other.labels.size) return false;
  const words = new Map(other.worded().map((article) => [article.label, article.words]));
  return one.worded().every((article) => words.get(article.label) === article.words);
}

/** By number (577, 20-1); a number that stands twice in a law gets `#2`. */
function numbered(articles: readonly LawText[]): Map<string, LawText> {
  const out = new Map<string, LawText>();
  for (const article of articles) {
    const parsed = readArticleNumber(article.articleNo);
    const base = parsed === undefined ? article.articleNo : labelOf(parsed);
    let label = base;
    for (let again = 2; out.has(label); again++) label = `${base}#${again}`;
    out.set(label, article);
  }
  return out;
}

/** The day from which a version holds; null where nothing tells it. What the packs state is often the first text's. */
function effectiveDateOf(
  key: string,
  { facts, articles }: LawPack,
  history: readonly LawEvent[],
  acts: readonly AmendingAct[],
): string | null {
  const { version_date: date, effective_date: stated } = facts;
  if (date === null) return stated;
  const isOfDay = (event: LawEvent) => event.date === date;
  const own = textEvents(history).findLast(isOfDay) ?? history.findLast(isOfDay);
  const decided = effectiveDateOfDecision({
    law: key,
    level: facts.level_text,
    passed: date,
    line: own?.text ?? null,
  });
  if (decided !== null) return decided;
  const act = acts.find((each) => each.date === date);
  if (act !== undefined && act.effectiveDate !== null) return act.effectiveDate;
  const end = endOf(articles);
  const told = effectiveDateInHistory(history, date) ?? effectiveDateInText(end, date);
  if (told !== null) return told;
  if (stated !== null && stated > date) return stated;
  // A later amendment leaves the first text's 自公布之日起施行 as it was.
  const isAmendment = own !== undefined && happeningIn(own.text) === "amended";
  if (isAmendment) return null;
  return stated === date || (own !== undefined && isEffectiveAtOnce(end)) ? date : null;
}

/** Where a law says from when it holds and what it repeals. */
function endOf(articles: readonly LawText[]): string {
  return articles
    .slice(-4)
    .map(({ content }) => content)
    .join("\n");
}

/** One act for each day; of several the one of which more is known. */
function ordered(acts: readonly AmendingAct[]): AmendingAct[] {
  const days = new Map<string, AmendingAct>();
  for (const act of [...acts].sort((a, b) => compare(a.date, b.date) || b.articles.size - a.articles.size)) {
    if (!days.has(act.date)) days.set(act.date, act);
  }
  return [...days.values()];
}

/** Days of versions that are known and do not serve. */
function newerKnown(held: readonly HeldVersion[], catalogued: readonly string[]): string[] {
  return [...held.map(({ versionDate }) => versionDate).filter((date) => date !== null), ...catalogued];
}

/** One law in all its versions. */
class Law {
  readonly key: string;
  readonly texts: readonly DatedText[];
  readonly #acts: readonly AmendingAct[];
  readonly #history: readonly LawEvent[];
  /** Days of its versions that are known without a text that serves. */
  readonly #known: readonly string[];

  constructor(
    key: string,
    texts: readonly DatedText[],
    acts: readonly AmendingAct[],
    known: readonly string[],
  ) {
    this.key = key;
    this.texts = texts;
    this.#acts = acts;
    this.#history = this.newest.history;
    this.#known = known;
  }

  get newest(): DatedText {
    return this.texts.at(-1) as DatedText;
  }

  articles(repeal: Repeal | undefined): StoredArticle[] {
    const steps = this.#steps();
    // The order of the newest version, then what only older ones have.
    const labels = new Set([...this.texts].reverse().flatMap((text) => [...text.labels.keys()]));
    const newer = this.#newer();
    const areKnown =
      newer === undefined && this.#acts.some(({ date }) => date > (this.newest.facts.version_date ?? ""));
    return [...labels].map((label) => {
      const sample = this.texts.findLast((text) => text.labels.has(label))?.labels.get(label) as LawText;
      const acts = this.#actsOn(label);
      const past = this.#past(label, steps);
      return {
        id: `${this.key}:${label}`,
        law_name: this.newest.facts.law_name,
        article_no: sample.articleNo,
        article: readArticleNumber(sample.articleNo) ?? null,
        versions: this.texts.map((text, place) => this.#version(text, label, steps[place] as Step)),
        history: this.#history,
        ...(acts.length > 0 && {
          acts: acts.map(({ date, effectiveDate, by, articles }) => ({
            date,
            effective_date: effectiveDate,
            change: articles.get(label) as "added" | "amended" | "repealed",
            by,
          })),
        }),
        ...(past !== undefined && { past }),
        ...(repeal !== undefined && { repealed: repeal }),
        ...(newer !== undefined && { newer }),
        ...(areKnown && { amendments_known: true as const }),
      };
    });
  }

  /** The versions of an article from before it got its number. */
  #past(label: string, steps: readonly Step[]): StoredArticle["past"] {
    const from = this.texts.findLastIndex(
      (_, place) => steps[place]?.states.get(label)?.formerLabel !== undefined,
    );
    const versions: ArticleVersion[] = [];
    let former = steps[from]?.states.get(label)?.formerLabel;
    for (let place = from - 1; former !== undefined && place >= 0; place--) {
      const text = this.texts[place] as DatedText;
      versions.unshift(this.#version(text, former, steps[place] as Step));
      const state = steps[place]?.states.get(former);
      former = state?.change === "added" ? undefined : (state?.formerLabel ?? former);
    }
    return from === -1 ? undefined : { from, versions };
  }

  #version(text: DatedText, label: string, { states }: Step): ArticleVersion {
    const article = text.labels.get(label);
    const { formerLabel: _, ...state } = states.get(label) ?? { since: null, change: null };
    const isStanding = article !== undefined && !deleted.has(wordsOf(article.content.slice(0, 20)));
    const { chapter, section, content } = isStanding
      ? article
      : { chapter: null, section: null, content: null };
    return {
      ...text.facts,
      effective_date: text.effectiveDate,
      chapter,
      section,
      content,
      ...state,
      source: sourceOfPart(text.source, content ?? text.facts.law_id, text.facts.law_id),
    };
  }

  /** For each version, what it did to each article and since when the words hold. */
  #steps(): Step[] {
    const steps: Step[] = [];
    for (const [place, text] of this.texts.entries()) {
      const before = this.texts[place - 1];
      steps.push(
        before === undefined ? this.#firstStep(text) : this.#nextStep(before, steps[place - 1] as Step, text),
      );
    }
    return steps;
  }

  #firstStep(text: DatedText): Step {
    const date = text.facts.version_date ?? "";
    const events = textEvents(this.#history).filter((event) => event.date <= date);
    const base = events.findLast((event) => happeningIn(event.text) !== "amended");
    const amendments = events.filter((event) => event.date > (base?.date ?? ""));
    const isOriginal = base !== undefined && base === events[0] && amendments.length === 0;
    // With every amendment since the last whole text known, what none of them names is as old as that text.
    const areKnown =
      base !== undefined &&
      amendments.length > 0 &&
      amendments.every((event) => this.#actOf(event.date) !== undefined);
    const baseSince = areKnown
      ? (effectiveDateInText(endOf(text.articles), base.date) ??
        (isEffectiveAtOnce(endOf(text.articles)) ? base.date : text.effectiveDate))
      : text.effectiveDate;
    const states = new Map<string, ArticleState>();
    for (const label of text.labels.keys()) {
      const acts = this.#actsOn(label).filter((act) => act.date <= date && act.date > (base?.date ?? ""));
      const last = acts.at(-1);
      const change: ArticleChange =
        last?.date === date
          ? (last.articles.get(label) as ArticleChange)
          : isOriginal
            ? "original"
            : areKnown
              ? "unchanged"
              : "unknown";
      states.set(label, { since: last === undefined ? baseSince : last.effectiveDate, change });
    }
    return { states };
  }

  #nextStep(before: DatedText, last: Step, text: DatedText): Step {
    const origins = originsOf(before.worded(), text.worded());
    const states = new Map<string, ArticleState>();
    for (const label of text.labels.keys()) {
      states.set(label, this.#state(label, origins.get(label), before, last, text));
    }
    const movedTo = new Map([...origins].map(([label, origin]) => [origin.label, label]));
    for (const label of before.labels.keys()) {
      if (text.labels.has(label)) continue;
      const target = movedTo.get(label);
      const moved = target === undefined ? undefined : text.labels.get(target)?.articleNo;
      states.set(
        label,
        moved === undefined
          ? { since: text.effectiveDate, change: "repealed" }
          : { since: text.effectiveDate, change: "renumbered", moved_to: moved },
      );
    }
    return { states };
  }

  #state(
    label: string,
    origin: Origin | undefined,
    before: DatedText,
    last: Step,
    text: DatedText,
  ): ArticleState {
    const date = text.facts.version_date ?? "";
    const since = this.#actsOn(label).findLast(
      (act) => act.date <= date && act.date > (before.facts.version_date ?? ""),
    )?.effectiveDate;
    if (origin === undefined) return { since: since ?? text.effectiveDate, change: "added" };
    const formerNo = before.labels.get(origin.label)?.articleNo;
    const former =
      origin.label !== label && formerNo !== undefined
        ? { former_no: formerNo, formerLabel: origin.label }
        : {};
    if (!origin.isSame && !this.#isEditorial(label, origin, before, text))
      return { since: since ?? text.effectiveDate, change: "amended", ...former };
    return {
      since: last.states.get(origin.label)?.since ?? null,
      change: origin.label === label ? "unchanged" : "renumbered",
      ...former,
    };
  }

  /** An amendment names every article that it changes; what differs elsewhere differs between editions. */
  #isEditorial(label: string, origin: Origin, before: DatedText, text: DatedText): boolean {
    const [from, to] = [before.facts.version_date ?? "", text.facts.version_date ?? ""];
    const act = this.#actOf(to);
    if (origin.label !== label || act?.by?.includes("修正案") !== true || act.articles.has(label))
      return false;
    return textEvents(this.#history).every(({ date }) => date <= from || date >= to);
  }

  #actsOn(label: string): AmendingAct[] {
    return this.#acts.filter(({ articles }) => articles.has(label));
  }

  #actOf(date: string): AmendingAct | undefined {
    return this.#acts.find((act) => act.date === date);
  }

  /** The day of a newer text of which nothing more is known: it is held back, or the law's history tells of it. */
  #newer(): string | undefined {
    const date = this.newest.facts.version_date;
    if (date === null) return undefined;
    const told = textEvents(this.#history).filter(
      (event) => event.date > date && this.#actOf(event.date) === undefined,
    );
    const known = this.#known.filter((day) => day > date && this.#actOf(day) === undefined);
    return [...told.map((event) => event.date), ...known].sort()[0];
  }
}

/** What stands in the place of an article that was struck out. */
const deleted = new Set(["删去", "已删去", "删除", "已删除", "本条删去", "本条删除", "此条删去", "此条删除"]);

interface Step {
  readonly states: ReadonlyMap<string, ArticleState>;
}

type ArticleState = Pick<ArticleVersion, "former_no" | "moved_to"> & {
  readonly formerLabel?: string;
  readonly since: string | null;
  readonly change: ArticleChange | null;
};

interface Repeal {
  readonly date: string | null;
  readonly by: string | null;
}

/** What the newest laws repeal by their own words, and what histories tell, by key. */
function repealsOf(laws: readonly Law[]): Map<string, Repeal> {
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
        // A law of the same name that was passed later is another one.
        if (key !== law.key && (dates.get(key) ?? "") <= (text.facts.version_date ?? ""))
          note(key, { date, by: law.newest.facts.law_name });
      }
    }
    const own = law.newest.history.findLast((event) => happeningIn(event.text) === "repealed");
    if (own !== undefined && own.date >= (law.newest.facts.version_date ?? ""))
      note(law.key, { date: own.date, by: null });
  }
  return repeals;
}

/** One entry for each version of each law, and for what a catalogue names without text. */
function entriesOf(
  laws: readonly Law[],
  catalogue: Catalogue,
  repeals: ReadonlyMap<string, Repeal>,
): StoredLaw[] {
  const entries = new Map<string, StoredLaw>();
  for (const law of laws) {
    const repeal = repeals.get(law.key);
    for (const text of law.texts) {
      entries.set(dayKey(text.facts), {
        ...text.facts,
        effective_date: text.effectiveDate,
        article_count: text.articles.length,
        ...(repeal !== undefined && { repealed: repeal }),
        source: sourceOfPart(text.source, text.facts, text.facts.law_id),
      });
    }
  }
  for (const { facts, source } of catalogue.entries) {
    const day = dayKey(facts);
    if (entries.has(day)) continue;
    entries.set(day, { ...facts, article_count: 0, source: sourceOfPart(source, facts, facts.law_id) });
  }
  return [...entries].sort(([a], [b]) => compare(a, b)).map(([, entry]) => entry);
}
