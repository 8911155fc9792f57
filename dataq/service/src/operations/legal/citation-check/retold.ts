import { readNumber } from "../question/chinese-number.ts";
import {
  type Budget,
  type Comparison,
  differences,
  fitOf,
  type Piece,
  type Words,
  wordsOf,
} from "./compare.ts";
import { clauseEnd, clauseStart, effectOfOther, otherEffect, otherWord } from "./counterparts.ts";
import { otherFrame } from "./frames.ts";
import { otherTerm } from "./other-terms.ts";

/**
 * Where a sentence that tells an article in its own words says the opposite or another quantity: five years for three,
 * 可以 for 不得. Undefined if it does not, or if its words are too far from those of the article to tell.
 */
export function contradiction(said: Words, article: Words, budget: Budget): readonly Piece[] | undefined {
  const quantity =
    otherQuantity(said, article) ?? exchangedQuantity(said, article) ?? otherSpan(said, article);
  if (quantity !== undefined) return quantity;
  const compared = differences(said, article, budget);
  return (
    otherSense(compared) ??
    otherModal(said, article) ??
    otherWord(said, article) ??
    otherEffect(said, article) ??
    effectOfOther(said, article) ??
    otherTerm(said, article, compared) ??
    otherFrame(said, article)
  );
}

/** A quantity of the sentence that the article has otherwise at the same words, and nowhere like this. */
function otherQuantity(said: Words, article: Words): readonly Piece[] | undefined {
  if (fitOf(said, article).share < leastShareOfQuantity) return undefined;
  const isClose = fitOf(said, article).share >= leastShareWithoutPlace;
  const stands = quantitiesOf(article);
  for (const mine of quantitiesOf(said)) {
    const alike = stands.filter(({ kind }) => kind === mine.kind);
    if (alike.some(({ value }) => value === mine.value)) continue;
    const there = alike.find(
      (each) => isSamePlace(said.units, mine, article.units, each) || (onlyOfRules.has(mine.kind) && isClose),
    );
    if (there === undefined) continue;
    return [
      { kind: "added", text: writtenIn(said, mine) },
      { kind: "missing", text: writtenIn(article, there) },
    ];
  }
  return undefined;
}

/**
 * A quantity that the article has, but not here: at these words it has another one. Two quantities of one article are
 * exchanged, or that of another case is told.
 */
function exchangedQuantity(said: Words, article: Words): readonly Piece[] | undefined {
  const stands = quantitiesOf(article);
  for (const mine of quantitiesOf(said)) {
    const alike = stands.filter(({ kind }) => kind === mine.kind);
    const here = alike.filter((each) => standsLike(said, mine, article, each));
    const [there] = here;
    if (there === undefined || here.some(({ value }) => value === mine.value)) continue;
    return [
      { kind: "added", text: writtenIn(said, mine) },
      { kind: "missing", text: writtenIn(article, there) },
    ];
  }
  return undefined;
}

/**
 * A span of time in another unit than that of the article, at the same words: 六十日 for 二年. Spans that are about as
 * long, such as a month and thirty days, are not told.
 */
function otherSpan(said: Words, article: Words): readonly Piece[] | undefined {
  const stands = spansOf(article);
  for (const mine of spansOf(said)) {
    const here = stands.filter((each) => standsLike(said, mine, article, each));
    const [there] = here;
    if (there === undefined || here.some(({ days }) => Math.abs(days - mine.days) < days / 10)) continue;
    return [
      { kind: "added", text: writtenIn(said, mine) },
      { kind: "missing", text: writtenIn(article, there) },
    ];
  }
  return undefined;
}

/** The spans of time, without the parts of a date. */
function spansOf(words: Words): (Quantity & { readonly days: number })[] {
  const all = quantitiesOf(words);
  const isPartOfDate = ({ from, to }: Quantity) =>
    all.some(
      (each) =>
        (each.to === from && clauseStart(words, from) < from) ||
        (each.from === to && clauseStart(words, to) < to),
    );
  return all.flatMap((each) => {
    const days = daysOf[each.kind];
    return days === undefined || isPartOfDate(each) ? [] : [{ ...each, days: each.value * days }];
  });
}

/** A day of work is longer than a day; `time` is counted in months. */
const daysOf: Readonly<Record<string, number>> = { time: 30, days: 1, 工作日: 1.4, 小时: 1 / 24, 周: 7 };

/** Whether all words of the clause before both quantities are the same, or many of them, and the next one too. */
function standsLike(said: Words, mine: Quantity, article: Words, there: Quantity): boolean {
  const before = said.units.slice(clauseStart(said, mine.from), mine.from);
  const fromOther = before.slice(quantitiesIn(before).at(-1)?.to ?? 0);
  const words = fromOther.slice(-mostBefore);
  if (words.length < leastRun) return false;
  const after = said.units.slice(mine.to, Math.min(clauseEnd(said, mine.to), mine.to + 1));
  return (
    article.units.slice(Math.max(0, there.from - words.length), there.from) === words &&
    article.units.startsWith(after, there.to)
  );
}

const mostBefore = 10;

interface Quantity {
  /** Only quantities of one kind are compared. */
  readonly kind: string;
  readonly value: number;
  readonly from: number;
  readonly to: number;
}

const quantity =
  /(?<![第款条项])([零一二两三四五六七八九十百千万亿半]+)(个月|个?工作日|小时|周岁|年|月|日|天|周|元|倍|名|人|位|次|个(?!别|人信))|([一二三四五六七八九十百千万]+)分之([一二三四五六七八九十百点]+)|(过半数|半数以上)/g;

const kinds: Readonly<Record<string, string>> = {
  年: "time",
  个月: "time",
  月: "time",
  日: "days",
  天: "days",
  周岁: "age",
  名: "people",
  人: "people",
  位: "people",
  个: "people",
};

/** A mark ends a number: 百分之二十;(六) is not twenty-six. */
function quantitiesOf({ units, text, places }: Words): Quantity[] {
  const found: Quantity[] = [];
  let from = 0;
  for (let at = 1; at <= units.length; at++) {
    const isEnd = at === units.length;
    if (!isEnd && !/[、,，.。;；:：()（）\n]/.test(text.slice((places[at - 1] ?? 0) + 1, places[at])))
      continue;
    for (const each of quantitiesIn(units.slice(from, at)))
      found.push({ ...each, from: each.from + from, to: each.to + from });
    from = at;
  }
  return found;
}

function quantitiesIn(units: string): Quantity[] {
  return [...units.matchAll(quantity)].flatMap((match) => {
    const [whole, count = "", unit = "", parts, share = "", half] = match;
    const from = match.index;
    const place = { from, to: from + whole.length };
    if (half !== undefined) return [{ kind: "share", value: 0.5, ...place }];
    if (parts !== undefined) {
      const [of, value] = [numberOf(parts), numberOf(share)];
      return of === undefined || value === undefined ? [] : [{ kind: "share", value: value / of, ...place }];
    }
    const value = numberOf(count);
    if (value === undefined) return [];
    const kind = kinds[unit] ?? unit.replace("个工作日", "工作日");
    return [{ kind, value: unit === "年" ? 12 * value : value, ...place }];
  });
}

/** Also above ten thousand, and a half. */
function numberOf(text: string): number | undefined {
  if (text === "半") return 0.5;
  if (text === "百" || text === "千" || text === "万") return { 百: 100, 千: 1_000, 万: 10_000 }[text];
  const [high, low] = text.split("万", 2) as [string, string?];
  if (low === undefined) return readNumber(high);
  const [more, less] = [readNumber(high), low === "" ? 0 : readNumber(low)];
  return more === undefined || less === undefined ? undefined : 10_000 * more + less;
}

/** Whether words beside both quantities are the same, up to the next quantity. */
function isSamePlace(said: string, mine: Quantity, article: string, there: Quantity): boolean {
  const before = (text: string, { from }: Quantity, near: number) => {
    const beside = text.slice(Math.max(0, from - near), from);
    return beside.slice(quantitiesIn(beside).at(-1)?.to ?? 0);
  };
  const after = (text: string, { to }: Quantity, near: number) => {
    const beside = text.slice(to, to + near);
    return beside.slice(0, quantitiesIn(beside)[0]?.from);
  };
  return (
    hasCommonRun(before(said, mine, nearSaid), before(article, there, near)) ||
    hasCommonRun(after(said, mine, nearSaid), after(article, there, near))
  );
}

function hasCommonRun(a: string, b: string): boolean {
  for (let at = 0; at + leastRun <= a.length; at++) if (b.includes(a.slice(at, at + leastRun))) return true;
  return false;
}

/** A word that turns the sense is added, left out or changed, between words that are the same. */
function otherSense({ pieces, similarity }: Comparison): readonly Piece[] | undefined {
  if (similarity < leastSimilarity) return undefined;
  const turned = pieces.findIndex((piece, place) => {
    const next = pieces[place + 1];
    const isChange = piece.kind === "missing" && next?.kind === "added";
    const [before, after] = [pieces[place - 1], pieces[place + (isChange ? 2 : 1)]];
    if (!isBesideSame(before) && !isBesideSame(after)) return false;
    if (isChange)
      return (
        denies.test(piece.text) !== denies.test(next.text) &&
        !lacks.test(piece.text) &&
        !lacks.test(next.text) &&
        isShort(piece) &&
        isShort(next)
      );
    const isPart = pieces[place - 1]?.kind === "missing";
    return piece.kind !== "same" && !isPart && alone.test(piece.text) && isBesideSame(after);
  });
  if (turned === -1) return undefined;
  const own = pieces[turned + 1];
  const isChange = pieces[turned]?.kind === "missing" && own?.kind === "added";
  return pieces.slice(turned, turned + (isChange ? 2 : 1));
}

/** Words that both have, which one allows or requires and the other denies. */
function otherModal(said: Words, article: Words): readonly Piece[] | undefined {
  if (fitOf(said, article).share < leastShareOfModal) return undefined;
  for (let at = 0; at + leastRunOfModal <= said.units.length; at++) {
    const run = said.units.slice(at, at + leastRunOfModal);
    const mine = modalBefore(said.units, at);
    if (mine === undefined) continue;
    const theirs = new Set<string>();
    for (let place = article.units.indexOf(run); place !== -1; place = article.units.indexOf(run, place + 1))
      theirs.add(modalBefore(article.units, place) ?? "");
    const [stands] = theirs;
    if (
      theirs.size !== 1 ||
      stands === undefined ||
      stands === "" ||
      denies.test(stands) === denies.test(mine)
    )
      continue;
    return [
      { kind: "missing", text: stands },
      { kind: "added", text: mine },
      { kind: "same", text: run },
    ];
  }
  return undefined;
}

function modalBefore(units: string, at: number): string | undefined {
  return modal.exec(units.slice(Math.max(0, at - 3), at))?.[0];
}

const modal = /(?:不得|不能|不应当|不应|不可以|无须|无需|不必|不需要|禁止|可以|应当|一律|必须|有权|不)$/;

function isBesideSame(piece: Piece | undefined): boolean {
  return piece?.kind === "same" && wordsOf(piece.text).units.length >= leastBeside;
}

function isShort({ text }: Piece): boolean {
  return wordsOf(text).units.length <= mostTurning;
}

/** Words that deny. 不得 and 可以 turn a rule, 不满 and 以上 do not. */
const denies = /^(?:不得|不能|不应当?|不可以?|无须|无需|不必|不需要?|禁止|不)$/;
/** 未支付 and 不支付 say the same. */
const lacks = /^(?:未|没有|尚未|没)/;
const alone = /^(?:不得|不能|不应当?|不可以?|无须|无需|不必|不需要?|禁止)$/;

const leastShareOfQuantity = 0.35;
/** Facts of a case seldom have such quantities. */
const onlyOfRules: ReadonlySet<string> = new Set(["share", "倍", "age"]);
const leastShareWithoutPlace = 0.5;
const near = 12;
/** Words of the writer may stand between, but not a clause. */
const nearSaid = 8;
const leastRun = 4;
const leastSimilarity = 0.7;
const leastBeside = 4;
const mostTurning = 4;
const leastShareOfModal = 0.5;
const leastRunOfModal = 5;

function writtenIn({ text, places }: Words, { from, to }: Quantity): string {
  const last = places[to - 1] ?? 0;
  return text.slice(places[from] ?? 0, last + 1);
}
