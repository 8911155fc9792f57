import { type Clause, instead, pairsOf, shareIn } from "./clauses.ts";
import type { Piece } from "./compare.ts";

/** The article has a hearing in public that the sentence closes, or the other way round: 公开审理 for 不公开审理. */
export function otherPublicity(said: readonly Clause[], article: readonly Clause[]): Piece[] | undefined {
  const theirs = hearingsIn(article);
  for (const mine of hearingsIn(said)) {
    // What a court did is no rule, and a choice contradicts nothing.
    if (mine.isChoice || ofCase.test(mine.clause.units)) continue;
    const fits = theirs
      .map((each) => ({ ...each, share: shareIn(mine.about, each.about) }))
      .filter(({ share }) => share >= leastShare);
    const most = Math.max(...fits.map(({ share }) => share));
    const best = fits.filter(({ share }) => share === most);
    const [there] = best;
    if (
      there !== undefined &&
      best.every(({ isPublic, isChoice }) => isPublic !== mine.isPublic && !isChoice)
    )
      return instead(there.clause.text, mine.clause.text);
  }
  return undefined;
}

interface Hearing {
  readonly isPublic: boolean;
  /** Whether it may be so, and need not. */
  readonly isChoice: boolean;
  /** Which cases it is about. */
  readonly about: ReadonlySet<string>;
  readonly clause: Clause;
}

const hearing = /(不)?(?:得|应当|予以|能)?公开(?:开庭|审判)?(?:审理|审判|进行|举行|宣判|宣告|开庭)/;
const exceptions = [/^除(.+?)(?:以?外|的)/, /^但?是?(.+?)的?(?:除外|不在此限)$/] as const;
const empty = /法院|审理|案件|一律|应当|必须|涉及|有关|[均都也亦可]|法律另有规定/g;
const ofCase = /本案|本院|上诉人|原告|某|了|[甲乙丙丁]/;
const leastShare = 0.6;

function hearingsIn(clauses: readonly Clause[]): Hearing[] {
  return clauses.flatMap((clause, place) => {
    const [before, after] = [clauses[place - 1], clauses[place + 1]].map((each) =>
      each?.sentence === clause.sentence ? each.units : "",
    ) as [string, string];
    const found = hearing.exec(clause.units);
    if (found === null) return [];
    const isPublic =
      found[1] === undefined && !/(?:不得|不应当?|不予|不能|禁止)$/.test(clause.units.slice(0, found.index));
    const isChoice = /可以?$/.test(clause.units.slice(0, found.index));
    const excepted = exceptionOf(before) ?? exceptionOf(after);
    const own = clause.units.replace(hearing, "|");
    // 审理民事案件,除……以外,应当公开进行.
    const first = clauses[place - 2]?.sentence === clause.sentence ? (clauses[place - 2]?.units ?? "") : "";
    const lead = exceptionOf(before) === undefined ? before : first;
    const of = (text: string) => pairsOf(text.replaceAll(empty, "|"));
    const hearings: Hearing[] = [{ isPublic, isChoice, about: of(`${lead}|${own}`), clause }];
    if (excepted !== undefined)
      hearings.push({ isPublic: !isPublic, isChoice: false, about: of(excepted), clause });
    return hearings;
  });
}

/** What a clause takes out of the rule beside it. */
function exceptionOf(units: string): string | undefined {
  for (const each of exceptions) {
    const found = each.exec(units);
    if (found?.[1] !== undefined) return found[1];
  }
  return undefined;
}
