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
    otherOwner(said, article) ??
    otherShare(said, article) ??
    otherWordOfKind(said, article) ??
    otherQuorum(said, article) ??
    otherMoment(said, article) ??
    notYet(said, article) ??
    otherAddress(said, article) ??
    otherValidity(said, article) ??
    addedMember(said, article) ??
    otherAuthority(said, article) ??
    inventedConsent(said, article) ??
    otherEase(said, article) ??
    otherCount(said, article) ??
    everyOne(said, article) ??
    byItself(said, article) ??
    otherScope(said, article) ??
    inventedChoice(said, article)
  );
}

/** 一般过失 or just 过失 for 故意或者重大过失. */
function otherFault(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  const there = article.find(({ units }) => /重大过失|故意/.test(units));
  if (there === undefined || /(?<!重大)过失/.test(whole)) return undefined;
  // 过失犯罪 for 故意犯罪.
  const [, crime = ""] = /故意(.{2})/.exec(there.units) ?? [];
  const other = said.find(({ units }) => crime !== "" && units.includes(`过失${crime}`));
  if (other !== undefined) return instead(there.text, other.text);
  const own = said.find(
    ({ units }) =>
      /(?<!重大|[与无犯])过失(?!犯|致)|疏忽/.test(units) &&
      !/重大过失|(?:不|无|非|没有)[^,]{0,4}过失|(?:不|没有)(?:包括|含|适用)/.test(units),
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
  const likes = article.map((each) => shareIn(pairs, each.pairs));
  const most = Math.max(...likes);
  return most < leastOfPlace ? -1 : likes.indexOf(most);
}
const leastOfPlace = 0.3;

/** The same period begins with another event. */
function otherEvent(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  for (const [place, clause] of said.entries()) {
    const mine = startOf(clause.units);
    if (mine === undefined) continue;
    const before = said[place - 1];
    const near = (periods.exec(clause.units) ??
      (before?.sentence === clause.sentence ? periods.exec(before.units) : null))?.[0];
    // Without a period only the one beginning of the article counts.
    if (near === undefined && article.filter(({ units }) => startOf(units) !== undefined).length !== 1)
      continue;
    const isHere = near === undefined ? /[自从]/ : new RegExp(`(?<![一二三四五六七八九十百])${near}`);
    const alike = article
      .filter(({ units }) => isHere.test(units))
      .flatMap((each) => {
        const start = startOf(each.units);
        return start === undefined ? [] : [{ start, each }];
      });
    const [there] = alike;
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
    /[自从]((?:(?![自从]).){2,40}?)(?:之日|之时|当日|当天|的?第二日|次日|日|时)(?:的?次日)?(?:起(?!诉|草|算点)|开始|后)/.exec(
      units,
    )?.[1];
  return words === undefined ? undefined : { words, knows: /知道|发现|应知/.test(words) };
}

/** The event is told by its last words: 中标通知书发出. */
function fits(mine: Start, theirs: Start): boolean {
  if (mine.knows !== theirs.knows) return false;
  if (mine.knows) return true;
  if (sameEvent(mine.words) !== undefined && sameEvent(mine.words) === sameEvent(theirs.words)) return true;
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

/** 归一方个人所有 for 归夫妻共同所有. */
function otherOwner(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const owns = /(个人|共同|国家|集体|单独|按份)(?:所有|共有|财产|债务)/;
  const stands = article.flatMap((clause) => {
    const who = owns.exec(clause.units)?.[1];
    return who === undefined ? [] : [{ who, clause }];
  });
  const [there] = stands;
  if (there === undefined) return undefined;
  for (const { units, text } of said) {
    const who = owns.exec(units)?.[1];
    if (
      who !== undefined &&
      !stands.some((each) => each.who === who) &&
      !/不(?:是|属|为|得|再|能|认)|非/.test(units)
    )
      return instead(there.clause.text, text);
  }
  return undefined;
}

/** 免除责任 for 减轻责任. */
function otherEase(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const eases = /(免除|减轻|加重|减免|免予|从重|从轻)[^,]{0,6}?(责任|处罚|义务|负担|刑罚)/;
  const stands = article.flatMap((clause) =>
    [...clause.units.matchAll(new RegExp(eases, "g"))].map(([, how, what]) => ({ how, what, clause })),
  );
  const whole = article.map(({ units }) => units).join("|");
  for (const { units, text } of said) {
    // 不承担责任 for 减轻责任.
    if (
      /(?:不承担|无须承担|免除)[^,]{0,6}责任|免责/.test(units) &&
      !/不承担|免除|免责|免予|不负/.test(whole)
    ) {
      const eased = stands.find((each) => each.how === "减轻" && each.what === "责任");
      if (eased !== undefined) return instead(eased.clause.text, text);
    }
    const [, how = "", what] = eases.exec(units) ?? [];
    if (how === "" || whole.includes(how) || /不|未/.test(units)) continue;
    const there = stands.find((each) => each.what === what);
    if (there !== undefined) return instead(there.clause.text, text);
  }
  return undefined;
}

/** All of a list for one of it, or one for all. */
function otherCount(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const lead = article.find(({ units }) => /下列(?:条件|情形|要求|方式|材料)/.test(units));
  if (lead === undefined) return undefined;
  const isOne = /之一/.test(lead.units);
  for (const { units, text } of said) {
    if (
      isOne &&
      /同时(?:满足|符合|具备)|缺一不可|均须|全部(?:满足|符合|具备)|[二三四五六]项(?:条件|要求)$/.test(
        units,
      ) &&
      !/之一|任/.test(units)
    )
      return instead(lead.text, text);
    if (
      !isOne &&
      /(?:符合|具备|满足)[^,]{0,24}之一(?!是)|任[一何](?:项|一项|条件)|其中(?:一项|之一)|满足一项/.test(
        units,
      ) &&
      /应当|符合|具备/.test(lead.units)
    )
      return instead(lead.text, text);
  }
  return undefined;
}

/** 任何公司 where the article names some. */
function everyOne(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  if (/任何|所有(?!权|人|者|的)|一切|各类|凡/.test(whole)) return undefined;
  for (const { units, text } of said) {
    const [, what = ""] =
      /(?:任何(?!人|一方|形式)|所有(?!权|人|者|的)|一切|各类|凡是)(.{2,8})/.exec(units) ?? [];
    if (what === "" || (denied.test(units) && !/(?:允许|可以|有权)[^不]*(?:任何|所有|一切|各类)/.test(units)))
      continue;
    const words = pairsOf(what);
    const there = article
      .map((clause) => ({ clause, like: shared(words, clause.pairs) }))
      .sort((a, b) => b.like - a.like)[0];
    if (there !== undefined && there.like > 0) return instead(there.clause.text, text);
  }
  return undefined;
}
const denied = /不|无|未|禁止|没有/;

/** 合同自动解除 for 可以解除合同. */
function byItself(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  for (const { units, text } of said) {
    const [, verb = ""] =
      /(?:自动|当然|自然)(解除|终止|失效|生效|延长|续期|丧失|消灭|取得|转移|恢复)/.exec(units) ?? [];
    if (verb === "" || denied.test(units)) continue;
    const there = article.find((each) =>
      new RegExp(`(?:可以|有权|应当|请求|申请|通知).*${verb}`).test(each.units),
    );
    if (there !== undefined && !/自动|当然|自然(?!人)/.test(whole)) return instead(there.text, text);
  }
  return undefined;
}

/** 不适用 for 适用, and at the discretion of somebody for 应当. */
function otherScope(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  for (const { units, text } of said) {
    const there = article.find((each) => /(?<!不|参照)适用/.test(each.units));
    if (/不(?:再)?适用/.test(units) && there !== undefined && !/不适用|除外|不再|不得/.test(whole))
      return instead(there.text, text);
    const duty = article.find((each) => /应当|必须/.test(each.units));
    if (
      /可以?(?:.{0,4}视情况|酌情|自行|裁量)|(?:可以?|有权).{0,8}是否|自由裁量/.test(units) &&
      duty !== undefined &&
      !/可以|根据.{0,6}情况|有权|酌情/.test(whole)
    )
      return instead(duty.text, text);
  }
  return undefined;
}

/** 承担全部责任 for 按照各自的过错承担责任. */
function otherShare(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const there = article.find(({ units }) =>
    /(?:各自|分别|相应|按份|补充|共同|部分|一定|按照?过错).{0,10}责任|承担相应/.test(units),
  );
  if (there === undefined || article.some(({ units }) => /全部|单独|独自/.test(units))) return undefined;
  const own = said.find(
    ({ units }) => /(?:单独|独自|全部|完全).{0,6}责任|承担(?:全部|全额)/.test(units) && !denied.test(units),
  );
  return own === undefined ? undefined : instead(there.text, own.text);
}

/** 合同无效 for 可以解除合同. */
function otherValidity(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const voided = article.find(({ units }) => /约定无效/.test(units));
  const agreed = said.find(({ units }) => /(?:允许|可以|有权|自行).*约定/.test(units) && !denied.test(units));
  if (voided !== undefined && agreed !== undefined) return instead(voided.text, agreed.text);
  const fates = [/无效|不发生效力|没有法律约束力/, /撤销/, /解除/, /不成立/];
  const whole = article.map(({ units }) => units).join("|");
  const mine = said.filter(({ isCondition }) => !isCondition);
  for (const [place, fate] of fates.entries()) {
    if (fate.test(whole)) continue;
    const own = mine.find(
      ({ units }) =>
        new RegExp(
          `(?:合同|协议|条款|婚姻|决议|行为|遗嘱|租约).{0,4}(?:均|应当?|归于|即|为|可以?|被|自始)*(?:${fate.source})`,
        ).test(units) && !/并非|不(?!发生|成立)|未/.test(units),
    );
    const there = article.find(
      ({ units, isCondition }) =>
        !isCondition && fates.some((each, other) => other !== place && each.test(units)),
    );
    if (own !== undefined && there !== undefined) return instead(there.text, own.text);
  }
  return undefined;
}

/** 确认或者否认亲子关系 for 确认亲子关系. */
function addedMember(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  for (const { units, text } of said)
    for (const match of units.matchAll(/或/g)) {
      const [one, other] = [
        units.slice(match.index - 2, match.index),
        units.slice(match.index + 1, match.index + 3),
      ];
      const next = units.slice(match.index + 3, match.index + 5);
      if (one.length < 2 || next.length < 2 || !whole.includes(one + next) || whole.includes(other)) continue;
      if (/其他|他人|[^,]等/.test(whole)) continue;
      const there = article.find((each) => each.units.includes(one + next)) as Clause;
      return instead(there.text, text);
    }
  return undefined;
}

/** 由劳动行政部门确认 for 由人民法院确认. */
function otherAuthority(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  const known = authorities.filter((each) => each.test(whole));
  if (known.length === 0) return undefined;
  for (const { units, text } of said)
    for (const each of authorities) {
      if (
        each.test(whole) ||
        !new RegExp(
          `(?:由|经|报请?)[^,由经报]{0,8}(?:${each.source})[^,]{0,8}(?:确认|批准|许可|决定|责令|处罚|认定|作出|签发|撤销|审批|核准|判令|管辖|处理|裁决)`,
        ).test(units)
      )
        continue;
      const there = article.find((clause) => known.some((one) => one.test(clause.units))) as Clause;
      return instead(there.text, text);
    }
  return undefined;
}

const authorities: readonly RegExp[] = [
  /法院/,
  /检察/,
  /公安/,
  /仲裁/,
  /劳动(?:保障)?行政|人力资源|人社/,
  /市场监督|市场监管|工商/,
  /税务/,
  /海关/,
  /证券监督|证监/,
  /消防/,
  /工会/,
  /国务院/,
  /(?<!国务院)政府/,
  /卫生/,
  /生态环境|环保/,
  /网信/,
  /教育行政/,
  /民政/,
];

/** 须经批准 for 向……报告. */
function inventedConsent(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  if (/批准|许可|同意|核准|审批|审查|决议|准予/.test(whole)) return undefined;
  const there = article.find(({ units }) => /报告|备案|通知|登记|说明|公告/.test(units));
  const own = said.find(
    ({ units }) =>
      /(?:须|应当?|必须|需)(?:先|事先|依法)?(?:经|取得|获得|征得).{2,16}(?:批准|许可|同意|核准)|经.{2,14}(?:批准|核准|许可)(?:后|方)/.test(
        units,
      ) && !/不|无|未/.test(units),
  );
  return there === undefined || own === undefined ? undefined : instead(there.text, own.text);
}

/** Words of which a rule has one: 时效中止 for 时效中断. */
function otherWordOfKind(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  const all = said.map(({ units }) => units).join("|");
  for (const words of kinds)
    for (const { units, text, isCondition } of said) {
      const mine = words.find((word) => units.includes(word));
      if (mine === undefined || isCondition || whole.includes(mine)) continue;
      const other = words.find((word) => word !== mine && whole.includes(word));
      if (other === undefined || words.some((word) => word !== mine && all.includes(word))) continue;
      const there = article.find((each) => each.units.includes(other)) as Clause;
      if (shared(there.pairs, pairsOf(all)) >= leastBesideWord) return instead(there.text, text);
    }
  return undefined;
}
const leastBesideWord = 1;

const kinds: readonly (readonly string[])[] = [
  ["中止", "中断"],
  ["上诉", "复议", "申诉"],
  ["罚款", "罚金"],
  ["警告", "记过", "降级", "撤职", "开除"],
  ["股东会", "董事会", "监事会"],
  ["有期徒刑", "无期徒刑"],
  ["口头", "书面"],
];

/** 过半数 for 全体一致. */
function otherQuorum(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const quorum = /(全体[^,]{0,6}(?:一致)?同意|一致同意|过半数|半数以上|[二三四五]分之[一二三四](?:以上)?)/;
  const kindOf = (words: string) => (/一致|全体/.test(words) ? "全体" : words.replace("以上", ""));
  const stands = article.flatMap((clause) => {
    const words = quorum.exec(clause.units)?.[1];
    return words === undefined ? [] : [{ kind: kindOf(words), clause }];
  });
  const [there] = stands;
  if (there === undefined) return undefined;
  for (const { units, text } of said) {
    const words = quorum.exec(units)?.[1];
    if (
      words !== undefined &&
      /同意|通过|决议|表决/.test(units) &&
      !stands.some(({ kind }) => kind === kindOf(words))
    )
      return instead(there.clause.text, text);
  }
  return undefined;
}

/** 在解除之日支付 for 在办结交接时支付. */
function otherMoment(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const moments = (clauses: readonly Clause[]) =>
    clauses.flatMap((clause) =>
      [
        ...clause.units.matchAll(
          /[在于](.{2,16}?)(?:时|之日|当日)的?(支付|交付|缴纳|返还|生效|成立|转移|办理|通知)/g,
        ),
      ].map(([, when = "", verb]) => ({ when, verb, clause })),
    );
  const stands = moments(article);
  for (const mine of moments(said)) {
    const alike = stands.filter(({ verb }) => verb === mine.verb);
    const [there] = alike;
    if (there !== undefined && alike.every(({ when }) => shared(pairsOf(when), pairsOf(mine.when)) === 0))
      return instead(there.clause.text, mine.clause.text);
  }
  return undefined;
}

/** 未公开的肖像 for 已经公开的肖像. */
function notYet(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  for (const { units, text } of said)
    for (const [, verb = "", next = ""] of units.matchAll(/(?:未|尚未|没有)(.{2})(的.)/g)) {
      if (whole.includes(`未${verb}`)) continue;
      const there = article.find((each) => new RegExp(`已经?(?:依法)?${verb}${next}`).test(each.units));
      if (there !== undefined) return instead(there.text, text);
    }
  return undefined;
}

/** 向登记机关请求 for 向人民法院请求. */
function otherAddress(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const addresses = (clauses: readonly Clause[]) =>
    clauses.flatMap((clause) =>
      [...clause.units.matchAll(/向([^,向]{2,14}?)(请求|申请|提出|提起|起诉|申报|备案|报告|报送)/g)].map(
        ([, who = "", verb]) => ({
          kind: [...authorities, /登记机关/].findIndex((each) => each.test(who)),
          verb,
          clause,
        }),
      ),
    );
  const stands = addresses(article).filter(({ kind }) => kind !== -1);
  for (const mine of addresses(said)) {
    const alike = stands.filter(({ verb }) => verb === mine.verb);
    const [there] = alike;
    if (mine.kind === -1 || there === undefined || alike.some(({ kind }) => kind === mine.kind)) continue;
    if (shared(mine.clause.pairs, there.clause.pairs) >= leastOfAddress)
      return instead(there.clause.text, mine.clause.text);
  }
  return undefined;
}
const leastOfAddress = 3;
