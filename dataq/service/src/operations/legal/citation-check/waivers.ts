import { type Clause, inLawWords, instead, pairsOf, shareIn } from "./clauses.ts";
import type { Piece } from "./compare.ts";

/**
 * A condition that the article demands and the sentence waives (不论情节轻重, 无须催告, 即使……也), or one that the sentence
 * adds and the article does not know (只有……才).
 */
export function otherCondition(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  return (
    waived(said, article) ??
    conceded(said, article) ??
    included(said, article) ??
    ungranted(said, article) ??
    onlySome(said, article)
  );
}

function waived(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  for (const { units, text } of said)
    for (const pattern of waivers)
      for (const [, words = ""] of units.matchAll(pattern)) {
        const what = words.replaceAll(free, "").replace(/(?:为|作为)?(?:前提|条件|要件|必要|限)$/, "");
        // An obligation, which the article denies too: 不承担民事责任.
        const duty = /^(?:承担|负担?|支付|赔偿|缴纳|返还)/.exec(what)?.[0];
        if (duty !== undefined && article.some((clause) => denied.test(clause.units))) continue;
        const there = article.find((clause) => demands(what, clause, words));
        if (there === undefined) continue;
        const isWaivedThere = article.some(
          (clause) => waives.test(clause.units) && demands(what, clause, words),
        );
        if (!isWaivedThere) return instead(there.text, text);
      }
  return undefined;
}

const waivers: readonly RegExp[] = [
  /(?:不论|无论|不管|不问|不考虑|不区分|不分)(.{2,16}?)(?=均|都|一律|也|皆|只要|$)/g,
  /(?:无须|无需|不需要?|不必|毋须|不要求|并未请求|不请求|不以)(.{2,18}?)(?=即|就|便|也|而|$)/g,
  /(?:不经|未经)(.{2,10}?)(?:即可|就|即|便|也可|也|直接)/g,
];
const waives = /不论|无论|不问|无须|无需|不需|不必|不以|可以不|未经|不经/;
const denied = /不(?:承担|负|支付|赔偿|缴纳|返还|得收取|收取)/;
const free =
  /是否|有无|先行|事先|另行|事后|单位(?=安排)|存在|当事人|提出|具有|具备|如何|其|该|的|双方|对方|任何|再|另|需要/g;

/** Whether a clause has what is waived as a condition. */
function demands(what: string, { units: clause, pairs }: Clause, written: string): boolean {
  if (degree.test(written) && degrees.test(clause)) {
    const about = written.replace(degree, "").replaceAll(free, "");
    return (
      about.length < 2 ||
      [...pairsOf(about)].some((pair) => clause.includes(pair)) ||
      /情节|后果|程度/.test(about)
    );
  }
  const parts = what.split(/[或和与及]/).filter((each) => each.length >= 2);
  return parts.some((part) => {
    const tail = part.slice(-2);
    return clause.includes(tail) && (part.length <= 4 || shareIn(pairsOf(part), pairs) >= leastShare);
  });
}

const degree = /轻重|大小|多少|高低|严重|程度/;
const degrees = /严重|重大|轻微|主要责任|显著|明显|较大|特别|恶劣|巨大|次要责任|实质/;
const leastShare = 0.4;

/** 即使只有轻微瑕疵,也可以撤销, where the article makes an exception of that. */
function conceded(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  for (const [place, clause] of said.entries()) {
    const [, what = ""] =
      /(?:哪怕|即使|即便|纵使|就算|纵然)(.{3,30}?)(?:也|亦|仍|都|$)/.exec(clause.units) ?? [];
    const follows =
      clause.units.slice(clause.units.indexOf(what) + what.length) || (said[place + 1]?.units ?? "");
    if (denies.test(follows)) continue;
    const mine = pairsOf(what.replaceAll(/只有|仅有|已经?|只是|仅/g, ""));
    for (const [at, each] of article.entries()) {
      if (mine.size < 2 || shareIn(mine, each.pairs) < leastShareOfConceded) continue;
      const next = article[at + 1];
      const here = [each, ...(next?.sentence === each.sentence ? [next] : [])];
      // The article makes something else of this condition.
      const result = pairsOf(follows);
      const own = next === undefined ? 0 : shareIn(result, next.pairs);
      const most = Math.max(0, ...article.map(({ pairs }) => shareIn(result, pairs)));
      const isOther = each.isCondition && here.length === 2 && most >= leastShareOfResult && own < most / 2;
      if (isOther) return instead(here.map(({ text }) => text).join("，"), clause.text);
      const isException = here.some(({ units }) =>
        /除外|不在此限|可以不|不予|不得|不承担|免除|免予|无须|不再/.test(units),
      );
      const knows = article.some(({ units }) => /即使|即便|哪怕/.test(units));
      if (isException && !knows) return instead(here.map(({ text }) => text).join("，"), clause.text);
    }
  }
  return undefined;
}

const denies = /不(?!正当|当得利|特定|动产|利)|无权|免|没有|未|禁止/;
const leastShareOfResult = 0.5;
const leastShareOfConceded = 0.5;

/** 连续状态的也不例外, where the article rules that otherwise. */
function included(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  for (const { units, text } of said) {
    const [, what = ""] = /(.{2,16}?)(?:也|亦|同样)(?:不例外|如此|一样|适用)$/.exec(units) ?? [];
    const mine = pairsOf(what);
    const there = article.findIndex(
      (each) => each.isCondition && shareIn(mine, each.pairs) >= leastShareOfConceded,
    );
    if (there !== -1) {
      const own = article[there] as Clause;
      return instead([own.text, article[there + 1]?.text ?? ""].join("，"), text);
    }
  }
  return undefined;
}

/** 没有给拒绝的权利, where the article gives it. */
function ungranted(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  for (const [place, { units, text }] of said.entries()) {
    const [, what = ""] =
      /(?:没有|并未|未|不)(?:给(?!予)|赋予|授予|规定|设定|设置|留有?|提及|享有)(.{2,24}?)(?:的?权利|权|的规定|$)/.exec(
        units,
      ) ??
      withheld(said, place) ??
      [];
    const mine = pairsOf(what.replaceAll(free, ""));
    const there = article.find(
      (each) => shareIn(mine, each.pairs) >= leastShareOfGrant && /有权|可以|应当|享有/.test(each.units),
    );
    if (there !== undefined && !/不|未|无|没有/.test(there.units.replaceAll(/不(?:动产|特定|正当)/g, "")))
      return instead(there.text, text);
  }
  return undefined;
}
const leastShareOfGrant = 0.6;

/**
 * 未予以申辩的权利 is what a law lacks, or what an authority did against it. So the law must be the one that does it: it is
 * named before, or the sentence begins here and speaks of no breach.
 */
function withheld(said: readonly Clause[], place: number): RegExpExecArray | null {
  const { units } = said[place] as Clause;
  const found = /(?:没有|并未|未|不)予以(.{2,24}?)的?权利/.exec(units);
  if (found === null) return null;
  const before = units.slice(0, found.index);
  const isOfLaw = /(?:[法典条款项例]|规定|立法|法律|此处|该处)(?:却|并|也|都|均|里|中|明确)*$/.test(before);
  const isFirst = place === 0 && before === "" && !said.some(({ units }) => breaches.test(units));
  return isOfLaw || isFirst ? found : null;
}
const breaches = /违反|违法|不当|剥夺|侵[犯害]|程序|应予|撤销|本案|本院|[原被]告|某/;

/** Only somebody, or only under a condition, that the article does not name. */
function onlySome(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = article.map(({ units }) => units).join("|");
  const words = pairsOf(whole);
  for (const [place, clause] of said.entries()) {
    const [, who = ""] =
      /(?:只有|唯有|仅限于?|只限于?)(.{2,16}?)(?:才|方|可以|有权|能|$)/.exec(clause.units) ?? [];
    const own = who.replaceAll(/的|其|在/g, "");
    if (own.length >= 2 && !whole.includes(own.slice(-2)) && shareIn(pairsOf(own), words) < leastShareOfOnly)
      return instead("", clause.text);
    if (!/^(?:才|方可|方能|方有权)|^.{0,8}(?<![人刚])才(?:能|可|有权|应)/.test(clause.units)) continue;
    for (let at = place - 1; at >= 0; at--) {
      const condition = said[at] as Clause;
      const mine = pairsOf(inLawWords(condition.text));
      if (mine.size >= leastPairsOfAdded && shareIn(mine, words) < leastShareOfOnly)
        return instead("", condition.text);
    }
  }
  return undefined;
}

const leastShareOfOnly = 0.3;
const leastPairsOfAdded = 6;
