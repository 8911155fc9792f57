import type { Piece, Words } from "./compare.ts";

/**
 * A word of the sentence stands where the article has its counterpart, between words that are the same: 原告 for 被告,
 * 有利于 for 不利于, or a 不 that one has and the other has not.
 */
export function otherWord(said: Words, article: Words): readonly Piece[] | undefined {
  for (const [mine, theirs] of exchanges)
    for (const at of placesOf(mine, said)) {
      const { left, right, isWhole } = around(said, at, mine.length);
      if (left.length + right.length < (isWhole ? leastInClause : leastAround)) continue;
      if (!isOnlyIn(article, left + theirs + right, left + mine + right)) continue;
      const same = sameWords.get(mine);
      if (same !== undefined && article.units.includes(left + same + right)) continue;
      if (!isInList(article, left, theirs, right)) return changed(theirs, mine);
    }
  for (const word of turning) {
    for (const at of placesOf(word, said)) {
      const { left, right } = around(said, at, word.length);
      if (!tellsPlace(left, right)) continue;
      if (isOnlyIn(article, left + right, left + word + right)) return changed("", word);
    }
    for (const at of placesOf(word, article)) {
      const beside = around(article, at, word.length);
      const { right } = beside;
      // At the beginning of a clause the clause before tells the place: 所列的金额,不包括…….
      const left = beside.left === "" ? article.units.slice(Math.max(0, at - acrossMark), at) : beside.left;
      if (!tellsPlace(left, right) || !isOnlyIn(said, left + right, left + word + right)) continue;
      if (!hasBoth(article, word, right)) return changed(word, "");
    }
  }
  return undefined;
}

/** Whether an article speaks of both: 非集装箱货物交付的……或者集装箱货物交付的……. */
function hasBoth({ units }: Words, word: string, right: string): boolean {
  for (let at = units.indexOf(right); at !== -1; at = units.indexOf(right, at + 1))
    if (!units.slice(0, at).endsWith(word)) return true;
  return false;
}

/** Whether a sentence may have left the word out of a list: 委托人、受托人、受益人. */
function isInList(article: Words, left: string, word: string, right: string): boolean {
  const at = article.units.indexOf(left + word + right) + left.length;
  const { text, places } = article;
  const [first, last] = [places[at] ?? 0, places[at + word.length - 1] ?? 0];
  if (text[first - 1] === "、" || text[last + 1] === "、") return true;
  return (
    /[人者]$/.test(word) &&
    (/[或和与及]者?$/.test(text.slice(0, first)) || /^[或和与及]/.test(text.slice(last + 1)))
  );
}

function* placesOf(word: string, { units }: Words): Generator<number> {
  for (let at = units.indexOf(word); at !== -1; at = units.indexOf(word, at + 1)) yield at;
}

/** The words beside a word in its clause; more of one side if there are few on the other. */
function around(words: Words, at: number, length: number) {
  const [start, end] = [clauseStart(words, at), clauseEnd(words, at + length)];
  const [before, after] = [at - start, end - at - length];
  const left = Math.min(before, Math.max(beside, 2 * beside - after));
  const right = Math.min(after, Math.max(beside, 2 * beside - before));
  return {
    left: words.units.slice(at - left, at),
    right: words.units.slice(at + length, at + length + right),
    isWhole: left === before && right === after,
  };
}

/** Without a word in its place, the words on both sides must tell where it would stand. */
function tellsPlace(left: string, right: string): boolean {
  return left !== "" && right.length > 1 && left.length + right.length > leastAround;
}

function isOnlyIn({ units }: Words, these: string, those: string): boolean {
  return units.includes(these) && !units.includes(those);
}

function changed(missing: string, added: string): Piece[] {
  return [
    { kind: "missing" as const, text: missing },
    { kind: "added" as const, text: added },
  ].filter(({ text }) => text !== "");
}

/** Where the clause begins in which a unit is. */
export function clauseStart(words: Words, at: number): number {
  for (let place = at; place > 0; place--) if (isApart(words, place)) return place;
  return 0;
}

export function clauseEnd(words: Words, at: number): number {
  for (let place = at; place < words.units.length; place++) if (isApart(words, place)) return place;
  return words.units.length;
}

/** Whether there is a mark between a unit and the one before it. */
function isApart({ text, places }: Words, at: number): boolean {
  return /[,，。;；:：\n]/.test(text.slice((places[at - 1] ?? 0) + 1, places[at] ?? text.length));
}

const beside = 5;
const acrossMark = 5;
const leastAround = 6;
const leastInClause = 4;

/** Words of which a rule has the one or the other. */
const pairs = [
  ["应当", "可以"],
  ["必须", "可以"],
  ["应当", "不得"],
  ["可以", "不得"],
  ["有权", "无权"],
  ["有权", "不得"],
  ["予以", "不予"],
  ["须", "无需"],
  ["需", "无需"],
  ["应当", "无需"],
  ["有利于", "不利于"],
  ["有效", "无效"],
  ["接受", "放弃"],
  ["接受", "拒绝"],
  ["同意", "拒绝"],
  ["原告", "被告"],
  ["债权人", "债务人"],
  ["出租人", "承租人"],
  ["出卖人", "买受人"],
  ["贷款人", "借款人"],
  ["发包人", "承包人"],
  ["定作人", "承揽人"],
  ["赠与人", "受赠人"],
  ["委托人", "受托人"],
  ["抵押人", "抵押权人"],
  ["出质人", "质权人"],
  ["保证人", "债务人"],
  ["用人单位", "劳动者"],
  ["生产者", "销售者"],
  ["经营者", "消费者"],
  ["侵权人", "被侵权人"],
  ["申请人", "被申请人"],
  ["上诉人", "被上诉人"],
  ["股东会", "董事会"],
  ["监事会", "董事会"],
  ["监事", "董事"],
  ["债权", "股权"],
  ["一般保证", "连带责任保证"],
  ["连带责任", "按份责任"],
  ["连带责任", "补充责任"],
  ["有限责任", "无限责任"],
  ["故意或者重大过失", "一般过失"],
  ["故意", "过失"],
  ["善意", "恶意"],
  ["书面", "口头"],
  ["有偿", "无偿"],
  ["增加", "减少"],
  ["增加", "减轻"],
  ["从重", "从轻"],
  ["加重", "减轻"],
  ["以上", "以下"],
  ["以前", "以后"],
  ["之前", "之后"],
  ["早于", "晚于"],
  ["高于", "低于"],
  ["多于", "少于"],
  ["父亲", "母亲"],
  ["男方", "女方"],
  ["完全民事行为能力", "限制民事行为能力"],
  ["无民事行为能力", "限制民事行为能力"],
  ["作为", "不作为"],
] as const;
const exchanges: readonly (readonly [string, string])[] = pairs.flatMap(([one, other]) => [
  [one, other] as const,
  [other, one] as const,
]);

/** The article may have the other word. */
const sameWords = new Map([
  ["必须", "应当"],
  ["有权", "可以"],
  ["需", "应当"],
]);

/** Words that turn a rule where they are added or left out. */
const turning = ["不", "未", "非"];

/**
 * The sentence has the condition of a rule in its words, and a consequence that the article does not know, while the
 * article has another one there: 无效 for 撤销.
 */
export function otherEffect(said: Words, article: Words): readonly Piece[] | undefined {
  for (let at = 0; at < said.units.length; at = clauseEnd(said, at + 1)) {
    const clause = said.units.slice(at, clauseEnd(said, at + 1));
    const condition = knownStart(clause, article.units);
    if (condition.length < leastCondition) continue;
    const place = article.units.indexOf(condition);
    if (article.units.indexOf(condition, place + 1) !== -1) continue;
    const stands = restOfClause(article, place + condition.length);
    const own = restOfClause(said, at + condition.length);
    if (!isOtherEffect(own, stands, article.units) && !isOtherDuty(own, stands)) continue;
    return [
      { kind: "missing", text: stands },
      { kind: "added", text: own },
    ];
  }
  return undefined;
}

/** The first words of a clause that the article has too. */
function knownStart(clause: string, article: string): string {
  let length = clause.length;
  while (length >= leastCondition && !article.includes(clause.slice(0, length))) length--;
  return clause.slice(0, length);
}

/** What follows in the clause, or the next clause at its end. Empty at the end of a sentence. */
function restOfClause(words: Words, from: number): string {
  const { text, places, units } = words;
  const mark = text.slice((places[from - 1] ?? 0) + 1, places[from] ?? text.length);
  return /[。;；\n]/.test(mark) || from === units.length ? "" : units.slice(from, clauseEnd(words, from + 1));
}

function isOtherEffect(own: string, stands: string, article: string): boolean {
  const mine = effects.find((effect) => effect.test(own) && !effect.test(article));
  const theirs = effects.find((effect) => effect !== mine && effect.test(stands));
  return mine !== undefined && theirs !== undefined && !theirs.test(own);
}

/** One must what the other may. Both say the same otherwise, at their end. */
function isOtherDuty(own: string, stands: string): boolean {
  if (own.slice(-leastSameEnd) !== stands.slice(-leastSameEnd)) return false;
  const [mine, theirs] = [dutiesIn(own), dutiesIn(stands)];
  return mine.length === 1 && theirs.length === 1 && mine[0] !== theirs[0];
}

function dutiesIn(clause: string): string[] {
  return [
    ...(/(?<!不)(?:应当|必须)/.test(clause) ? ["must"] : []),
    ...(/(?<!不)可以|有权/.test(clause) ? ["may"] : []),
    ...(/不得|不应当|不可以|禁止/.test(clause) ? ["must not"] : []),
  ];
}

const leastSameEnd = 4;

/**
 * The sentence has the condition of one rule and the consequence of another rule of the article. An article with
 * a list says the consequence of all items in its first words, and is not compared.
 */
export function effectOfOther(said: Words, article: Words): readonly Piece[] | undefined {
  if (/[(（]一[)）]/.test(article.text)) return undefined;
  for (let at = 0; at < said.units.length; at = clauseEnd(said, at + 1)) {
    const end = clauseEnd(said, at + 1);
    const condition = said.units.slice(at, end);
    const own = restOfClause(said, end);
    if (condition.length < leastOfOther || !condition.endsWith("的") || own.length < leastInClause) continue;
    const place = article.units.indexOf(condition);
    if (place === -1 || article.units.indexOf(condition, place + 1) !== -1) continue;
    const stands = restOfClause(article, place + condition.length);
    const rest = article.units.slice(place, sentenceEnd(article, place + condition.length));
    const elsewhere = article.units.indexOf(own);
    if (stands === "" || elsewhere === -1 || rest.includes(own)) continue;
    const isClause =
      clauseStart(article, elsewhere) === elsewhere &&
      clauseEnd(article, elsewhere + own.length) === elsewhere + own.length;
    if (!isClause) continue;
    return [
      { kind: "missing", text: stands },
      { kind: "added", text: own },
    ];
  }
  return undefined;
}

const leastOfOther = 8;

function sentenceEnd({ text, places, units }: Words, from: number): number {
  for (let at = from; at < units.length; at++)
    if (/[。;；\n]/.test(text.slice((places[at - 1] ?? 0) + 1, places[at]))) return at;
  return units.length;
}

const leastCondition = 10;

/** Consequences that exclude each other. Words for the same one are in one line. */
const effects: readonly RegExp[] = [
  /无效|没有(?:法律)?约束力|不具有法律约束力|不(?:发生|产生|具有)(?:法律)?效力|不生效|未生效/,
  /(?<![无失])有效(?!期)|不影响.{0,12}效力/,
  /撤销/,
  /解除|终止/,
  /不影响/,
  /不成立|不成为|视为未/,
  /同意|许可|批准|核准/,
  /书面通知|通知其他|告知/,
  /不(?:予)?受理/,
  /不予支持|不予保护|不支持/,
  /不承担|不负|免除/,
];
