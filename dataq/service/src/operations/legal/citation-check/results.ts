import { type Clause, instead, pairsOf, shared, shareIn } from "./clauses.ts";
import type { Piece } from "./compare.ts";

/** What follows from a condition of the article is told with none of its words: 按照市场利率计算 for 视为没有利息. */
export function otherResult(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const whole = pairsOf(article.map(({ units }) => units).join("|"));
  for (const [place, condition] of said.entries()) {
    const own = said[place + 1];
    if (!condition.isCondition || own === undefined || own.isCondition || own.sentence !== condition.sentence)
      continue;
    if (ofCase.test(own.units) || !rules.test(own.units)) continue;
    const mine = condition.pairs;
    const result = own.pairs;
    if (mine.size < leastPairs || result.size < leastPairs || shared(result, whole) > 0) continue;
    const at = article.findIndex((each) => each.isCondition && shareIn(mine, each.pairs) >= leastLike);
    const there = article[at + 1];
    if (at === -1 || there === undefined) continue;
    return instead(`${article[at]?.text}，${there.text}`, own.text);
  }
  return undefined;
}

const leastPairs = 3;
const leastLike = 0.6;
const rules = /应当|可以|不得|无权|有权|必须|视为|^按照?|由.+(?:承担|负担|决定)|免除|不(?:承担|予|再)/;
const ofCase = /原告|被告|本案|本院|我方|我司|贵司|对方|这|您|某|[甲乙丙丁]|^(?:故|因此|据此|所以|可见)/;
