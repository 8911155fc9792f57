import { type Clause, instead, pairsOf, shared } from "./clauses.ts";
import type { Piece } from "./compare.ts";

type Modal = "may" | "must" | "not" | "free";

/** What a clause lets, makes or forbids somebody to do, or frees somebody from. */
interface Act {
  readonly modal: Modal;
  readonly what: ReadonlySet<string>;
  readonly phrase: string;
  /** The pairs of the clause before the modal and of the condition before it. */
  readonly context: ReadonlySet<string>;
  readonly clause: Clause;
}

/** The sentence allows what the article forbids, demands what it leaves free, or the other way round. */
export function otherAct(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const theirs = actsIn(article);
  const isOnlyForbidden = theirs.every(({ modal }) => modal !== "may");
  const isExcepted = /除.{1,60}外|另有|不在此限/.test(said.map(({ units }) => units).join());
  for (const mine of actsIn(said)) {
    if (mine.what.size === 0 || ofCase.test(mine.clause.units)) continue;
    const ranked = theirs
      .map((act) => {
        const common = shared(mine.what, act.what);
        const score = common / Math.max(1, Math.min(mine.what.size, act.what.size));
        const around =
          shared(mine.context, act.context) / Math.max(1, Math.min(mine.context.size, act.context.size));
        return { act, common, score, rank: score + around / 2, around };
      })
      .filter(({ act, common, score }) => {
        const isLoose = mine.modal === "may" && act.modal === "not" && isOnlyForbidden;
        // A short act, told of the same: 附加刑不再执行.
        if (
          score === 1 &&
          common >= 1 &&
          shared(mine.context, act.context) >= leastOfContext &&
          !isWeak(mine.modal, act.modal)
        )
          return true;
        return isLoose
          ? common >= leastCommonOfForbidden && score >= leastScoreOfForbidden
          : common >= leastCommon && score >= leastScore;
      })
      .sort((a, b) => b.rank - a.rank);
    const [best] = ranked;
    if (best === undefined) continue;
    const near = ranked.filter(({ rank }) => rank >= best.rank - ahead);
    if (!near.every(({ act }) => conflict(mine.modal, act.modal))) continue;
    if (turnsIn(mine.phrase) !== turnsIn(best.act.phrase)) continue;
    const isSoft = isWeak(mine.modal, best.act.modal);
    // What comes first is often told as a duty.
    if (isSoft && /^(?:首?先|原则上|一般)/.test(mine.phrase)) continue;
    if (isSoft && (best.score < leastScoreOfWeak || best.common < leastCommonOfWeak)) continue;
    // The article has an exception, which the sentence may tell.
    const sentence = article.filter((each) => each.sentence === best.act.clause.sentence);
    const isOpen = sentence.some((each) => each !== best.act.clause && exception.test(each.units));
    if (isOpen && !isExcepted && !/一律|任何|均|都|绝对/.test(mine.clause.units)) continue;
    return instead(best.act.clause.text, mine.clause.text);
  }
  return undefined;
}

const leastCommon = 3;
const leastScore = 0.5;
/** An article that allows nothing. */
const leastOfContext = 2;
const leastCommonOfForbidden = 2;
const leastScoreOfForbidden = 0.2;
const leastScoreOfWeak = 0.8;
const leastCommonOfWeak = 4;
const ahead = 0.3;
const exception = /除外|除.+外|^但|另有|不在此限/;
/** Facts and conclusions of a case. */
const ofCase =
  /原告|被告|上诉人|申请人|本案|本院|我方|我司|贵司|您|某|[甲乙丙丁]|^(?:因此|故|据此|所以|从而|可见)/;

function conflict(mine: Modal, theirs: Modal): boolean {
  if (mine === theirs) return false;
  if (mine === "not" || theirs === "not") return mine !== "free" && theirs !== "free";
  return !(mine === "may" && theirs === "free");
}

/** The sentence says plainly what the article denies: 计算在时效之内 for 不计算在内. */
export function undenied(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  for (const each of article)
    for (const match of each.units.matchAll(plainDenial)) {
      const [, first = "", more = ""] = match;
      // The article also says it without the denial; a longer word may tell the place: 计算在内, which is not 计算工资.
      const longer = first + more;
      const verb = (/[在于]$/.test(longer) ? [longer] : [first, longer]).find(
        (each) => !new RegExp(`(?<!不|不得|不予|无权|未|不能|不再)${each}`).test(whole),
      );
      if (verb === undefined) continue;
      const about = pairsOf(each.units.slice(0, match.index));
      const own = said.find(
        ({ units, isCondition }) =>
          !isCondition &&
          units.includes(verb) &&
          !denies.test(units) &&
          shared(about, pairsOf(units.replace(verb, "|"))) >= leastAbout,
      );
      if (own !== undefined && !ofCase.test(own.units)) return instead(each.text, own.text);
    }
  return undefined;
}

/** 把商业风险也纳入 for 不属于商业风险. */
export function broadened(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  // 不包括可以获得的利益 for 包括……可以获得的利益.
  for (const { units, text } of said) {
    const [, what = ""] = /不(?:包括|包含|含)([^的]{0,4}.{4,16})$/.exec(units) ?? [];
    const there = article.find(
      (each) => /(?<!不)(?:包括|包含)/.test(each.units) && what !== "" && each.units.endsWith(what.slice(-4)),
    );
    if (there !== undefined && !/不(?:包括|包含|含)/.test(there.units)) return instead(there.text, text);
  }
  for (const each of article)
    for (const [, what = ""] of each.units.matchAll(/不(?:属于|包括|包含|含|计入|列入)([^的]{2,8})/g)) {
      const own = said.find(
        ({ units }) =>
          units.includes(what.slice(0, 4)) &&
          /纳入|列入|包括|属于|包含|计入|算作/.test(units) &&
          !denies.test(units),
      );
      if (own !== undefined) return instead(each.text, own.text);
    }
  return undefined;
}

const plainDenial =
  /(?:不得|不予|不能|不再|无权|不)(?!得|予|能|再|超过|少于|低于|高于|多于|满|足|动产|当|正当|特定|可抗力|同)(.{2})(.?)/g;
const denies = /不|未|无(?!偿|效)|没有|禁止|免|拒绝|除外/;
const leastAbout = 2;

/** 可以 and 应当 are often told for each other. */
function isWeak(mine: Modal, theirs: Modal): boolean {
  return (mine === "may" && theirs === "must") || (mine === "must" && theirs === "may");
}

/** 1 if it denies, 0 if not: two denials affirm. */
function turnsIn(phrase: string): number {
  const denials = phrase.match(
    /不(?!动产|当得利|正当|特定|可抗力|合格|足|满)|未|拒绝|免除|免予|没有|无(?!偿|效|记名|形)/g,
  );
  return (denials ?? []).length % 2;
}

const modals =
  /(可以?不(?![受同正特])|无须|无需|毋须|不需要?|不必|不用(?!途)|有权拒绝|可以拒绝|免于|免予|不再(?!审|次))|(不得|不能(?!胜任|证明|清偿|履行|成立|实现|安排|归责|达成|够|认定|确定|排除|从事|适应|预见|避免|克服|自理|辨认)|不准|不可(?!抗|分|撤|避)|不应当?|无权(?!处分|代理)|禁止|不予|不允许|不许|严禁|不(?=发生|受|承担|支付|享有|适用|影响|具有|支持))|((?<!不)可以|(?<![许认不两])可(?!能|靠|抗|分|行|变|操|以|供|转|撤|避)|(?<!无)有权|(?<!不)允许|(?<!不)能够|赋予|准许)|((?<![相适供反对响回不])(?:应当|应(?!当))(?![用急对答收付]|知道|承担的|支付的|缴纳的|履行的|得)|必须|务必|(?<![无毋不])须|有义务)/g;

function actsIn(clauses: readonly Clause[]): Act[] {
  return clauses.flatMap((clause, place) => {
    if (clause.isCondition) return [];
    const { units } = clause;
    const found = [...units.matchAll(modals)];
    const previous = clauses[place - 1];
    const before = previous !== undefined && previous.sentence === clause.sentence ? previous.units : "";
    return found.map((match, number): Act => {
      const [whole, free, not, may] = match;
      const modal =
        free !== undefined ? "free" : not !== undefined ? "not" : may !== undefined ? "may" : "must";
      const phrase = units.slice(match.index + whole.length, found[number + 1]?.index);
      // What is forbidden may go on in the next clause: 不得订立协议,免除…….
      const next = clauses[place + 1];
      const isOpen =
        modal === "not" &&
        number === found.length - 1 &&
        next?.sentence === clause.sentence &&
        !next.isCondition &&
        next.units.search(modals) === -1;
      const what = pairsOf(phrase + (isOpen ? `|${next.units}` : ""));
      return { modal, what, phrase, context: pairsOf(`${before}|${units.slice(0, match.index)}`), clause };
    });
  });
}
