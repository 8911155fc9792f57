import { readNumber } from "../question/chinese-number.ts";
import { fitOf, type Piece, type Words } from "./compare.ts";
import { clauseEnd, clauseStart } from "./counterparts.ts";
import { likeness, pairsIn } from "./likeness.ts";

/** A quantity of the sentence that the article has otherwise. */
export function otherAmount(said: Words, article: Words): readonly Piece[] | undefined {
  return (
    otherQuantity(said, article) ??
    exchangedQuantity(said, article) ??
    otherSpan(said, article) ??
    otherBound(said, article) ??
    otherSide(said, article) ??
    amountOfOther(said, article) ??
    otherRange(said, article) ??
    inventedMultiple(said, article) ??
    otherAfterWord(said, article) ??
    amountOfCondition(said, article) ??
    otherOnly(said, article)
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
    // After fewer of the same words the article has this quantity: 处造价百分之五 for 并处造价百分之五.
    const near = said.units.slice(
      Math.max(clauseStart(said, mine.from), mine.from - leastRun - 1),
      mine.from,
    );
    const next = said.units.slice(mine.to, mine.to + 1);
    const isNearby = ({ value, from, to }: Quantity) =>
      value === mine.value &&
      near.length > leastRun &&
      article.units.slice(0, from).endsWith(near) &&
      article.units.startsWith(next, to);
    if (alike.some(isNearby)) continue;
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
  return all.flatMap((each) => {
    const days = daysOf[each.kind];
    return days === undefined || isPartOfDate(each, all, words) ? [] : [{ ...each, days: each.value * days }];
  });
}

function isPartOfDate({ from, to }: Quantity, all: readonly Quantity[], words: Words): boolean {
  return all.some(
    (each) =>
      (each.to === from && clauseStart(words, from) < from) ||
      (each.from === to && clauseStart(words, to) < to),
  );
}

/** A day of work is longer than a day; `time` is counted in months. */
const daysOf: Readonly<Record<string, number>> = { time: 30, days: 1, 工作日: 1.4, 小时: 1 / 24, 周: 7 };

/**
 * A quantity that limits or defines, in other words than those of the article: 人数为二个以上一百个以下, 冷静期为六十日. Facts
 * of a case seldom do. The words around tell that the same is limited.
 */
function otherBound(said: Words, article: Words): readonly Piece[] | undefined {
  const stands = boundsOf(article);
  for (const mine of boundsOf(said)) {
    if (!(mine.isDefined || mine.direction !== undefined) || ofCase.test(mine.clause)) continue;
    const alike = stands.filter(({ group }) => group === mine.group);
    if (alike.length === 0 || alike.some((each) => isSameAmount(each, mine))) continue;
    const shared = alike.map((each) => [...mine.pairs].filter((pair) => each.pairs.has(pair)).length);
    const most = Math.max(...shared);
    const sameWay = alike.filter((each) => each.direction === mine.direction);
    const there =
      sameWay.find((each) => shared[alike.indexOf(each)] === most) ?? sameWay[0] ?? (alike[0] as Bound);
    const isLimitedAlike = mine.isDefined || sameWay.length > 0;
    if (!isLimitedAlike || most < (mine.isDefined ? leastPairsOfDefined : leastPairsOfBound)) continue;
    return [
      { kind: "added", text: writtenIn(said, mine) },
      { kind: "missing", text: writtenIn(article, there) },
    ];
  }
  return undefined;
}

/** The same quantity bounds on the other side: 五十人以上 for 五十人以下. */
function otherSide(said: Words, article: Words): readonly Piece[] | undefined {
  const stands = boundsOf(article);
  for (const mine of boundsOf(said)) {
    const [side, other] = sidesOf(said, mine);
    if (side === undefined || ofCase.test(mine.clause)) continue;
    const same = stands.filter((each) => each.group === mine.group && isSameAmount(each, mine));
    const [there] = same;
    if (there === undefined || same.some((each) => sidesOf(article, each)[0] !== other)) continue;
    // A rule may be told by what it does not say: 五十人以下的不必…….
    if (denies.test(sentenceAt(said, mine)) !== denies.test(sentenceAt(article, there))) continue;
    if ([...mine.pairs].filter((pair) => there.pairs.has(pair)).length < leastPairsOfBound) continue;
    return [
      { kind: "added", text: writtenIn(said, mine) + side },
      { kind: "missing", text: writtenIn(article, there) + other },
    ];
  }
  return undefined;
}

/** The word after a quantity, and its opposite. */
function sidesOf({ units }: Words, { to }: Quantity): readonly [string?, string?] {
  const side = units.slice(to, to + 2);
  return side === "以上" ? [side, "以下"] : side === "以下" ? [side, "以上"] : [];
}

function sentenceAt({ text, places }: Words, { from }: Quantity): string {
  const at = places[from] as number;
  const before = Math.max(...["。", ";", "；", "\n"].map((mark) => text.lastIndexOf(mark, at)));
  return text.slice(before + 1).split(/[。;；\n]/, 1)[0] as string;
}

const denies = /不(?![足满少低])|未|无|禁止|除外/;

/** The quantity of another case of the article: seven days for the journey abroad that has thirty. */
function amountOfOther(said: Words, article: Words): readonly Piece[] | undefined {
  const [all, stands] = [boundsOf(said), boundsOf(article)];
  for (const mine of all) {
    const alike = stands.filter(({ group }) => group === mine.group);
    const own = alike.filter((each) => isSameAmount(each, mine));
    const others = alike.filter((each) => !isSameAmount(each, mine));
    if (own.length !== 1 || others.length !== 1 || ofCase.test(mine.clause)) continue;
    if (all.some((each) => isSameAmount(each, others[0] as Bound))) continue;
    const [here, there] = [own[0] as Bound, others[0] as Bound];
    const only = (one: Bound, other: Bound) =>
      [...pairsIn(one.subject)].filter((pair) => !other.subject.includes(pair) && !/[以日年月]/.test(pair));
    const [ofHere, ofThere] = [only(here, there), only(there, here)];
    if (ofHere.length === 0 || ofThere.length === 0) continue;
    if (ofHere.some((pair) => said.units.includes(pair))) continue;
    if (!ofThere.some((pair) => mine.sentence.includes(pair))) continue;
    return [
      { kind: "added", text: writtenIn(said, mine) },
      { kind: "missing", text: writtenIn(article, there) },
    ];
  }
  return undefined;
}

/** A range of which one end is that of a range of the article: 五百元以上五十万元以下 for 五百元以上五百万元以下. */
function otherRange(said: Words, article: Words): readonly Piece[] | undefined {
  const stands = rangesOf(article);
  for (const mine of rangesOf(said)) {
    const alike = stands.filter(([low]) => low.kind === mine[0].kind);
    const sameEnds = (each: Range) =>
      mine.filter(({ value }, end) => value === (each[end] as Quantity).value).length;
    if (alike.some((each) => sameEnds(each) === 2)) continue;
    const there = alike.filter((each) => sameEnds(each) === 1);
    if (there.length !== 1) continue;
    const end = mine[0].value === (there[0] as Range)[0].value ? 1 : 0;
    return [
      { kind: "added", text: writtenIn(said, mine[end]) },
      { kind: "missing", text: writtenIn(article, (there[0] as Range)[end]) },
    ];
  }
  return undefined;
}

type Range = readonly [Quantity, Quantity];

/** 二十万元以上一百万元以下 */
function rangesOf(words: Words): Range[] {
  const all = quantitiesOf(words);
  return all.flatMap((low, place) => {
    const high = all[place + 1];
    if (high === undefined || high.kind !== low.kind) return [];
    const between = words.units.slice(low.to, high.from);
    return between === "以上" && words.units.startsWith("以下", high.to) ? [[low, high] as const] : [];
  });
}

/** A multiple, where the article has none: 三倍 for 加倍. */
function inventedMultiple(said: Words, article: Words): readonly Piece[] | undefined {
  if (/[一二三四五六七八九十两]倍/.test(article.units)) return undefined;
  const mine = quantitiesOf(said).find(({ kind }) => kind === "倍");
  if (mine === undefined || likeness(said.units, article.units) < leastLikenessOfMultiple) return undefined;
  return [{ kind: "added", text: writtenIn(said, mine) }];
}
const leastLikenessOfMultiple = 0.4;

/** A quantity that the article has nowhere, after a word of its own: 连续三年 for 连续五年. */
function otherAfterWord(said: Words, article: Words): readonly Piece[] | undefined {
  const stands = quantitiesOf(article);
  const [all, dates] = [quantitiesOf(said), quantitiesOf(said)];
  for (const mine of all) {
    const alike = stands.filter(({ kind }) => kind === mine.kind);
    const word = said.units.slice(Math.max(clauseStart(said, mine.from), mine.from - 2), mine.from);
    if (word.length < 2 || tooCommon.test(word) || isPartOfDate(mine, dates, said)) continue;
    if (alike.some(({ value }) => value === mine.value)) continue;
    const there = alike.find((each) => article.units.slice(0, each.from).endsWith(word));
    if (there === undefined) continue;
    return [
      { kind: "added", text: writtenIn(said, mine) },
      { kind: "missing", text: writtenIn(article, there) },
    ];
  }
  return undefined;
}

const tooCommon = /[自在为满起的于内后前超过是将已了即至到达约共以及和或]|[零一二三四五六七八九十百千万]/;

/** The quantity of another condition: 一个月 for 半个月 where somebody worked 不满六个月. */
function amountOfCondition(said: Words, article: Words): readonly Piece[] | undefined {
  const stands = quantitiesOf(article).map((each) => ({ ...each, around: aroundOf(article, each) }));
  const all = quantitiesOf(said);
  for (const mine of all) {
    if (isPartOfDate(mine, all, said) || isConditional(said, mine)) continue;
    const around = aroundOf(said, mine);
    // The clause stands in the article word for word.
    if (article.units.includes(said.units.slice(clauseStart(said, mine.from), clauseEnd(said, mine.to))))
      continue;
    if (
      around.size < leastAround ||
      ofCase.test(said.units.slice(clauseStart(said, mine.from), clauseEnd(said, mine.to)))
    )
      continue;
    const likes = stands
      .filter((each) => each.kind === mine.kind && !isConditional(article, each))
      .map((each) => ({
        each,
        like: [...around].filter((pair) => each.around.has(pair)).length / around.size,
      }))
      .sort((a, b) => b.like - a.like);
    const [best] = likes;
    if (best === undefined || best.each.value === mine.value || best.like < leastLikeAround) continue;
    // Both are told, each of its own condition.
    if (all.some((each) => each.kind === mine.kind && each.value === best.each.value)) continue;
    // Months for years are seldom a slip.
    if (unitOf(said, mine) !== unitOf(article, best.each) && best.like < leastLikeOfUnits) continue;
    const own = likes.find(({ each }) => each.value === mine.value);
    if (own !== undefined && own.like > best.like - aheadAround) continue;
    return [
      { kind: "added", text: writtenIn(said, mine) },
      { kind: "missing", text: writtenIn(article, best.each) },
    ];
  }
  return undefined;
}

/** Whether it tells when a rule applies: 不满六个月的, 一年以上. */
function isConditional({ units }: Words, { from, to }: Quantity): boolean {
  return /(?:满|不足|超过)$/.test(units.slice(0, from)) || /^(?:以上|以下|的)/.test(units.slice(to));
}

/** The only period, share or sum of a rule is another one: 满一年 for 二年内. */
function otherOnly(said: Words, article: Words): readonly Piece[] | undefined {
  const [all, stands] = [quantitiesOf(said), quantitiesOf(article)];
  for (const mine of all) {
    const group = (each: Quantity) => (daysOf[each.kind] === undefined ? each.kind : "span");
    const [own, theirs] = [all, stands].map((list) => list.filter((each) => group(each) === group(mine))) as [
      Quantity[],
      Quantity[],
    ];
    const [there] = theirs;
    if (
      own.length !== 1 ||
      there === undefined ||
      theirs.some(({ value, kind }) => value !== there.value || kind !== there.kind)
    )
      continue;
    if (there.kind !== mine.kind || there.value === mine.value) continue;
    const [start, end] = [clauseStart(said, mine.from), clauseEnd(said, mine.to)];
    const clause = said.units.slice(start, end);
    if (
      ofCase.test(clause) ||
      !limitsWords.test(clause) ||
      likeness(said.units, article.units) < leastLikeOfOnly
    )
      continue;
    return [
      { kind: "added", text: writtenIn(said, mine) },
      { kind: "missing", text: writtenIn(article, there) },
    ];
  }
  return undefined;
}

const limitsWords = /[满内期]|以[上下]|不得|超过|至少|提前|之日|为|不[少低足]|最[长短高低多少]/;
const leastLikeOfOnly = 0.4;

const leastAround = 4;
const leastLikeAround = 0.5;
const leastLikeOfUnits = 0.8;
const aheadAround = 0.25;

function unitOf({ units }: Words, { to }: Quantity): string | undefined {
  return units[to - 1];
}

/** The pairs of the clause of a quantity and of the one before it, without this quantity. */
function aroundOf(words: Words, { from, to }: Quantity): Set<string> {
  const start = clauseStart(words, from);
  const first = clauseStart(words, start - 1);
  const gap = words.text.slice((words.places[start - 1] ?? 0) + 1, words.places[start]);
  const before = start === 0 || /[。;；\n]/.test(gap) ? "" : words.units.slice(first, start);
  return pairsIn(
    `${before}|${words.units.slice(start, from)}|${words.units.slice(to, clauseEnd(words, to))}`,
  );
}

interface Bound extends Quantity {
  /** Spans of time are compared in days. */
  readonly group: string;
  readonly amount: number;
  /** Whether it says at most or at least. */
  readonly direction: "most" | "least" | undefined;
  readonly isDefined: boolean;
  readonly clause: string;
  /** The clause with the one before it. */
  readonly sentence: string;
  /** The words of the clause before the quantity, after the one before it. */
  readonly subject: string;
  /** Pairs of characters around it, without quantities. */
  readonly pairs: ReadonlySet<string>;
}

function boundsOf(words: Words): Bound[] {
  const { units } = words;
  const all = quantitiesOf(words);
  return all.flatMap((each) => {
    if (isPartOfDate(each, all, words)) return [];
    const [start, end] = [clauseStart(words, each.from), clauseEnd(words, each.to)];
    const first = clauseStart(words, start - 1);
    const [before, after] = [units.slice(start, each.from), units.slice(each.to, end)];
    const days = daysOf[each.kind];
    const around =
      units.slice(first, each.from).slice(-mostAround) + units.slice(each.to, end).slice(0, mostAround);
    const plain = quantitiesIn(around).reduceRight(
      (text, { from, to }) => `${text.slice(0, from)}|${text.slice(to)}`,
      around,
    );
    const pairs = pairsIn(plain.replaceAll(limits, "|"));
    const bound = {
      ...each,
      group: days === undefined ? each.kind : "span",
      amount: days === undefined ? each.value : each.value * days,
      direction:
        isMost.test(before) || /^(?:以下|以内|之内|内(?!容|部|地|资))/.test(after)
          ? ("most" as const)
          : isLeast.test(before) || /^(?:以上|以后方可|后方可)/.test(after)
            ? ("least" as const)
            : undefined,
      isDefined: defines.test(before) && !/^的(?!罚款|标准)/.test(after),
      clause: units.slice(start, end),
      sentence: units.slice(first, end),
      subject: before.slice(quantitiesIn(before).at(-1)?.to ?? 0),
      pairs,
    };
    return [bound];
  });
}

function isSameAmount(a: Bound, b: Bound): boolean {
  return a.group === "span" ? Math.abs(a.amount - b.amount) < a.amount / 10 : a.amount === b.amount;
}

const isMost = /(?:不得?(?:超过|多于|高于)|最长|最多|最高|至多|[未不]满|不足|少于)(?:为|是|可达|可以?)?$/;
const isLeast =
  /(?:(?<!不|不得)(?:超过|多于|高于)|不得?(?:少于|低于)|最短|最少|最低|至少|(?<![未不])满|年满|提前)(?:为|是)?$/;
const defines =
  /(?:期限|期间|时效|时限|有效期|冷静期|保护期|标准|比例|税率|费率|征收率|利率|上限|下限|周期|年龄|人数|限额|总额)(?:[最应]|一般|统一|均)*[长高低短多少]?(?:规定)?[为是系](?:每[日月年人])?$/;
const limits =
  /不得?(?:超过|多于|高于|少于|低于)|最[长多高短少低]|至[多少]|以[上下内]|之内|[未不年]?满|不足|超过/g;
/** Facts of a case, not limits. */
const ofCase =
  /[已刚现]|至今|截至|目前|实际|尚|某|[甲乙丙丁]|原告|被告|我方|我司|本案|该公司|共计|[二两]千?零|[0-9]{4}|二〇/;
const mostAround = 24;
const leastPairsOfBound = 2;
const leastPairsOfDefined = 1;

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

/**
 * Not the number of a place: 第二款, 第十二条. 罚款二万元 has one. That a number stands before is asked first, so that a
 * long one is not read again from each of its characters.
 */
const quantity =
  /(?<![零一二两三四五六七八九十百千万亿半]|第[零一二两三四五六七八九十百千万]*(?:款|条|项)?)([零一二两三四五六七八九十百千万亿半]+)(个月|个?工作日|小时|周岁|年|月|日|天|周|元|倍|名|人|位|次|个(?!别|人信))|([一二三四五六七八九十百千万]+)分之([一二三四五六七八九十百点]+)|(过半数|半数以上)/g;

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

/** What has happened is no rule: 已在三个月内退还. */
const isFact = /已经?[在于]/;

/** A mark ends a number: 百分之二十;(六) is not twenty-six. */
function quantitiesOf({ units, text, places }: Words): Quantity[] {
  const found: Quantity[] = [];
  let from = 0;
  for (let at = 1; at <= units.length; at++) {
    const isEnd = at === units.length;
    if (!isEnd && !/[、,，.。;；:：()（）\n]/.test(text.slice((places[at - 1] ?? 0) + 1, places[at])))
      continue;
    const clause = units.slice(from, at);
    for (const each of quantitiesIn(clause))
      if (!isFact.test(clause.slice(0, each.from)))
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

const leastShareOfQuantity = 0.35;
/** Facts of a case seldom have such quantities. */
const onlyOfRules: ReadonlySet<string> = new Set(["share", "倍", "age"]);
const leastShareWithoutPlace = 0.5;
const near = 12;
/** Words of the writer may stand between, but not a clause. */
const nearSaid = 8;
const leastRun = 4;

function writtenIn({ text, places }: Words, { from, to }: Quantity): string {
  const last = places[to - 1] ?? 0;
  return text.slice(places[from] ?? 0, last + 1);
}
