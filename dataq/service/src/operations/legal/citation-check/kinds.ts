import { type Clause, instead, pairsOf, shared, shareIn } from "./clauses.ts";
import type { Piece } from "./compare.ts";

/** Of things of one kind, such as degrees of fault or levels of authorities, the sentence names one that the article has not. */
export function otherKind(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  return (
    otherFault(said, article) ??
    otherLevel(said, article) ??
    otherEach(said, article) ??
    otherPriority(said, article) ??
    otherJoin(said, article) ??
    otherFate(said, article) ??
    otherOrder(said, article) ??
    otherEvent(said, article) ??
    otherFiction(said, article) ??
    inventedChoice(said, article)
  );
}

/** 一般过失 or just 过失 for 故意或者重大过失. */
function otherFault(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  const there = article.find(({ units }) => /重大过失|故意/.test(units));
  if (there === undefined || /(?<!重大)过失/.test(whole)) return undefined;
  const own = said.find(
    ({ units }) => /(?<!重大|[与无犯])过失(?!犯|致)/.test(units) && !/重大过失|不|未|无|非/.test(units),
  );
  return own === undefined ? undefined : instead(there.text, own.text);
}

/** 设区的市级以上 for 省级以上, or another court. */
function otherLevel(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  for (const levels of [
    /(国务院|省级?|设区的?市级?|市级?|县级?|乡级?|区级?)(?=以上)/,
    /(基层|中级|高级|最高)(?=法院)/,
    /(上一级|本级|同级|下一级)(?=法院|政府|机关|主管)/,
  ]) {
    const all = article.flatMap((each) =>
      [...each.units.matchAll(new RegExp(levels, "g"))].map(([level]) => ({ level: bare(level), each })),
    );
    const [there] = all;
    if (there === undefined) continue;
    for (const { units, text } of said)
      for (const [level] of units.matchAll(new RegExp(levels, "g"))) {
        if (all.some((other) => other.level === bare(level))) continue;
        if (levels.source.includes("以上") && /乡|县/.test(there.level) && all.length > 1) continue;
        return instead(there.each.text, text);
      }
  }
  return undefined;
}

function bare(level: string): string {
  return level.replace(/级$/, "").replaceAll("的", "").replace("设区市", "市");
}

/** 末页 for 每一页. */
function otherEach(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const each = /(每一?|各|末|首|最后一|任一|第一)(页|次|份|期|项|季度|个月|年)/g;
  const stands = article.flatMap((clause) =>
    [...clause.units.matchAll(each)].map(([, which = "", what]) => ({ which: which[0], what, clause })),
  );
  for (const { units, text } of said)
    for (const [, which = "", what] of units.matchAll(each)) {
      const alike = stands.filter((other) => other.what === what);
      const [there] = alike;
      if (there === undefined || alike.some((other) => other.which === which[0])) continue;
      return instead(there.clause.text, text);
    }
  return undefined;
}

/** 优先购买 for 优先承租. */
function otherPriority(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const first = /优先(购买|承租|受偿|认缴|认购|清偿|支付|录用|分配|受让)/g;
  const stands = article.flatMap((clause) =>
    [...clause.units.matchAll(first)].map(([, what]) => ({ what, clause })),
  );
  const [there] = stands;
  if (there === undefined) return undefined;
  for (const { units, text } of said)
    for (const [, what] of units.matchAll(first))
      if (!stands.some((other) => other.what === what)) return instead(there.clause.text, text);
  return undefined;
}

/** 或者 between the same words that the article joins by 并, or the other way round. */
function otherJoin(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const [mine, theirs] = [joinsIn(said), joinsIn(article)];
  for (const { kind, left, right, text } of mine) {
    const alike = theirs.filter(
      (each) => shared(right, each.right) >= leastAfterJoin && shared(left, each.left) >= leastBeforeJoin,
    );
    const [there] = alike;
    if (there === undefined || alike.some((each) => each.kind === kind)) continue;
    return instead(there.text, text);
  }
  return undefined;
}

const leastAfterJoin = 2;
const leastBeforeJoin = 1;
const besideJoin = 8;
const joins =
  /(或(?!有|缺|裁)|任[选择]其?一)|(并且|而且|(?<!一)并(?!购|非|不|列|处|存|未|无|行|案|发|入|联|罚)|且(?!不)|同时|和(?!解|平|谐|其他)|(?<![普涉以遍])及(?!时|其他))/g;

/** Joins across clauses too: 具有目的,或具备必要性. */
function joinsIn(clauses: readonly Clause[]) {
  return clauses.flatMap(({ units, text, sentence }, place) =>
    [...units.matchAll(joins)].map((match) => {
      const previous = clauses[place - 1];
      const isFirst = match.index <= 1 && previous?.sentence === sentence;
      const before = isFirst ? previous.units : units.slice(0, match.index);
      return {
        kind: match[1] === undefined ? "and" : "or",
        left: pairsOf(before.slice(-besideJoin)),
        right: pairsOf(units.slice(match.index + match[0].length).slice(0, besideJoin)),
        text: isFirst ? `${previous.text}，${text}` : text,
      };
    }),
  );
}

/** 抵押权即告消灭 for 抵押权不受影响. */
function otherFate(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  for (const each of article) {
    const [, what = ""] = /([^的]{2,6})(?:不受影响|继续有效|仍然有效)$/.exec(each.units) ?? [];
    if (what === "") continue;
    const name = what.replace(/^原/, "").slice(-3);
    const own = said.find(
      ({ units }) =>
        new RegExp(`${name}.{0,4}(?:消灭|无效|终止|丧失|解除|失效)`).test(units) && !/不|未/.test(units),
    );
    if (own !== undefined) return instead(each.text, own.text);
  }
  return undefined;
}

/** A choice, where the article gives none. */
function inventedChoice(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  if (/可以?|有权|选择|允许|自愿|协商|也|自行/.test(whole)) return undefined;
  const own = said.find(({ units }) => /既可以?|选择|任选|自行决定/.test(units));
  return own === undefined ? undefined : instead("", own.text);
}

/** 首先清偿税款,其后清偿工资, where the article has the other order. */
function otherOrder(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  for (const [place, { units, text, sentence }] of said.entries()) {
    const next = said[place + 1];
    if (
      next?.sentence !== sentence ||
      !/首先|优先|^先|应先/.test(units) ||
      !/^(?:其后|然后|再|其次|之后|最后)/.test(next.units)
    )
      continue;
    const [first, second] = [units, next.units].map((each) =>
      placeOf(
        pairsOf(
          each
            .replace(/^.*?(?:首先|优先|先)|^(?:其后|然后|再|其次|之后|最后)/, "")
            .replaceAll(/清偿|支付|拨付|所欠/g, ""),
        ),
        article,
      ),
    ) as [number, number];
    if (first !== -1 && second !== -1 && second < first)
      return instead(`${article[second]?.text}，${article[first]?.text}`, `${text}，${next.text}`);
  }
  return undefined;
}

function placeOf(pairs: ReadonlySet<string>, article: readonly Clause[]): number {
  const likes = article.map(({ units }) => shareIn(pairs, pairsOf(units)));
  const most = Math.max(...likes);
  return most < leastOfPlace ? -1 : likes.indexOf(most);
}
const leastOfPlace = 0.3;

/** The same period begins with another event. */
function otherEvent(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  for (const [place, clause] of said.entries()) {
    const mine = startOf(clause.units);
    if (mine === undefined) continue;
    const before = said[place - 1];
    const near = (periods.exec(clause.units) ??
      (before?.sentence === clause.sentence ? periods.exec(before.units) : null))?.[0];
    if (near === undefined) continue;
    const alike = article
      .filter(({ units }) => new RegExp(`(?<![一二三四五六七八九十百])${near}`).test(units))
      .flatMap((each) => {
        const start = startOf(each.units);
        return start === undefined ? [] : [{ start, each }];
      });
    const [there] = alike;
    if (there === undefined || whole.includes(mine.words)) {
      // Its words stand elsewhere in the article; then those at this period must be others.
      if (there === undefined || alike.some(({ start }) => start.words.endsWith(mine.words)))
        if (!alike.every(({ start }) => start.knows && !mine.knows)) continue;
    }
    if (there === undefined || alike.some(({ start }) => fits(mine, start))) continue;
    return instead(there.each.text, clause.text);
  }
  return undefined;
}

interface Start {
  readonly words: string;
  readonly knows: boolean;
}

const periods = /[一二三四五六七八九十百半]+(?:年|个月|日|天|小时|周)(?!内?的?前|[一二三四五六七八九十])/;

function startOf(units: string): Start | undefined {
  const words =
    /[自从]((?:(?![自从]).){2,40}?)(?:之日|之时|日|时)(?:的?次日)?(?:起(?!诉|草|算点)|开始|后)/.exec(
      units,
    )?.[1];
  return words === undefined ? undefined : { words, knows: /知道|发现|应知/.test(words) };
}

/** The event is told by its last words: 中标通知书发出. */
function fits(mine: Start, theirs: Start): boolean {
  if (mine.knows !== theirs.knows) return false;
  if (mine.knows) return true;
  return (
    shared(pairsOf(mine.words), pairsOf(theirs.words)) > 0 &&
    (sameEvent(mine.words) ?? "1") === (sameEvent(theirs.words) ?? "1")
  );
}

function sameEvent(words: string): number | undefined {
  const at = events.findIndex((event) => event.test(words));
  return at === -1 ? undefined : at;
}

const events: readonly RegExp[] = [
  /(?:收到|接到|送达|签收|发送给)/,
  /(?:届满|到期|终了|截止|期限的最后)$/,
  /(?:作出|发布|公布)$/,
  /(?:发出|寄出)$/,
  /(?:请求|提出|申请)$/,
  /(?:成立|设立|订立)$/,
  /(?:生效)$/,
  /(?:登记|注册)$/,
  /(?:受理)$/,
  /(?:交付|验收)$/,
];

/** 视为继续履行 for 视为解除. */
function otherFiction(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const fictions = (clauses: readonly Clause[]) =>
    clauses.flatMap((clause) =>
      [...clause.units.matchAll(/视为((?:(?!视为).){2,12})/g)].map(([, what = ""]) => ({
        what: what.replace(/^没有|^未/, "无").replace(/^已经?/, ""),
        clause,
      })),
    );
  const stands = fictions(article);
  const [there] = stands;
  if (there === undefined) return undefined;
  for (const { what, clause } of fictions(said))
    if (
      !stands.some((each) => each.what.includes(what.slice(0, 2)) || what.includes(each.what.slice(0, 2))) &&
      sharesEnd(what, stands[0]?.what ?? "")
    )
      return instead(there.clause.text, clause.text);
  return undefined;
}

function sharesEnd(one: string, other: string): boolean {
  return one.slice(-2) === other.slice(-2);
}
