import { fitOf, type Piece, type Words } from "./compare.ts";
import { clauseEnd } from "./counterparts.ts";
import { likeness } from "./likeness.ts";

/**
 * What rules are made of, wherever it stands in a sentence: when a period begins, whose consent is needed, who may do
 * a thing, what must not be done, who must prove. A sentence in the writer's own words and order is compared by these.
 */
export function otherFrame(said: Words, article: Words): readonly Piece[] | undefined {
  const { share } = fitOf(said, article);
  if (share < leastShare && likeness(said.units, article.units) < leastLikeness) return undefined;
  const [all, theirs] = [clausesOf(said), clausesOf(article)];
  // What stands there word for word says nothing else.
  const mine = all.filter((clause) => !theirs.some((each) => each.includes(clause)));
  const pieces =
    otherStart(mine, theirs) ??
    otherConsent(mine, theirs) ??
    deniedVerb(mine, theirs) ??
    undeniedVerb(mine, theirs) ??
    otherActor(mine, theirs) ??
    otherConsequence(all, theirs, article) ??
    otherBurden(said, article, share);
  return pieces?.map(({ kind, text }) => ({
    kind,
    text: written(kind === "missing" ? article : said, text),
  }));
}

const leastShare = 0.35;
const leastLikeness = 0.45;

/** The clauses without marks. */
function clausesOf(words: Words): string[] {
  const clauses: string[] = [];
  for (let at = 0; at < words.units.length; ) {
    const end = clauseEnd(words, at + 1);
    clauses.push(words.units.slice(at, end));
    at = end;
  }
  return clauses;
}

/** With the marks of the original. */
function written({ units, text, places }: Words, part: string): string {
  const at = units.indexOf(part);
  return at === -1 ? part : text.slice(places[at], (places[at + part.length - 1] ?? 0) + 1);
}

function instead(theirs: string, mine: string): Piece[] {
  return [
    { kind: "missing", text: theirs },
    { kind: "added", text: mine },
  ];
}

/** The period begins with another event: 作出 for 知道. */
function otherStart(said: readonly string[], article: readonly string[]): Piece[] | undefined {
  const stands = article.flatMap(startsIn);
  if (stands.length === 0) return undefined;
  for (const mine of said.flatMap(startsIn)) {
    const fits = stands.some(
      ({ events }) =>
        [...mine.events].every((event) => events.has(event)) &&
        (!events.has("知道") || mine.events.has("知道")),
    );
    if (!fits)
      return instead(
        closest(
          stands.map(({ words }) => words),
          mine.words,
        ),
        mine.words,
      );
  }
  return undefined;
}

const starts =
  /[自从]((?:(?![自从]).){1,40}?)(?:(?:之日|之时|日|时)?(?:的?次日)?起(?!诉|草|算点|到|源|来)|(?:之日|之时|时)(?=设立|生效|成立|转移|发生效力|消灭|取得))/g;
const sameEvents: readonly (readonly [RegExp, string])[] = [
  [/知道|知悉|得知|获悉|发现/, "知道"],
  [/收到|接到/, "收到"],
  [/送达/, "送达"],
  [/作出/, "作出"],
  [/成立|设立/, "成立"],
  [/届满|期满/, "届满"],
  [/到期/, "到期"],
  [/申请/, "申请"],
  [/授权|授予/, "授权"],
  [/公告|公布|公示/, "公告"],
  [/登记|注册/, "登记"],
  [/签订|订立/, "签订"],
  [/拒绝/, "拒绝"],
  [/清偿/, "清偿"],
  [/出票/, "出票"],
  [/受理/, "受理"],
  [/生效/, "生效"],
  [/交付/, "交付"],
  [/消除/, "消除"],
  [/死亡/, "死亡"],
  [/发生/, "发生"],
  [/侵害|侵犯|损害/, "侵害"],
  [/终止|终结|解除/, "终止"],
  [/完工|竣工|完成/, "完成"],
  [/行使/, "行使"],
  [/赔偿|赔付/, "赔偿"],
];

function startsIn(clause: string): { words: string; events: Set<string> }[] {
  return [...clause.matchAll(starts)].flatMap(([, words = ""]) => {
    const events = new Set(sameEvents.filter(([event]) => event.test(words)).map(([, name]) => name));
    return events.size === 0 ? [] : [{ words, events }];
  });
}

/** Somebody else must agree: 上级行政机关 for 本行政机关. */
function otherConsent(said: readonly string[], article: readonly string[]): Piece[] | undefined {
  const stands = article.flatMap(consentsIn);
  for (const mine of said.flatMap(consentsIn)) {
    const alike = stands.filter(({ act }) => act === mine.act);
    if (alike.length === 0 || alike.some(({ who }) => isPart(who, mine.who) && hasLevelsOf(mine.who, who)))
      continue;
    return instead(
      closest(
        alike.map(({ who }) => who),
        mine.who,
      ),
      mine.who,
    );
  }
  return undefined;
}

const consents =
  /(?:经|由|报)(?![济营过常验办费历理纪])(?!刊|纸|告|酬|警|案|复|名)([^经由报]{1,20}?)(批准|同意|许可|核准|通过(?=$|后|的|方|即|并))/g;

function consentsIn(clause: string): { who: string; act: string }[] {
  return [...clause.matchAll(consents)].map(([, who = "", act = ""]) => ({ who, act }));
}

/** The sentence denies what the article lets or makes somebody do: 不予调查收集 for 应当调查收集. */
function deniedVerb(said: readonly string[], article: readonly string[]): Piece[] | undefined {
  for (const clause of said)
    for (const match of clause.matchAll(denial)) {
      // A condition, not what is ruled.
      if (match[0] === "不" && (/^(?:因|由于|如果?|若|倘)/.test(clause) || clause.endsWith("的"))) continue;
      const verb = clause.slice(match.index + match[0].length).slice(0, 2);
      if (verb.length < 2) continue;
      const there = article.filter((each) => each.includes(verb));
      const ruled = article.filter(
        (each, place) =>
          each.includes(verb) && ruling.test((article[place - 1] ?? "") + each.slice(0, each.indexOf(verb))),
      );
      if (ruled.length === 0 || there.some((each) => negative.test(each.replace(`未${verb}`, verb))))
        continue;
      return instead(ruled[0] as string, clause);
    }
  return undefined;
}

const denial =
  /(?:不得|不能|不予|不允许|不准|不应当?|不可以|无须|无需|无权|不必|不需要|禁止|拒绝|(?<=可以|有权|应当|[人者方关院位司])不)(?:主动|依法|继续|再|向.{1,6})?/g;
const ruling = /应当|可以|有权|必须|予以/;
const negative =
  /不(?!足|满|同|超过|动产|可抗力|合理|明|当|正当|特定|真实)|未|无(?!偿|效|记名|形|过错)|禁止|拒绝|免/;

/** The sentence tells without a denial what the article denies: 加收滞纳金 for 不得加收滞纳金. */
function undeniedVerb(said: readonly string[], article: readonly string[]): Piece[] | undefined {
  for (const clause of article)
    for (const match of clause.matchAll(denied)) {
      const what = clause.slice(match.index + match[0].length).slice(0, leastDenied);
      if (what.length < leastDenied) continue;
      const isAlwaysDenied = article.every((each) => !each.includes(what) || negative.test(each));
      const mine = said.find((each) => each.includes(what) && !each.includes(`不${what}`));
      if (!isAlwaysDenied || mine === undefined || negative.test(said.join(""))) continue;
      return instead(clause, mine);
    }
  return undefined;
}

const denied = /不得|不予|无须|无需|无权|禁止/g;
const leastDenied = 4;

/** Somebody else does what the article says: 债权人 for 管理人 before the same words. */
function otherActor(said: readonly string[], article: readonly string[]): Piece[] | undefined {
  for (const clause of said)
    for (const { who, act } of actsIn(clause)) {
      const there = article.flatMap((each) => actsIn(each).filter((other) => other.act === act));
      if (
        there.length === 0 ||
        article.some((each) => each.includes(act) && !actsIn(each).some((other) => other.act === act))
      )
        continue;
      if (there.some((other) => isPart(other.who, who) || other.clause.includes(who))) continue;
      return instead((there[0] as { who: string }).who, who);
    }
  return undefined;
}

const acting = /(?:有权|应当|可以|不得|必须)/g;
const actor =
  /(?:[^的由对向与和及或在将被者]{1,8}(?:人|方|院|机关|机构|部门|公司|单位|会|政府|国务院|企业|组织|股东|董事|监事)|[^的由对向与和及或在将被]{1,7}者)$/;
const anybody = /^(?:其|双方|一方|对方|各方|任何)|(?:一方|双方|对方|各方|当事人|他人|本人)$/;

function actsIn(clause: string): { who: string; act: string; clause: string }[] {
  return [...clause.matchAll(acting)].flatMap((match) => {
    const act = clause.slice(match.index + match[0].length).slice(0, leastAct);
    const who = actor.exec(clause.slice(0, match.index))?.[0];
    return act.length < leastAct || who === undefined || anybody.test(who) ? [] : [{ who, act, clause }];
  });
}
const leastAct = 5;

/**
 * The sentence has a condition of the article word for word, and turns what follows from it or adds a word there that the
 * article does not have.
 */
function otherConsequence(
  said: readonly string[],
  article: readonly string[],
  whole: Words,
): Piece[] | undefined {
  for (const [place, condition] of said.entries()) {
    const own = said[place + 1];
    if (own === undefined || condition.length < leastCondition) continue;
    const at = article.findIndex((each) => each.endsWith(condition));
    const stands = article[at + 1];
    if (
      at === -1 ||
      stands === undefined ||
      article.slice(at + 1, at + 4).some((each) => each.includes(own)) ||
      article.some((each, other) => other > at && each.endsWith(condition))
    )
      continue;
    const [verb] = denials.exec(own) ?? [];
    const isTurned =
      verb !== undefined &&
      !negative.test(stands) &&
      stands.includes(own.slice(own.indexOf(verb) + verb.length).slice(0, 2));
    const isOpposite =
      !negative.test(own) && startsDenied.test(stands) && stands.endsWith(own.slice(-leastCondition));
    const isForeign =
      own.length <= longestForeign && stands.slice(-4) === own.slice(-4) && hasForeignWord(own, whole.units);
    const isInvented =
      condition.length >= leastWholeCondition &&
      /[的时后满]$/.test(condition) &&
      follows.test(own) &&
      !ofCase.test(own) &&
      hasForeignWord(own, whole.units, 3);
    if (isTurned || isOpposite || isForeign || isInvented) return instead(stands, own);
  }
  return undefined;
}

const leastCondition = 6;
const leastWholeCondition = 8;
/** A longer clause is a wording of its own. */
const longestForeign = 12;
/** What a rule makes of a condition; other clauses are the writer's own. */
const follows =
  /^(?!这|该|此|即|前提|对|本|就|可见|说明).*(?:应当?|可以?|不得|有权|无权|须|承担|处|视为|免|由|予)/;
/** What follows the rule is about the case. */
const ofCase = /原告|被告|本院|本案|本所|上诉|申请人|我|某|公司应|[甲乙丙丁]|[0-9]|元|故|因此|人民法院/;
const startsDenied = /^(?:不得|不能|不予|无须|无需|无权|不(?!足|满|同|超|当|动产|明))/;
const denials = new RegExp(`^(?:可以|应当)?${startsDenied.source.slice(1)}`);

/** So many characters in a row that the article has nowhere. */
function hasForeignWord(clause: string, article: string, length = 2): boolean {
  const plain = clause.replaceAll(
    /公司|银行|企业|商家|平台|学校|医院|员工|顾客|有权|要求|请求|法院|[应须需都仅则就即才]/g,
    "",
  );
  let run = 0;
  return [...plain].some((each) => {
    run = article.includes(each) ? 0 : run + 1;
    return run >= length;
  });
}

/** The sentence makes somebody prove what the article does not. */
function otherBurden(said: Words, article: Words, share: number): Piece[] | undefined {
  const [mine, theirs] = [proverIn(said.units), proverIn(article.units)];
  if (mine !== undefined && theirs !== undefined && !article.units.includes(mine) && !isPart(mine, theirs))
    return instead(theirs, mine);
  if (/证明|举证|推定|证据/.test(article.units) || share < leastShareOfBurden) return undefined;
  const proof = /(?:不能|能够|应当|可以)?(?:证明|举证)/.exec(said.units)?.[0];
  return proof === undefined ? undefined : [{ kind: "added", text: proof }];
}

/** Who proves. */
function proverIn(units: string): string | undefined {
  const given = /由([^由]{2,10}?[人者方])(?:负责|承担)?(?:举证|证明)/.exec(units)?.[1];
  if (given !== undefined && !anybody.test(given)) return given;
  const at = /(?:应当|应|须|需|能够|不能|可以|必须)(?:证明|举证)/.exec(units)?.index;
  if (at === undefined) return undefined;
  const who = actor.exec(units.slice(Math.max(0, at - 8), at))?.[0];
  return who === undefined || anybody.test(who) ? undefined : who;
}
const leastShareOfBurden = 0.6;

/** Whether an authority is on no level that the article does not name. */
function hasLevelsOf(mine: string, theirs: string): boolean {
  return (mine.match(/上一?级|下一?级|国务院|省级?|市级?|县级?|乡级?/g) ?? []).every((level) =>
    theirs.includes(level),
  );
}

/** Whether one names the other, or a part of it. */
function isPart(one: string, other: string): boolean {
  const [a, b] = [one.replaceAll(free, ""), other.replaceAll(free, "")];
  return a.includes(b) || b.includes(a) || a.slice(-3) === b.slice(-3);
}
const free = /人民|有关|相关|依法|或者|以及|[的之其该或和及与]/g;

/** The one that shares the most characters. */
function closest(all: readonly string[], mine: string): string {
  const shared = (text: string) => [...text].filter((each) => mine.includes(each)).length / text.length;
  return all.toSorted((a, b) => shared(b) - shared(a))[0] as string;
}
