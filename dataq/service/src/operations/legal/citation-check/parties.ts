import { type Clause, instead, pairsOf, shareIn } from "./clauses.ts";
import type { Piece } from "./compare.ts";
import { isOtherThing } from "./rule-values.ts";

/** Who proves, gives notice, is told or acts: the sentence names somebody else than the article. */
export function otherParty(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  return (
    otherProver(said, article) ??
    otherObject(said, article) ??
    otherDoer(said, article) ??
    otherHolder(said, article)
  );
}

const role =
  "(?:被(?:保险|侵权|申请|执行|扶养|继承|监护|许可|告|担保|害)人|[^的由对向与和及或在将被者是为一二三四五六七八九十日]{0,8}(?:人|方|者|配偶|子女|父母|原告|被告|单位|机关|机构|部门|会|法院|股东|董事|监事|经理|政府|企业|公司|用户|患者|业主|法人)(?:一方|双方)?)";

/** The burden of proof lies with somebody else. */
function otherProver(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const stands = article.flatMap(proversIn);
  const whole = article.map(({ units }) => units).join("|");
  for (const clause of said)
    for (const mine of proversIn(clause)) {
      const isNamed = /[原被]告/.test(mine.who) && /[原被]告/.test(whole);
      if (!isNamed && everyday.test(mine.who)) continue;
      if (stands.some(({ who, before }) => isSame(who, mine.who) || isNamedIn(before, mine.who))) continue;
      const [there] = stands;
      if (there !== undefined) return instead(there.clause.text, clause.text);
      // The article speaks of no proof.
      if (!/证明|举证|证据|推定/.test(whole) && burden.test(clause.units) && sharesOf(said, whole))
        return instead("", clause.text);
      // The article makes nobody prove this.
      if (/证明|举证/.test(whole) && claimant.test(mine.who) && /能够?证明|有证据证明|不能证明/.test(whole)) {
        const own = article.find(({ units }) => /证明/.test(units)) as Clause;
        return instead(own.text, clause.text);
      }
    }
  return undefined;
}

const proves = new RegExp(
  `(${role})(?:应当|应|必须|须|需要?|能够|不能|可以|负责|无法|能|来|承担|负有?)*(?:举证|自?证明|自证|提供(?:.{0,24}的)?证据|提出证据)(?!文件|书|材料|的)`,
  "g",
);

function proversIn(clause: Clause): { who: string; before: string; clause: Clause }[] {
  return [proves, burdened, asked]
    .flatMap((pattern) => [...clause.units.matchAll(pattern)])
    .flatMap((match) => {
      const who = match[1] ?? match[2] ?? "";
      const before = clause.units.slice(0, match.index + who.length);
      const name = who.replace(/^(?:应当?|须|则|需|如果?|若|除|但是?|可能)+/, "");
      return name.length < 2 || anybody.test(name) ? [] : [{ who: name, before, clause }];
    });
}

const burden = /(?:应当|应|须|必须|由|负有?|承担).{0,12}(?:举证|证明)|自证/;

/** Whether some words of the sentence are those of the article. */
function sharesOf(said: readonly Clause[], whole: string): boolean {
  return shareIn(pairsOf(said.map(({ units }) => units).join("|")), pairsOf(whole)) >= leastShareOfProof;
}
const leastShareOfProof = 0.3;

const burdened = new RegExp(
  `(${role})(?:应当?|须|需)?(?:对|就).{2,24}?(?:承担|负有?)(?:相应的?)?举证责任`,
  "g",
);
/** 由申请人对……举证, 举证责任由申请人承担. */
const asked = new RegExp(
  `由(${role})(?:对|就)[^由]{2,24}?(?:举证|证明|提供证据)(?!文件|书|材料|的)|(?:举证|证明)责任(?:应当?)?由(${role})(?:承担|负担)`,
  "g",
);
const anybody = /^(?:其|双方|一方|对方|各方|任何|当事人|他人|本人|行为人)|(?:双方|各方|他人|本人)$/;
const everyday = /公司|平台|企业|商场|银行|学校|医院|网站|酒店|开发商|被告|原告|我方|贵司|某|[甲乙丙丁]/;
const claimant = /用户|消费者|受害人|被侵权人|劳动者|患者|权利人|债权人|投资者|购买者|个人|旅客|乘客|当事人/;

/** 通知劳动者 for 通知用人单位. */
function otherObject(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  for (const clause of said)
    for (const [, verb = "", who = ""] of clause.units.matchAll(acted)) {
      if (anybody.test(who) || everyday.test(who)) continue;
      // 通知债务人 tells a part of 通知债权人和债务人.
      if (new RegExp(`${verb}(?:[^|]*[和与及或])?${who}`).test(whole)) continue;
      const there = article.flatMap((each) =>
        [...each.units.matchAll(acted)].flatMap(([, other, whom = ""]) =>
          other === verb ? [{ whom, each }] : [],
        ),
      );
      const [own] = there;
      // The other one of the article's parties, and no third.
      if (
        own === undefined ||
        there.some(({ whom }) => isSame(whom, who) || anybody.test(whom)) ||
        !whole.includes(who)
      )
        continue;
      return instead(own.each.text, clause.text);
    }
  return undefined;
}

const acted = new RegExp(
  `(通知|催告|请求|返还|赔偿|追偿|支付给|交付给|起诉|通报|推定|委托|指定|责令|告诉)(${role})`,
  "g",
);

/** 由股东会……发出 for 由公司……发出. */
function otherDoer(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const stands = [...article.flatMap(doersIn), ...article.flatMap(bearersIn)];
  const whole = article.map(({ units }) => units).join("|");
  for (const clause of said)
    for (const mine of doersIn(clause)) {
      if (everyday.test(mine.who) || anybody.test(mine.who) || whole.includes(mine.who)) continue;
      const there = stands.find(
        (each) =>
          (each.verb === mine.verb && !isOtherThing(mine.object, each.object)) ||
          shareIn(mine.what, each.what) >= leastShare,
      );
      if (
        there === undefined ||
        stands.some(({ who }) => isSame(who, mine.who)) ||
        office(there.who, mine.who)
      )
        continue;
      return instead(there.clause.text, clause.text);
    }
  return undefined;
}

const done = new RegExp(
  `由(${role})(?:应当|可以|依法|及时|自行|直接|负责|进行)*(?:向[^,]{1,12}?(?=发出|支付|提出|作出|申请|说明|报告))?(.{2})(.{0,12})`,
  "g",
);
const leastShare = 0.6;

function doersIn(clause: Clause) {
  return [...clause.units.matchAll(done)].map(([, who = "", verb = "", rest = ""]) => ({
    who,
    verb,
    object: rest,
    what: pairsOf(verb + rest),
    clause,
  }));
}

/** 经营者应当承担费用 says who bears as 由经营者承担 does. */
function bearersIn(clause: Clause) {
  return [
    ...clause.units.matchAll(new RegExp(`^(${role})(?:应当|必须|依法)+(承担|负担|支付|退还)(.{0,12})`, "g")),
  ].map(([, who = "", verb = "", rest = ""]) => ({
    who,
    verb,
    object: rest,
    what: pairsOf(verb + rest),
    clause,
  }));
}

/** 股东是清算义务人 for 董事为公司清算义务人. */
function otherHolder(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  // 原行政机关是被告 for 复议机关是被告, under the same condition.
  for (const [place, { isCondition, units }] of said.entries()) {
    const at = isCondition
      ? article.findIndex(
          (each) => each.isCondition && each.units.endsWith(units) && units.length >= leastCondition,
        )
      : -1;
    const [own, there] = [said[place + 1], article[at + 1]];
    if (at === -1 || own === undefined || there === undefined) continue;
    const [one, other] = [own, there].map((each) => /^(.{2,12})(?:是|为)(.{2,10})$/.exec(each.units));
    if (one?.[2] === undefined || one[2] !== other?.[2] || everyday.test(one[1] as string)) continue;
    if (!isSame(one[1] as string, other[1] as string)) return instead(there.text, own.text);
  }
  for (const clause of said) {
    const [, who = "", what = ""] =
      new RegExp(`(${role})(?:是|为|属于?|担任|作为)([^,]{4,12})$`).exec(clause.units) ?? [];
    if (anybody.test(who) || everyday.test(who)) continue;
    for (const each of article) {
      const [, other = "", whose = ""] =
        new RegExp(`(${role})(?:是|为|担任)([^,]{4,14})$`).exec(each.units) ?? [];
      if (whose === "" || anybody.test(other) || !whose.endsWith(what.slice(-4))) continue;
      if (
        shareIn(pairsOf(what), pairsOf(whose)) >= leastShareOfWhat &&
        !isSame(other, who) &&
        !other.includes(who)
      )
        return instead(each.text, clause.text);
    }
  }
  return undefined;
}
const leastShareOfWhat = 0.75;
const leastCondition = 6;

function isNamedIn(text: string, who: string): boolean {
  return new RegExp(`(?<!被)${who}`).test(text);
}

/** Both are authorities, which have many names. */
function office(one: string, other: string): boolean {
  const isOffice = /(?:机关|机构|部门|政府)$/;
  return isOffice.test(one) && isOffice.test(other);
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((who) => who.replaceAll(/一方|双方|的|其|该/g, "")) as [string, string];
  // 申请人 and 被申请人 are on two sides.
  if (a.startsWith("被") !== b.startsWith("被") && a.replace(/^被/, "") === b.replace(/^被/, ""))
    return false;
  if (a.includes(b) || b.includes(a)) return true;
  return same.some((names) => names.test(a) && names.test(b)) || a.slice(-3) === b.slice(-3);
}

const same: readonly RegExp[] = [
  /被侵权人|受害人|受害方|被害人|受害者|患者|权利人/,
  /(?<!被)侵权人|加害人|致害人|行为人/,
  /债权人|第三人|出借人|贷款人/,
  /劳动者|员工/,
  /消费者|用户|购买者|买受人/,
];
