import { readArticleNumber } from "../../question/law-reference.ts";
import type { LawEvent } from "../corpus.ts";
import { type AmendingAct, labelOf } from "./amending-act.ts";
import { type Worded, wordsOf } from "./compare.ts";
import { effectiveDateOfDecision } from "./decisions.ts";
import {
  effectiveDateInHistory,
  effectiveDateInText,
  happeningIn,
  isEffectiveAtOnce,
  textEvents,
} from "./law-history.ts";
import type { LawPack, LawText } from "./law-version.ts";

/** A version with the data that comparisons need. */
export interface DatedText extends LawPack {
  readonly labels: ReadonlyMap<string, LawText>;
  /** Computed on first use, because most laws have only one version, which is never compared. */
  readonly worded: () => readonly Worded[];
  /** When this version took effect. */
  readonly effectiveDate: string | null;
  /** When the law took effect, in its first text or in the last that replaced it as a whole. */
  readonly lawEffectiveDate: string | null;
}

export function datedText(
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
    lawEffectiveDate: lawEffectiveDateOf(version, history),
  };
}

/**
 * When the law took effect; null if unknown. An amendment leaves the law's last article as it is: 本法自1983年3月1日起施行,
 * or 本法自公布之日起施行, which means the day of the text that says so first.
 */
function lawEffectiveDateOf({ facts, articles }: LawPack, history: readonly LawEvent[]): string | null {
  const end = endOf(articles);
  const told = effectiveDateInText(end, "");
  if (told !== null) return told;
  const base = baseOf(history, facts.version_date);
  if (isEffectiveAtOnce(end)) return base?.date ?? null;
  const inHistory = base === undefined ? null : effectiveDateInHistory(history, base.date);
  if (inHistory !== null) return inHistory;
  const { effective_date: stated, version_date: date } = facts;
  return stated !== null && stated !== date ? stated : null;
}

/** The event that made the last complete text up to a day. */
export function baseOf(history: readonly LawEvent[], date: string | null): LawEvent | undefined {
  return textEvents(history).findLast(
    (event) => event.date <= (date ?? "") && happeningIn(event.text) !== "amended",
  );
}

/** Whether a text states the day on which it takes effect itself, so that it is a whole text and no amended one. */
export function isOwnText({ facts, articles }: LawPack): boolean {
  return facts.version_date !== null && effectiveDateInText(endOf(articles), facts.version_date) !== null;
}

/** Whether two versions are the same text under two dates: the words and the effective date are equal. */
export function isRepeated(before: DatedText, text: DatedText): boolean {
  return (
    text.effectiveDate !== null && before.effectiveDate === text.effectiveDate && hasSameWords(before, text)
  );
}

export function droppedFrom(before: DatedText, text: DatedText): number {
  return [...before.labels.keys()].filter((label) => !text.labels.has(label)).length;
}

export function hasSameWords(one: DatedText, other: DatedText): boolean {
  if (one.labels.size !== other.labels.size) return false;
  const words = new Map(other.worded().map((article) => [article.label, article.words]));
  return one.worded().every((article) => words.get(article.label) === article.words);
}

/** The articles by number (577, 20-1). If a number occurs twice in a law, the second gets `#2`. */
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

/**
 * When a version took effect; null if unknown. The date that packs state is often the date of the law's first
 * text.
 */
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
  // A later amendment does not change the first text's 自公布之日起施行.
  const isAmendment = own !== undefined && happeningIn(own.text) === "amended";
  if (isAmendment) return null;
  return stated === date || (own !== undefined && isEffectiveAtOnce(end)) ? date : null;
}

/** The articles in which a law states its effective date and the laws that it repeals. */
export function endOf(articles: readonly LawText[]): string {
  return articles
    .slice(-4)
    .map(({ content }) => content)
    .join("\n");
}
