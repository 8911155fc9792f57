import type { Wording } from "../../../search/search-index.ts";
import type { Meaning, OtherWording } from "../../../search/text-search.ts";
import { causeTerm } from "../cases/corpus.ts";
import { articleTerm, lawTerm } from "../laws/corpus.ts";
import { builtInLexicon, type Expansion } from "../lexicon/lexicon.ts";

/** A question with the legal meanings of its everyday words. */
export interface Understood {
  /** The question without question words. */
  readonly text: string;
  readonly meanings: readonly Meaning[];
}

/** Meanings for a search of articles: legal terms, and the articles that they come from. */
export function articleMeanings(text: string): Understood {
  return understood(text, ({ terms, weight, places }, word) => [
    ...terms.map((term) => ({ text: term, weight })),
    ...places.map(({ law, article }) => ({
      term: articleTerm(law, article),
      score: (placeScore * weight * (word.includes("+") ? combinedScore : 1)) / Math.sqrt(places.length),
    })),
  ]);
}

/** Meanings for a search of judgments: legal terms, and the charge or cause that they name. */
export function judgmentMeanings(text: string): Understood {
  return understood(text, ({ terms, weight, cause }) => [
    ...terms
      .filter((term) => term.length <= longestOfJudgments && weight >= leastOfJudgments)
      .map((term) => ({ text: term, weight })),
    ...causeNames(cause).map((name) => ({ term: causeTerm(name), score: causeScore * weight })),
  ]);
}

const placeScore = 10;
/** A combination such as 仲裁+赢 is more specific than either word. */
const combinedScore = 2;
const causeScore = 20;
/** Judgments repeat legal terms, but rarely whole sentences of a law. */
const longestOfJudgments = 5;
const leastOfJudgments = 0.5;
const commonScore = 0.3;

/** Verbs with their object after a particle: 离完婚 and 离了婚 are 离婚. */
const separated = separatedVerbs(
  "离婚 结婚 订婚 分手 辞职 离职 入职 加班 上班 请假 休假 受伤 住院 打架 报警 坐牢 判刑 犯法 犯罪 欠钱 欠债 借钱 还钱 退货 退款 退钱 怀孕 领证 出轨 同居 搬家 交房 退房 过户 担保 签字 开店 生病 得病 做手术 吃官司 打官司 签合同 生孩子 生娃 立遗嘱 写欠条 打欠条",
);

function separatedVerbs(words: string): RegExp {
  const verbs = words.split(" ").map((word) => {
    const [verb = "", ...object] = word;
    return `(?<=${verb})[了完过成着]{1,2}(?=${object.join("")})`;
  });
  return new RegExp(verbs.join("|"), "gu");
}

let common: readonly Wording[] | undefined;

/** Laws that the lexicon names often, because people ask about them often. */
export function commonLaws(): readonly Wording[] {
  common ??= findCommonLaws();
  return common;
}

/** Whether a text has only operators, fields without a value, question words, and 第条 without a number. */
export function asksNothing(text: string): boolean {
  const rest = builtInLexicon().withoutAsking(text.replace(nothing, " "));
  return !/[\p{L}\p{N}]/u.test(rest.replace(/^\s*是|是\s*$/g, " "));
}

const nothing = /\b(?:AND|OR|NOT)\b|\b(?:court|judge|basis|type|cause|date):|第\s*[条款项]/gi;

function understood(
  asked: string,
  others: (expansion: Expansion, word: string) => readonly OtherWording[],
): Understood {
  const lexicon = builtInLexicon();
  const text = withWholeWords(asked).replace(separated, "");
  const found = lexicon.recognise(text);
  const meanings = found.map(({ word, expansions }) => ({
    word,
    others: expansions.flatMap((one) => others(one, word)),
  }));
  // Question words are removed only from the text between words with a meaning, because 多少 may be part of
  // such a word.
  let rest = "";
  let from = 0;
  for (const { word, at } of found) {
    if (word.includes("+") || at < from) continue;
    rest += `${lexicon.withoutAsking(text.slice(from, at))} ${word} `;
    from = at + word.length;
  }
  rest += lexicon.withoutAsking(text.slice(from));
  return { text: rest.replace(/\s+/g, " ").trim(), meanings };
}

/** 多少 年 asks the same as 多少年. */
const beforeUnit = /([几多少\d]) (?=年|个月|月|天|日|小时|岁|元|块|钱|次|倍|人|公里)/g;

/**
 * Joins what people type apart: 申请 保护 令 has 保护令. Only pieces that are a word of the lexicon together are joined,
 * because spaces also separate words that were meant apart.
 */
function withWholeWords(text: string): string {
  const pieces = text.replace(beforeUnit, "$1").split(" ");
  if (pieces.length < 2) return text;
  const joined = pieces.join("");
  const ends = new Set<number>([0]);
  let end = 0;
  for (const piece of pieces) {
    end += piece.length;
    ends.add(end);
  }
  for (const { word, at } of builtInLexicon().recognise(joined))
    if (!word.includes("+") && ends.has(at) && ends.has(at + word.length))
      for (let inside = at + 1; inside < at + word.length; inside++) ends.delete(inside);
  let out = "";
  for (let at = 0; at < joined.length; at++) out += at > 0 && ends.has(at) ? ` ${joined[at]}` : joined[at];
  return out;
}

function findCommonLaws(): Wording[] {
  const lexicon = builtInLexicon();
  const times = new Map<string, number>();
  for (const { places } of [...lexicon.rows, ...lexicon.causes])
    for (const { law } of places) times.set(law, (times.get(law) ?? 0) + 1);
  return [...times].map(([law, count]) => ({
    terms: [lawTerm(law)],
    weight: commonScore * Math.log2(1 + count),
    isFlat: true,
  }));
}

/** The names of the charges and causes in a text, by name or in everyday words. */
export function causesNamed(text: string): string[] {
  const meant = builtInLexicon()
    .causesIn(text)
    .flatMap(({ name }) => causeNames(name));
  return [...new Set([text, ...causeNames(text), ...meant])];
}

/** A charge and the shorter names that judgments use for it: 贩卖毒品罪 for 走私、贩卖、运输、制造毒品罪. */
export function causeNames(name: string | undefined): string[] {
  if (name === undefined) return [];
  const cause = builtInLexicon().cause(name);
  return cause === undefined ? [name] : [cause.name, ...cause.otherNames];
}
