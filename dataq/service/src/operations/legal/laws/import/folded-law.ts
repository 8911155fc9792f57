import { sourceOfPart } from "../../../../importer/provenance.ts";
import { readArticleNumber } from "../../question/law-reference.ts";
import type { ArticleChange, ArticleVersion, LawEvent, LawTimeline, StoredArticle } from "../corpus.ts";
import type { AmendingAct } from "./amending-act.ts";
import { compare } from "./catalogue.ts";
import { type Origin, originsOf, wordsOf } from "./compare.ts";
import { baseOf, type DatedText, endOf, isOwnText } from "./dated-text.ts";
import { effectiveDateInText, isEffectiveAtOnce, textEvents } from "./law-history.ts";
import type { LawText } from "./law-version.ts";

/** A law with all its versions. */
export class FoldedLaw {
  readonly key: string;
  readonly texts: readonly DatedText[];
  readonly #acts: readonly AmendingAct[];
  readonly #history: readonly LawEvent[];
  readonly #known: readonly KnownVersion[];

  constructor(
    key: string,
    texts: readonly DatedText[],
    acts: readonly AmendingAct[],
    known: readonly KnownVersion[],
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

  articles(repealed: StoredArticle["repealed"]): StoredArticle[] {
    const steps = this.#steps();
    // Articles are in the order of the newest version. Articles that only older versions have come last.
    const labels = new Set([...this.texts].reverse().flatMap((text) => [...text.labels.keys()]));
    const { versions: _, ...ofLaw } = this.timeline(repealed);
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
        ...ofLaw,
      };
    });
  }

  timeline(repealed: LawTimeline["repealed"]): LawTimeline {
    const newer = this.#newer();
    const areKnown =
      newer === undefined && this.#acts.some(({ date }) => date > (this.newest.facts.version_date ?? ""));
    return {
      versions: this.texts.map(({ facts: { version_date, status_text, official }, effectiveDate }) => ({
        version_date,
        effective_date: effectiveDate,
        status_text,
        ...(official !== undefined && { official }),
      })),
      ...(repealed !== undefined && { repealed }),
      ...(newer !== undefined && { newer: newer.date }),
      ...(newer !== undefined && newer.from !== newer.date && { newer_from: newer.from }),
      ...(newer?.listed !== undefined && { newer_listed: newer.listed }),
      ...(areKnown && { amendments_known: true as const }),
    };
  }

  /** The versions of an article before it got its present number. */
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
    const { formerLabel: _, ...state } = states.get(label) ?? {
      since: null,
      wording_since: null,
      change: null,
    };
    const isStanding = article !== undefined && !deleted.has(wordsOf(article.content.slice(0, 20)));
    const { chapter, section, content } = isStanding
      ? article
      : { chapter: null, section: null, content: null };
    return {
      ...text.facts,
      effective_date: text.effectiveDate,
      law_effective_date: text.lawEffectiveDate,
      chapter,
      section,
      content,
      ...state,
      source: sourceOfPart(text.source, content ?? text.facts.law_id, text.facts.law_id),
    };
  }

  /** For each version: its change to each article, and the date from which the wording is in force. */
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
    const base = baseOf(this.#history, date);
    const amendments = events.filter((event) => event.date > (base?.date ?? ""));
    const isOriginal = base !== undefined && base === events[0] && amendments.length === 0;
    // If every amendment since the last full text is known, an article that none of them names is as old as
    // that text.
    const areKnown =
      base !== undefined &&
      amendments.length > 0 &&
      amendments.every((event) => this.#actOf(event.date) !== undefined);
    const baseEffect = areKnown
      ? (effectiveDateInText(endOf(text.articles), base.date) ??
        (isEffectiveAtOnce(endOf(text.articles)) ? base.date : null))
      : null;
    const baseSince = baseEffect ?? text.effectiveDate;
    // Without an amendment since, the words are as old as the last complete text.
    const isWhole = isOwnText(text) || isOriginal || (base !== undefined && events.at(-1)?.date === date);
    const wordingBase = isWhole && amendments.length === 0 ? text.effectiveDate : baseEffect;
    const states = new Map<string, ArticleState>();
    const isNamed = areKnown || isAmendment(this.#actOf(date));
    for (const label of text.labels.keys()) {
      const acts = this.#actsOn(label).filter((act) => act.date <= date && act.date > (base?.date ?? ""));
      const last = acts.at(-1);
      const change: ArticleChange =
        last?.date === date
          ? (last.articles.get(label) as ArticleChange)
          : isOriginal
            ? "original"
            : isNamed
              ? "unchanged"
              : "unknown";
      states.set(label, {
        since: last === undefined ? baseSince : last.effectiveDate,
        wording_since:
          last === undefined ? wordingBase : this.#isKnownFrom(last.date, date) ? last.effectiveDate : null,
        change,
      });
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
          ? { since: text.effectiveDate, wording_since: null, change: "repealed" }
          : { since: text.effectiveDate, wording_since: null, change: "renumbered", moved_to: moved },
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
    const act = this.#actsOn(label).findLast(
      (each) => each.date <= date && each.date > (before.facts.version_date ?? ""),
    );
    const since = act?.effectiveDate ?? text.effectiveDate;
    // An amendment in between, of which nothing else is known, may have made the words earlier.
    const isKnown = this.#isKnownFrom(act?.date ?? before.facts.version_date ?? "", date);
    const changed = { since, wording_since: isKnown ? since : null };
    if (origin === undefined) return { ...changed, change: "added" };
    const formerNo = before.labels.get(origin.label)?.articleNo;
    const former =
      origin.label !== label && formerNo !== undefined
        ? { former_no: formerNo, formerLabel: origin.label }
        : {};
    if (!origin.isSame && !this.#isEditorial(label, origin, before, text))
      return { ...changed, change: "amended", ...former };
    const { since: held = null, wording_since: words = null } = last.states.get(origin.label) ?? {};
    return {
      since: held,
      wording_since: words,
      change: origin.label === label ? "unchanged" : "renumbered",
      ...former,
    };
  }

  /**
   * Whether the wording differs only between editions. That is so if the amendment between them does not name
   * the article.
   */
  #isEditorial(label: string, origin: Origin, before: DatedText, text: DatedText): boolean {
    const [from, to] = [before.facts.version_date ?? "", text.facts.version_date ?? ""];
    const act = this.#actOf(to);
    if (origin.label !== label || !isAmendment(act) || act.articles.has(label)) return false;
    return textEvents(this.#history).every(({ date }) => date <= from || date >= to);
  }

  /** Whether every change of the law after one day and up to the version of another is known. */
  #isKnownFrom(from: string, date: string): boolean {
    if (from === date) return true;
    const events = textEvents(this.#history).filter((event) => event.date > from && event.date <= date);
    return (
      events.at(-1)?.date === date &&
      events.every((event) => event.date === date || this.#actOf(event.date) !== undefined)
    );
  }

  #actsOn(label: string): AmendingAct[] {
    return this.#acts.filter(({ articles }) => articles.has(label));
  }

  #actOf(date: string): AmendingAct | undefined {
    return this.#acts.find((act) => act.date === date);
  }

  /**
   * The next newer text that is not served: it is held back, or only a history, a catalogue or the official list
   * mentions it.
   */
  #newer(): KnownVersion | undefined {
    const date = this.newest.facts.version_date;
    if (date === null) return undefined;
    const told = textEvents(this.#history).filter(
      (event) => event.date > date && this.#actOf(event.date) === undefined,
    );
    const known = this.#known.filter((other) => other.date > date && this.#actOf(other.date) === undefined);
    const all: KnownVersion[] = [...known, ...told.map(({ date: day }) => ({ date: day, from: day }))];
    // Of two that name the same text, the list knows when it takes effect.
    return all.sort((a, b) => compare(a.date, b.date) || compare(b.listed ?? "", a.listed ?? ""))[0];
  }
}

/** A version that exists and is not served: its date, the day from which it applies, and the day of the list that has it. */
export interface KnownVersion {
  readonly date: string;
  readonly from: string;
  readonly listed?: string;
}

/** A 修正案 names every article that it changes by its number, and the article keeps that number. */
function isAmendment(act: AmendingAct | undefined): act is AmendingAct {
  return act?.by?.includes("修正案") === true;
}

/** What editions print in place of an article that was deleted. */
const deleted = new Set(["删去", "已删去", "删除", "已删除", "本条删去", "本条删除", "此条删去", "此条删除"]);

interface Step {
  readonly states: ReadonlyMap<string, ArticleState>;
}

type ArticleState = Pick<ArticleVersion, "former_no" | "moved_to"> & {
  readonly formerLabel?: string;
  readonly since: string | null;
  readonly wording_since: string | null;
  readonly change: ArticleChange | null;
};
