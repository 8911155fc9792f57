import type { Piece, Words } from "./compare.ts";
import { likeness } from "./likeness.ts";

/** What the article denies is affirmed, or what it demands is denied, with the same verb and object. */
export function otherDenial(said: Words, article: Words): readonly Piece[] | undefined {
  const theirs = clausesOf(article.text);
  // What stands there word for word says nothing else.
  const mine = clausesOf(said.text).filter((clause) => !article.units.includes(clause));
  return (
    affirmedLiability(mine, theirs) ??
    affirmedKind(mine, theirs) ??
    allowed(mine, theirs) ??
    needless(mine, theirs) ??
    unasked(mine, theirs, article.units)
  );
}

function clausesOf(text: string): string[] {
  return text.split(/[，,。；;：:\n]/).map((clause) => clause.replaceAll(/[^\p{L}\p{N}]/gu, ""));
}

/** 应承担瑕疵担保责任 for 不承担瑕疵担保责任. */
function affirmedLiability(said: readonly string[], article: readonly string[]): Piece[] | undefined {
  for (const clause of article) {
    const what = /不(?:承担|负)(.{2,10}责任)/.exec(clause)?.[1];
    if (what === undefined || article.some((each) => affirms(each, what))) continue;
    if (said.some((each) => /不(?:承担|负)|免除/.test(each))) continue;
    const mine = said.find((each) => affirms(each, what));
    if (mine !== undefined) return instead(clause, mine);
  }
  return undefined;
}

function affirms(clause: string, what: string): boolean {
  return new RegExp(
    `(?<![无不毋必])(?:应当?|仍|须|需|要|还|也)(?:当|应|须|要)?(?:依法)?(?:承担|负)(?:相应的?)?${what}`,
  ).test(clause);
}

/** 归入清算财产 for 不属于其清算财产. */
function affirmedKind(said: readonly string[], article: readonly string[]): Piece[] | undefined {
  for (const clause of article) {
    const what = /不(?:属于|得?归入|得?列入|得?计入|得?纳入|得?作为|得?并入)其?(.{4,8})$/.exec(clause)?.[1];
    if (what === undefined) continue;
    const belongs = new RegExp(
      `(?<![不非未]|不得|不应|不能|不可)(?:属于|归入|列入|计入|纳入|作为|并入)其?${what}`,
    );
    const mine = said.find((each) => belongs.test(each));
    if (mine !== undefined && !article.some((each) => belongs.test(each))) return instead(clause, mine);
  }
  return undefined;
}

/** 可以董事身份兼任监事 for 不得兼任监事. */
function allowed(said: readonly string[], article: readonly string[]): Piece[] | undefined {
  for (const clause of article) {
    const [, verb = "", object = ""] = /不得(.{2}).*?(.{2})$/.exec(clause) ?? [];
    if (
      object === "" ||
      /[以因对向在将为用]/.test(verb) ||
      article.some((each) => each.includes(verb) && !/不|未|禁止/.test(each))
    )
      continue;
    const allows = new RegExp(`(?:可以?|有权|允许)(?!不).{0,8}${verb}.{0,6}${object}$`);
    const mine = said.find((each) => allows.test(each) && !/不|未|禁止|无/.test(each));
    if (mine !== undefined) return instead(clause, mine);
  }
  return undefined;
}

/** 无须催告即可解除 for 经催告后……可以解除. */
function needless(said: readonly string[], article: readonly string[]): Piece[] | undefined {
  for (const clause of said) {
    const verb = /(?:无须|无需|不必|毋须|不需要?)(?:事先|先行|另行|再|经过?)*(.{2})/.exec(clause)?.[1];
    if (verb === undefined) continue;
    const demands = new RegExp(`经[^不]{0,8}${verb}|${verb}后`);
    const theirs = article.find((each) => demands.test(each) && !/无[须需]|不必|不需|未经/.test(each));
    if (theirs !== undefined && !article.some((each) => /无[须需]|不必|不需/.test(each)))
      return instead(theirs, clause);
  }
  return undefined;
}

/** 第十五条并未要求取得许可, where it does. */
function unasked(said: readonly string[], article: readonly string[], units: string): Piece[] | undefined {
  for (const clause of said) {
    const what = /^(?:并未|并没有|并不|没有|从未|未)(?:明确)?(?:要求|禁止|限制)(.{6,})$/.exec(clause)?.[1];
    if (what === undefined || likeness(what, units) < leastLikeness) continue;
    const theirs = article.toSorted((a, b) => likeness(what, b) - likeness(what, a))[0] as string;
    return instead(theirs, clause);
  }
  return undefined;
}

const leastLikeness = 0.6;

function instead(theirs: string, mine: string): Piece[] {
  return [
    { kind: "missing", text: theirs },
    { kind: "added", text: mine },
  ];
}
