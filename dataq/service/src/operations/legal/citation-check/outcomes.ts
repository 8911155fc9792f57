import type { Piece, Words } from "./compare.ts";
import { likeness, pairsIn } from "./likeness.ts";

/**
 * The sentence tells the condition of a rule in its own words, and the opposite of what the article makes of it: the
 * contract may be ended, where the article prolongs it.
 */
export function otherOutcome(said: Words, article: Words): readonly Piece[] | undefined {
  const rules = rulesOf(article.text);
  for (const { condition, outcome } of rulesOf(said.text)) {
    if (pairsIn(condition).size < leastPairs) continue;
    const ranked = rules
      .map((rule) => ({ ...rule, like: likenessOf(condition, rule.condition) }))
      .sort((a, b) => b.like - a.like);
    const [best] = ranked;
    const second = ranked.find(({ outcome: other }) => other !== best?.outcome);
    if (best === undefined || best.like < leastLike || (second?.like ?? 0) > best.like - leastAhead) continue;
    const pieces = opposite(outcome, best);
    if (pieces !== undefined) return pieces;
  }
  return deniedDuty(said.text, article.text);
}

/** A condition may be told with more words, or with fewer. */
function likenessOf(mine: string, theirs: string): number {
  const isWhole = pairsIn(theirs).size >= leastPairsOfWhole && likeness(theirs, mine) === 1;
  return isWhole ? 1 : likeness(mine, theirs);
}

interface Rule {
  readonly condition: string;
  /** The clauses that say what follows. */
  readonly outcome: readonly string[];
  /** What the paragraph before says, which 前款 means. */
  readonly before: string;
}

/** Sentences with a condition and what follows from it. An item of a list is a condition of what leads to the list. */
function rulesOf(text: string): Rule[] {
  const rules: Rule[] = [];
  let before = "";
  let lead: { condition: string; outcome: readonly string[] } | undefined;
  for (const paragraph of text.split("\n")) {
    const item = /^\s*[(（][一二三四五六七八九十]+[)）]/.exec(paragraph)?.[0];
    if (item !== undefined) {
      const own = paragraph.slice(item.length).split(/[，,]/).map(plain);
      const at = own.findLastIndex((clause) => ends.test(clause) && !excepts.test(clause));
      if (at !== -1 && at < own.length - 1)
        rules.push({ condition: own.slice(0, at + 1).join(""), outcome: own.slice(at + 1), before });
      else if (lead !== undefined) {
        const { condition, outcome } = lead;
        rules.push({ condition: condition + plain(paragraph.slice(item.length)), outcome, before });
      }
      continue;
    }
    lead = undefined;
    for (const sentence of paragraph.split(/[。；;]/)) {
      const clauses = sentence
        .split(/[，,：:]/)
        .map(plain)
        .filter((clause) => clause !== "");
      const last = clauses.findLastIndex(
        (clause, place) =>
          (ends.test(clause) && !excepts.test(clause)) ||
          clauses[place + 1]?.startsWith("不适用前款") === true,
      );
      if (last === -1) continue;
      const outcome = clauses.slice(last + 1);
      if (/下列/.test(sentence)) lead = { condition: clauses.slice(0, last + 1).join(""), outcome };
      else if (outcome.length > 0)
        rules.push({ condition: clauses.slice(0, last + 1).join(""), outcome, before });
    }
    before = plain(paragraph);
  }
  return rules;
}

const ends = /[的时后]$|期满$|之前$|期间$|的(?:领域|人员|情形|单位|企业|案件|项目|作品|财产)$/;
const excepts = /除外|除.+外的?$|^但/;

function plain(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, "");
}

function opposite(outcome: readonly string[], rule: Rule): Piece[] | undefined {
  const theirs = rule.outcome;
  // What follows the rule itself is the writer's own.
  const mine = outcome.slice(0, 2).filter((clause) => !ofCase.test(clause));
  if (mine.some((clause) => theirs.some((each) => clause.includes(each)))) return undefined;
  const [own, stands] = [mine.join(""), theirs.join("")];
  for (const [one, other] of opposites)
    for (const [a, b] of [
      [one, other],
      [other, one],
    ] as const)
      if (says(a, own) && !b.test(own) && says(b, stands) && !a.test(stands)) return instead(stands, own);
  if (
    /不适用(?:前款|本条)/.test(stands) &&
    isNegative(own) === false &&
    likeness(own, rule.before) >= leastLikeBefore
  )
    return instead(stands, own);
  for (const clause of mine) {
    const shared = theirs.map(
      (each) => [...pairsIn(each)].filter((pair) => !numeral.test(pair) && clause.includes(pair)).length,
    );
    const most = Math.max(0, ...shared);
    const there = theirs[shared.indexOf(most)];
    if (most < 1 || there === undefined) continue;
    if (
      isNegative(there) &&
      !isNegative(clause) &&
      (deems.test(there) || most >= leastShared) &&
      !turns.test(clause)
    )
      return instead(there, clause);
    const [, verb = ""] = /(?<!不)可以?([^可以不]{4})/.exec(clause) ?? [];
    if (verb !== "" && there.includes(`应当${verb}`) && !there.includes("可以"))
      return instead(there, clause);
  }
  return undefined;
}

const opposites: readonly (readonly [RegExp, RegExp])[] = [
  [/延续|延长|顺延|续期|继续履行/, /终止|解除|失效/],
  [/(?<!无)有效(?!期)/, /无效|不(?:具有|发生|产生).{0,6}效力/],
  [/准予|批准|予以核准|予以登记/, /不予|驳回|不批准/],
  [/退还|返还/, /不予?退|不予?返|没收/],
  [/中止/, /终止|终结/],
];

/** Whether a text has these words without a denial before them: 不终止 says the opposite of 终止. */
function says(words: RegExp, text: string): boolean {
  return [...text.matchAll(new RegExp(words, "g"))].some(
    ({ index }) => !/(?:不|未|不予|不得|不再|不能|并非)$/.test(text.slice(0, index)),
  );
}

/** Whether it denies; two denials affirm. */
function isNegative(clause: string): boolean {
  return (clause.match(denials)?.length ?? 0) % 2 === 1;
}

const denials =
  /不得(?!超过|低于|少于|多于|高于)|不能|不予|不再|不应|不可(?!抗|分)|无须|无需|无权|禁止|拒绝|没有|免除|免予|未|不(?=承担|负|适用|支付|退|受理|影响|发生|生效|计|属于|作为|收|给|支持|保护)/g;
const numeral = /[一二三四五六七八九十百千万日年月]/;
const deems = /^视为(?:没有|未|不)/;
/** Ways to deny without these words. */
const turns = /驳回|撤销|停止|终止|解除|失去|丧失|消灭|放弃|除外|例外|不/;
const ofCase = /^[故因所据即]|原告|被告|本案|本院|我方|我司|某|[甲乙丙丁]公司/;

/** The sentence frees of what the article demands: 可以不再履行 for 不得拒绝履行. */
function deniedDuty(said: string, article: string): Piece[] | undefined {
  for (const clause of said.split(/[，,。；;：:]/).map(plain)) {
    const [, what = ""] =
      /(?:可以不再?|可不再?|无须|无需|不必|不再|有权拒绝|可以拒绝)(?:再|另行)?(.{4,12})/.exec(clause) ?? [];
    const object = what.slice(0, leastObject);
    for (const sentence of article.split(/[。；;\n]/).map(plain)) {
      const at = sentence.indexOf(object);
      if (at === -1) continue;
      const before = sentence.slice(0, at);
      const isDemanded =
        /不得.*(?:拒绝|不)$/.test(before) || /(?:应当|必须)(?:依法|按时|及时|继续)?$/.test(before);
      if (isDemanded && !/无须|无需|可以不|除外|但/.test(article)) return instead(sentence, clause);
    }
  }
  return undefined;
}

const leastPairs = 3;
const leastLike = 0.6;
const leastPairsOfWhole = 4;
const leastAhead = 0.15;
const leastLikeBefore = 0.4;
const leastShared = 2;
const leastObject = 4;

function instead(theirs: string, mine: string): Piece[] {
  return [
    { kind: "missing", text: theirs },
    { kind: "added", text: mine },
  ];
}
