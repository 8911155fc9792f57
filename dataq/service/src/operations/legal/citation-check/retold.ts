import { broadened, otherAct, undenied } from "./acts.ts";
import { type Clause, clausesIn, inLawWords, shared, shareIn } from "./clauses.ts";
import {
  type Budget,
  type Comparison,
  differences,
  fitOf,
  type Piece,
  type Words,
  wordsOf,
} from "./compare.ts";
import { effectOfOther, otherEffect, otherWord } from "./counterparts.ts";
import { otherDenial } from "./denials.ts";
import { otherFrame } from "./frames.ts";
import { otherKind } from "./kinds.ts";
import { otherTerm } from "./other-terms.ts";
import { otherOutcome } from "./outcomes.ts";
import { otherParty } from "./parties.ts";
import { otherPublicity } from "./publicity.ts";
import { otherAmount } from "./quantities.ts";
import { otherResult } from "./results.ts";
import { otherValue } from "./rule-values.ts";
import { otherCondition } from "./waivers.ts";

/**
 * Where a sentence that tells an article in its own words says the opposite or another quantity: five years for three,
 * 可以 for 不得. Undefined if it does not, or if its words are too far from those of the article to tell.
 */
export function contradiction(said: Words, article: Words, budget: Budget): readonly Piece[] | undefined {
  const quantity = otherAmount(said, article);
  if (quantity !== undefined) return quantity;
  const compared = differences(said, article, budget);
  return (
    otherSense(compared) ??
    otherModal(said, article) ??
    otherWord(said, article) ??
    otherEffect(said, article) ??
    effectOfOther(said, article) ??
    otherTerm(said, article, compared) ??
    otherFrame(said, article) ??
    otherValue(said, article) ??
    otherOutcome(said, article) ??
    otherDenial(said, article) ??
    otherRule(said, article)
  );
}

/** An article is compared with each part of a sentence. */
const known = new WeakMap<Words, readonly Clause[]>();

/** What the clauses rule, compared in the words of laws: the writer's own words and order do not count. */
function otherRule(said: Words, article: Words): readonly Piece[] | undefined {
  const mine = clausesIn(said.text);
  const theirs = known.get(article) ?? clausesIn(article.text);
  known.set(article, theirs);
  // They must speak of one thing at all.
  const own = new Set(mine.flatMap(({ pairs }) => [...pairs]));
  const all = new Set(theirs.flatMap(({ pairs }) => [...pairs]));
  if (shared(own, all) < leastShared || shareIn(own, all) < leastShareOfRule) return undefined;
  const whole = withoutLead(article.text);
  for (const other of [
    otherCondition,
    otherKind,
    otherParty,
    otherPublicity,
    otherAct,
    undenied,
    broadened,
    otherResult,
  ]) {
    const pieces = other(mine, theirs);
    const added = pieces?.find(({ kind }) => kind === "added")?.text ?? "";
    // What stands there word for word says nothing else.
    if (pieces !== undefined && !added.split(/[，,]/).every((each) => whole.includes(withoutLead(each))))
      return pieces;
  }
  return undefined;
}

const leastShared = 3;
const leastShareOfRule = 0.15;

function withoutLead(text: string): string {
  return inLawWords(text)
    .replace(/^(?:但是?|前提是|则|故|且|并|也|还|同时|即|其中)+/, "")
    .replaceAll(/不能|不可以?/g, "不得")
    .replaceAll(/必须|应当|须/g, "应")
    .replaceAll("可以", "可");
}

/** A word that turns the sense is added, left out or changed, between words that are the same. */
function otherSense({ pieces, similarity }: Comparison): readonly Piece[] | undefined {
  if (similarity < leastSimilarity) return undefined;
  const turned = pieces.findIndex((piece, place) => {
    const next = pieces[place + 1];
    const isChange = piece.kind === "missing" && next?.kind === "added";
    const [before, after] = [pieces[place - 1], pieces[place + (isChange ? 2 : 1)]];
    if (!isBesideSame(before) && !isBesideSame(after)) return false;
    if (isChange)
      return (
        denies.test(piece.text) !== denies.test(next.text) &&
        !lacks.test(piece.text) &&
        !lacks.test(next.text) &&
        isShort(piece) &&
        isShort(next)
      );
    const isPart = pieces[place - 1]?.kind === "missing";
    // 禁止 at the beginning for 不得 further on.
    const isMoved = pieces.some(
      (other) => other.kind !== "same" && other.kind !== piece.kind && denials.test(other.text),
    );
    if (isMoved) return false;
    return piece.kind !== "same" && !isPart && alone.test(piece.text) && isBesideSame(after);
  });
  if (turned === -1) return undefined;
  const own = pieces[turned + 1];
  const isChange = pieces[turned]?.kind === "missing" && own?.kind === "added";
  return pieces.slice(turned, turned + (isChange ? 2 : 1));
}

/** Words that both have, which one allows or requires and the other denies. */
function otherModal(said: Words, article: Words): readonly Piece[] | undefined {
  if (fitOf(said, article).share < leastShareOfModal) return undefined;
  for (let at = 0; at + leastRunOfModal <= said.units.length; at++) {
    const run = said.units.slice(at, at + leastRunOfModal);
    const mine = modalBefore(said.units, at);
    if (mine === undefined) continue;
    const theirs = new Set<string>();
    for (let place = article.units.indexOf(run); place !== -1; place = article.units.indexOf(run, place + 1))
      theirs.add(modalBefore(article.units, place) ?? "");
    const [stands] = theirs;
    if (
      theirs.size !== 1 ||
      stands === undefined ||
      stands === "" ||
      denies.test(stands) === denies.test(mine)
    )
      continue;
    return [
      { kind: "missing", text: stands },
      { kind: "added", text: mine },
      { kind: "same", text: run },
    ];
  }
  return undefined;
}

function modalBefore(units: string, at: number): string | undefined {
  return modal.exec(units.slice(Math.max(0, at - 3), at))?.[0];
}

const modal = /(?:不得|不能|不应当|不应|不可以|无须|无需|不必|不需要|禁止|可以|应当|一律|必须|有权|不)$/;

function isBesideSame(piece: Piece | undefined): boolean {
  return piece?.kind === "same" && wordsOf(piece.text).units.length >= leastBeside;
}

function isShort({ text }: Piece): boolean {
  return wordsOf(text).units.length <= mostTurning;
}

/** Words that deny. 不得 and 可以 turn a rule, 不满 and 以上 do not. */
const denies = /^(?:但?是)?(?:不得|不能|不应当?|不可以?|无须|无需|不必|不需要?|禁止|不)$/;
const denials = /不得|不能|不应|不可|无须|无需|不必|不需要|禁止/;
/** 未支付 and 不支付 say the same. */
const lacks = /^(?:未|没有|尚未|没)/;
const alone = /^(?:不得|不能|不应当?|不可以?|无须|无需|不必|不需要?|禁止)$/;

const leastSimilarity = 0.7;
const leastBeside = 4;
const mostTurning = 4;
const leastShareOfModal = 0.5;
const leastRunOfModal = 5;
