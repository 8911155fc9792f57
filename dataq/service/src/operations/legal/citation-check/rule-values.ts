import { fitOf, type Piece, type Words } from "./compare.ts";
import { clauseEnd, clauseStart } from "./counterparts.ts";
import { likeness, pairsIn } from "./likeness.ts";

/**
 * What a rule has one of, wherever the words stand: the kind of a liability, who bears a cost, what a sum is computed
 * by. The sentence names one that the article has nowhere, and the article has another one.
 */
export function otherValue(said: Words, article: Words): readonly Piece[] | undefined {
  return (
    otherOfGroup(said, article) ??
    otherAntonym(said, article) ??
    otherInvalid(said, article) ??
    otherDeemed(said, article) ??
    otherBearer(said, article) ??
    otherMeasure(said, article) ??
    otherLaw(said, article) ??
    includedException(said, article) ??
    otherLimit(said, article) ??
    otherMember(said, article) ??
    withoutException(said, article) ??
    deniedClaim(said, article)
  );
}

/** Values of which one excludes the others. Those of the second list are only read in articles. */
interface Group {
  readonly values: readonly RegExp[];
  readonly others?: readonly RegExp[];
}

const groups: readonly Group[] = [
  {
    values: [
      /连带/,
      /按份|各自.{0,8}承担|按(?:照)?(?:各自)?(?:的)?(?:过错|比例).{0,6}承担|平均承担/,
      /补充(?:赔偿|清偿|保证)?责任/,
      /(?:出资额?|财产|遗产|股份|份额|价值)(?:总额)?为限/,
      /无限/,
      /一般保证/,
    ],
    others: [/相应的?(?:赔偿|民事|法律)?责任/],
  },
  {
    values: [
      /免(?:予|于)?(?:征收?|缴|税|纳)/,
      /减半|减征|减按/,
      /(?:应当?|需要?|须|照常)[^不免减]{0,12}(?:缴纳|纳税|征税)/,
    ],
  },
  { values: [/没收/, /退还|返还/] },
  {
    values: [
      /(?:共同|双方|协商一致|一致同意)(?=.{0,12}(?:申请|提出|委托|选|决定|签|向))/,
      /单方|任何?一方(?:均|都|可|也)/,
    ],
  },
];

function otherOfGroup(said: Words, article: Words): Piece[] | undefined {
  // A relief needs no other words to be told.
  const reduced = /减半征收|减征/.exec(said.units)?.[0];
  const exempt = /免征/.exec(article.units)?.[0];
  if (reduced !== undefined && exempt !== undefined && !/减半|减征|减按/.test(article.units))
    return instead(exempt, reduced);
  if (fitOf(said, article).share < leastFit && likeness(said.units, article.units) < leastLikeness)
    return undefined;
  for (const { values, others = [] } of groups) {
    const stands = [...values, ...others].flatMap((value) => {
      const found = positive(value, article.units);
      return found === undefined ? [] : [found];
    });
    const [theirs] = stands;
    if (theirs === undefined) continue;
    for (const value of values) {
      const mine = positive(value, said.units);
      if (mine === undefined || value.test(article.units)) continue;
      // 无限连带责任 is both.
      if (values.some((other) => other !== value && other.test(said.units) && other.test(article.units)))
        continue;
      return instead(theirs, mine);
    }
  }
  return undefined;
}

/** The words, unless they are denied. */
function positive(value: RegExp, units: string): string | undefined {
  for (const match of units.matchAll(new RegExp(value.source, "g")))
    if (
      !/(?:不|无须|无需|不必|并非|而非|不是|免除|没有|未)(?:需要?|应当?|得|能|予|再|承担|构成|适用)?$/.test(
        units.slice(Math.max(0, match.index - 5), match.index),
      )
    )
      return match[0];
  return undefined;
}

/** Words that exclude each other before or after the same two characters. The article has only the other one. */
function otherAntonym(said: Words, article: Words): Piece[] | undefined {
  if (likeness(said.units, article.units) < leastLikeness) return undefined;
  for (const [one, other] of antonyms)
    for (const [mine, theirs] of [
      [one, other],
      [other, one],
    ] as const) {
      if (article.units.includes(mine) || said.units.includes(theirs)) continue;
      const at = said.units.indexOf(mine);
      const place = article.units.indexOf(theirs);
      if (at === -1 || place === -1) continue;
      const [before, after] = [
        said.units.slice(at - 2, at),
        said.units.slice(at + mine.length, at + mine.length + 2),
      ];
      const isBeside =
        (after.length === 2 && article.units.includes(theirs + after)) ||
        (before.length === 2 && article.units.includes(before + theirs));
      if (isBeside && !bearsOther(said, mine, article, theirs)) return instead(theirs, mine);
    }
  return undefined;
}

/** Both bear something, and nothing of the same: 承租人承担运输费用 beside 出租人承担维修费用. */
function bearsOther(said: Words, mine: string, article: Words, theirs: string): boolean {
  const own = [...borneBy(mine, said)];
  const there = [...borneBy(theirs, article)];
  return (
    own.length > 0 && there.length > 0 && own.every((one) => there.every((other) => isOtherThing(one, other)))
  );
}

function* borneBy(who: string, words: Words): Generator<string> {
  for (const match of matchesIn(words, new RegExp(`${who}${bears}`, "g"))) {
    const end = match.index + match[0].length;
    yield words.units.slice(end, clauseEnd(words, end));
  }
}

const bears = "(?:应当?|可以|必须|须|依法|自行|负责)*(?:承担|负担|支付)";

/** Whether two things of one kind are told apart by the words before it: 运输费用, 维修费用. */
export function isOtherThing(one: string, other: string): boolean {
  const [a, b] = [one, other].map((thing) => thing.slice(0, -2)) as [string, string];
  return a.length >= 2 && b.length >= 2 && ![...a].some((each) => b.includes(each));
}

const antonyms: readonly (readonly [string, string])[] = [
  ["有偿", "无偿"],
  ["书面", "口头"],
  ["善意", "恶意"],
  ["从重", "从轻"],
  ["加重", "减轻"],
  ["较高", "较低"],
  ["较长", "较短"],
  ["早于", "晚于"],
  ["高于", "低于"],
  ["多于", "少于"],
  ["境内", "境外"],
  ["公开", "不公开"],
  ["原告", "被告"],
  ["出租人", "承租人"],
  ["出卖人", "买受人"],
  ["债权人", "债务人"],
  ["生产者", "销售者"],
  ["股东会", "董事会"],
  ["送达之日", "作出之日"],
  ["限制民事行为能力", "完全民事行为能力"],
  ["基层人民法院", "中级人民法院"],
  ["中级人民法院", "高级人民法院"],
  ["基层人民法院", "高级人民法院"],
];

/** Something else is void: the whole endorsement for the condition that it names. */
function otherInvalid(said: Words, article: Words): Piece[] | undefined {
  const stands = invalidIn(article);
  if (likeness(said.units, article.units) < leastLikeness) return undefined;
  for (const mine of invalidIn(said)) {
    const isWhole = /(?:整个|全部|整体|一并|均)/.test(mine.clause);
    if (article.units.includes(mine.clause) || mine.clause.startsWith("其")) continue;
    if (!isWhole && (unnamed.test(mine.subject) || mine.subject.length < 2)) continue;
    const isKnown = stands.some(({ clause }) =>
      [...pairsIn(mine.subject)].some((pair) => clause.includes(pair)),
    );
    if (isWhole ? !stands.every(({ clause }) => /部分|其|所附/.test(clause)) : isKnown) continue;
    return instead((stands[0] as { clause: string }).clause, mine.clause);
  }
  return undefined;
}

function invalidIn(words: Words): { subject: string; clause: string }[] {
  const found: { subject: string; clause: string }[] = [];
  for (const match of matchesIn(words, invalid)) {
    const start = clauseStart(words, match.index);
    const clause = words.units.slice(start, match.index + match[0].length);
    const subject = words.units
      .slice(start, match.index)
      .replace(/^(?:则|故|该|其|此|这一?|上述|因此|应认定|属于?)+/, "");
    found.push({
      subject: subject.replace(/(?:归于|自始|当然|应当?|属于?|一律|均|也|亦|为|是)+$/, ""),
      clause,
    });
  }
  return found;
}

const invalid =
  /(?<!婚姻|不因此|认定|确认|宣告|不)无效(?!婚姻|的|由|宣告|决定|之)|不(?:具有|发生|产生)[^,]{0,8}效力/g;
/** Words for what the case is about. */
const unnamed = /(?:约定|条款|合同|协议|行为|决议|遗嘱|担保|登记|声明|承诺|通知|规定)$/;

/** 视为不予延续 for 视为准予延续. */
function otherDeemed(said: Words, article: Words): Piece[] | undefined {
  const stands = [...matchesIn(article, deems)].map(([, what = ""]) => what);
  if (likeness(said.units, article.units) < leastLikeness) return undefined;
  for (const [, mine = ""] of matchesIn(said, deems)) {
    if (stands.some((each) => denies.test(each) === denies.test(mine))) continue;
    const theirs = stands.find((each) => likeness(mine.replace(denies, ""), each) > 0);
    if (theirs !== undefined) return instead(`视为${theirs}`, `视为${mine}`);
  }
  return undefined;
}

const deems = /视为((?:(?!视为).){2,12})/g;
const denies = /不予?|未|没有|拒绝|放弃|撤回|驳回|无/;

/** Somebody else bears, decides or does it: 由劳动者承担 for 由用人单位承担. */
function otherBearer(said: Words, article: Words): Piece[] | undefined {
  const stands = bearersIn(article);
  if (likeness(said.units, article.units) < leastLikeness) return undefined;
  for (const mine of bearersIn(said)) {
    const alike = stands.filter(({ verb }) => verb === mine.verb);
    if (!party.test(mine.who) || nobody.test(mine.who) || everydayParty.test(mine.who)) continue;
    if (alike.some(({ who }) => isSameParty(who, mine.who) || (office.test(who) && office.test(mine.who))))
      continue;
    const there = alike.find(({ object, before }) =>
      mine.object === "" || object === ""
        ? [...pairsIn(mine.before)].some((pair) => before.includes(pair))
        : object.slice(0, 2) === mine.object.slice(0, 2),
    );
    if (there === undefined) continue;
    return instead(`由${there.who}${there.verb}`, `由${mine.who}${mine.verb}`);
  }
  return undefined;
}

function bearersIn(words: Words): { who: string; verb: string; object: string; before: string }[] {
  return [...matchesIn(words, bearers)].map((match) => {
    const [, who = "", verb = ""] = match;
    const end = match.index + match[0].length;
    return {
      who: who
        .replace(/^[该其]/, "")
        .replace(/(?:自行|个人|本人|依法|先行|各自|单独|共同|全额|直接|自己|予以)+$/, ""),
      verb: verb.replace("负担", "承担"),
      object: words.units.slice(end, clauseEnd(words, end)).replace(/^(?:相应的?|全部|侵权|民事|连带)+/, ""),
      before: words.units.slice(clauseStart(words, match.index), match.index),
    };
  });
}

const bearers =
  /(?<![理自事])由(?![于此])([^由]{2,16}?)(承担|负担|支付|缴纳|预付|预交|赔偿|提供|提交|提出|管辖|批准|决定|责令|处以?(?=.{0,12}罚款)|作出|签发|组织|负责|垫付|追缴)/g;
const party = /(?:[人者方院会员]|机关|机构|部门|单位|政府|组织|企业|股东|董事|监事|国务院|主体|国家|业主)$/;
/** Offices have many names. */
const office = /(?:机关|机构|部门|局)$/;
/** Not a party of the law, or not to tell which one. */
const nobody =
  /^(?:其|本人|自己|双方|各方|对方|一方|当事人|责任人|行为人|他人|第三人|此|谁|我)|某|[甲乙丙丁]|原告|被告/;
const everydayParty =
  /公司|银行|平台|网站|商场|酒店|学校|医院|开发商|商家|厂家|企业|员工|职工|夫妻|丈夫|妻子|子女|老人|家长|司机|乘客|客户|法院/;

function isSameParty(one: string, other: string): boolean {
  const [a, b] = [one, other].map(inOneWord) as [string, string];
  // 申请人 and 被申请人 are on two sides.
  if (a === `被${b}` || b === `被${a}`) return false;
  return b.includes(a) || a.slice(-3) === b.slice(-3) || [...pairsIn(b)].every((pair) => a.includes(pair));
}

function inOneWord(who: string): string {
  let text = who;
  for (const [words, one] of parties) text = text.replaceAll(words, one);
  return text;
}

const parties: readonly (readonly [RegExp, string])[] = [
  [/人民(?=政府|法院|检察院)/g, ""],
  [/被侵权人|受害人|受害方|被害人|受害者/g, "受害人"],
  [/侵权人|加害人|致害人|侵权方/g, "侵权人"],
  [/驾驶人|驾驶员/g, "驾驶人"],
  [/产权人|权利人|所有权人/g, "所有人"],
  [/出借人|放贷人/g, "贷款人"],
  [/饲养人|饲主|主人/g, "饲养人"],
  [/卖方|卖家/g, "出卖人"],
  [/买方|买家/g, "买受人"],
];

/** A sum is computed by something else: 按照本人日平均工资 for 按照国家上年度职工日平均工资. */
function otherMeasure(said: Words, article: Words): Piece[] | undefined {
  const stands = [...matchesIn(article, measures)].map(([, what = ""]) => what);
  for (const [, mine = ""] of matchesIn(said, measures)) {
    const alike = stands.flatMap((each) => {
      const same = sameEnd(each, mine);
      return same.length < 4
        ? []
        : [{ whole: each, theirs: each.slice(0, -same.length), own: mine.slice(0, -same.length) }];
    });
    const [there] = alike;
    if (
      there === undefined ||
      alike.some(({ theirs, own }) => own.length < 3 || theirs.length < 3 || likeness(own, theirs) > 0)
    )
      continue;
    return instead(there.whole, mine);
  }
  return undefined;
}

const measures =
  /(?:按照?|依照|参照|根据|以)([^按照依参据]{4,28}?)(?:逐[日月年])?(?:计算|确定|支付|给付|核定|计征|计付|赔偿)/g;

function sameEnd(one: string, other: string): string {
  let length = 0;
  while (length < Math.min(one.length, other.length) && one.at(-1 - length) === other.at(-1 - length))
    length++;
  return one.slice(one.length - length);
}

/** The law of another place applies. */
function otherLaw(said: Words, article: Words): Piece[] | undefined {
  const stands = lawsIn(article);
  for (const mine of lawsIn(said)) {
    const own = stands.map((each) => ({ ...each, like: dice(mine.what, each.what) }));
    const [best] = own.toSorted((a, b) => b.like - a.like);
    if (best === undefined || best.like < leastOfWhat) continue;
    const alike = own.filter(({ like }) => like === best.like);
    if (
      alike.some(
        ({ law }) => law.includes(mine.law) || mine.law.includes(law) || likeness(mine.law, law) > 0.7,
      )
    )
      continue;
    return instead(`适用${best.law}`, `适用${mine.law}`);
  }
  return undefined;
}

function lawsIn(words: Words): { what: string; law: string }[] {
  return [...matchesIn(words, applies)].map((match) => {
    const [, law = ""] = match;
    const start = clauseStart(words, match.index);
    const first = start === match.index && start > 0 ? clauseStart(words, start - 1) : start;
    return { law, what: words.units.slice(first, match.index).replace(/^但/, "") };
  });
}

const applies = /(?:应当|可以|应|须|一律)?适用([^适用]{3,24}?)(?:的)?(?:法律|法)(?!院)/g;

/** How alike two words are, from 0 to 1. */
function dice(one: string, other: string): number {
  const [a, b] = [pairsIn(one), pairsIn(other)];
  if (a.size + b.size === 0) return 0;
  return (2 * [...a].filter((pair) => b.has(pair)).length) / (a.size + b.size);
}

/** What the article excepts is said to be included: 包括过失犯罪的 for 过失犯罪的除外. */
function includedException(said: Words, article: Words): Piece[] | undefined {
  for (const match of article.units.matchAll(/除外|不在此限/g)) {
    const start = clauseStart(article, match.index);
    const what = article.units
      .slice(start, match.index)
      .replace(/^但是?/, "")
      .replace(/的$/, "");
    if (what.length < 3 || what.length > 16) continue;
    for (const [, included, without] of matchesIn(said, includes)) {
      const mine = included ?? without ?? "";
      if (likeness(what, mine) < leastOfWhat || /除外|不在此限|除.{1,20}[外以]/.test(said.units)) continue;
      return instead(`${what}除外`, mine);
    }
  }
  return undefined;
}

const includes =
  /(?:包括|包含|即使|即便|哪怕|无论是否|不论是否)([^包含即]{3,16})|([^包]{3,16}?)(?:也|亦|同样)不例外/g;

/** 不以所得遗产为限 for 以所得遗产实际价值为限. */
function otherLimit(said: Words, article: Words): Piece[] | undefined {
  for (const [mine, isDenied, what = ""] of matchesIn(said, limits))
    for (const [theirs, isThereDenied, other = ""] of matchesIn(article, limits))
      if ((isDenied === undefined) !== (isThereDenied === undefined) && likeness(what, other) >= leastOfWhat)
        return instead(theirs, mine);
  return undefined;
}

const limits = /(不|无须|并非)?以([^以]{2,16})为限/g;

/** A list of the article with one more member: 发表权、署名权、修改权 for 署名权、修改权. */
function otherMember(said: Words, article: Words): Piece[] | undefined {
  const list = (text: string) =>
    [...text.matchAll(/[\p{L}]{2,10}(?:、[\p{L}]{2,10})+/gu)].map(([each]) => each.split(/[、和及与]|以及/));
  const stands = list(article.text);
  for (const mine of list(said.text)) {
    const members = mine.map((each, place) =>
      place === 0 ? each.replace(/^.*[的对就]/, "") : each.replace(/[的均都].*$/, ""),
    );
    const known = members.filter((each) => each.length >= 2 && article.units.includes(each));
    const own = members.filter((each) => each.length >= 2 && !article.units.includes(each));
    const [extra] = own;
    if (known.length < 2 || own.length !== 1 || extra === undefined) continue;
    // Its beginning is cut off: it is no member, but the words before the list.
    if (extra === members[0] && (mine[0] as string).length >= longestMember) continue;
    if (!known.every((each) => each.at(-1) === extra.at(-1))) continue;
    const there = stands.find((each) =>
      known.every((member) => each.some((other) => other.includes(member))),
    );
    if (there !== undefined && !/其他|等/.test(article.units))
      return instead(there.join("、"), members.join("、"));
  }
  return undefined;
}

const longestMember = 10;

/** 一律 or 只能, where the article knows exceptions or another way. */
function withoutException(said: Words, article: Words): Piece[] | undefined {
  if (likeness(said.units, article.units) < leastLikeness) return undefined;
  const every = /一律|一概|概不|无一例外|无条件|任何时候|始终|任何情况下|任何情形下|无论何种情[形况]/.exec(
    said.units,
  )?.[0];
  if (every !== undefined && !article.units.includes(every) && !excepts.test(said.units)) {
    const exception = excepts.exec(article.units)?.[0];
    if (exception !== undefined) return instead(exception, every);
  }
  const only = /只能|仅能|只可|仅可|只得/.exec(said.units)?.[0];
  const also = /也可以|也可/.exec(article.units)?.[0];
  if (only !== undefined && also !== undefined && !/只能|仅|只/.test(article.units))
    return instead(also, only);
  return undefined;
}

const excepts = /除外|除.{1,24}外|但是?(?=[^书])|另有(?:规定|约定)|不在此限/;

/** A claim is denied that the article gives. */
function deniedClaim(said: Words, article: Words): Piece[] | undefined {
  if (
    likeness(said.units, article.units) < leastLikeness ||
    /不得|不予|无权|不承担|不能|除外|但/.test(article.units)
  )
    return undefined;
  const [given] = matchesIn(
    article,
    /(?:有权|可以)(?:向.{1,10})?(?:依法)?(?:提出|请求|要求|主张).{0,8}?(?:赔偿|支付|退还|返还|履行)/g,
  );
  const [denied] = matchesIn(
    said,
    /(?:不得|不能|无权|不可)(?:再|另行)?(?:向.{1,10}?)?(?:提出|请求|要求|主张).{0,8}?(?:赔偿|支付|退还|返还|履行)/g,
  );
  return given === undefined || denied === undefined || given[0].slice(-2) !== denied[0].slice(-2)
    ? undefined
    : instead(given[0], denied[0]);
}

/** The matches that no mark divides. */
function* matchesIn(words: Words, pattern: RegExp): Generator<RegExpMatchArray & { index: number }> {
  for (let at = 0; at < words.units.length; ) {
    const end = clauseEnd(words, at + 1);
    for (const match of words.units.slice(at, end).matchAll(pattern))
      yield Object.assign(match, { index: match.index + at });
    at = end;
  }
}

const leastFit = 0.35;
const leastLikeness = 0.35;
const leastOfWhat = 0.5;

function instead(theirs: string, mine: string): Piece[] {
  return [
    { kind: "missing", text: theirs },
    { kind: "added", text: mine },
  ];
}
