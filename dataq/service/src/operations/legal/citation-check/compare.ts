import { writeNumber } from "../question/chinese-number.ts";
import { inOneForm } from "./plain-text.ts";

/** A part of a comparison. `added`: only in the quotation. `missing`: only in the article. */
export interface Piece {
  readonly kind: "same" | "added" | "missing";
  readonly text: string;
}

/** The letters, digits and Chinese characters of a text in one form, with their places in it. */
export interface Words {
  readonly text: string;
  readonly units: string;
  readonly places: readonly number[];
}

/** Bounds the work of all comparisons of a call. */
export interface Budget {
  cells: number;
}

/** Punctuation, spaces, width, script and the notation of numbers (30日, 三十日) do not count when words are compared. */
export function wordsOf(text: string): Words {
  let units = "";
  const places: number[] = [];
  let at = 0;
  let digits = "";
  const putNumber = () => {
    const first = at - digits.length;
    const written = /^[1-9][0-9]{0,3}$/.test(digits) ? writeNumber(Number(digits)) : digits;
    for (let unit = 0; unit < written.length; unit++)
      places.push(unit === 0 ? first : Math.min(at - 1, first + unit));
    units += written;
    digits = "";
  };
  for (const character of text) {
    const form = inOneForm(character);
    if (/^[0-9]$/.test(form)) {
      digits += form;
      at += character.length;
      continue;
    }
    if (digits !== "") putNumber();
    for (const unit of form.replaceAll(/[^\p{L}\p{N}]/gu, "")) {
      units += unit;
      for (let each = 0; each < unit.length; each++) places.push(at);
    }
    at += character.length;
  }
  if (digits !== "") putNumber();
  return { text, units, places };
}

/** Whether an article has the words of a quotation, in order; an ellipsis stands for any words. */
export function agrees(quotation: string, article: Words): boolean {
  let from = 0;
  for (const part of quotation.split(ellipsis)) {
    const { units } = wordsOf(part);
    let at = article.units.indexOf(units, from);
    while (at !== -1 && (isInNumber(article, at) || isInNumber(article, at + units.length)))
      at = article.units.indexOf(units, at + 1);
    if (at === -1) return false;
    from = at + units.length;
  }
  return true;
}

/** Whether a number goes on here: 二十|五日. */
function isInNumber({ units, places }: Words, at: number): boolean {
  const [before = "", after = ""] = [units[at - 1], units[at]];
  const isOne = (places[at] ?? 0) - (places[at - 1] ?? 0) <= 1;
  return (
    isOne && /^(?:[一二三四五六七八九]?[十百千万亿]|[十百千万亿][一二三四五六七八九])$/.test(before + after)
  );
}

export const ellipsis = /…+|\.{3,}|。{3,}|\(略\)|（略）|[[［【](?:…|略)[\]］】]/;

/** The parts of a quotation and of the article beside it, and how much of the quotation is the same, from 0 to 1. */
export interface Comparison {
  readonly pieces: readonly Piece[];
  readonly similarity: number;
}

/** How a quotation differs from an article. Words of the article before and after the quotation do not count. */
export function differences(quotation: Words, article: Words, budget: Budget): Comparison {
  const runs = bestChain(commonRuns(quotation.units, article.units), quotation.units.length);
  const steps: Step[] = [];
  let mine = 0;
  let theirs = 0;
  for (const [index, run] of runs.entries()) {
    const start = index === 0 ? clauseStart(article, run.theirs, run.mine) : theirs;
    steps.push(...align(quotation.units, mine, run.mine, article.units, start, run.theirs, budget));
    steps.push({ kind: "same", ...run });
    mine = run.mine + run.length;
    theirs = run.theirs + run.length;
  }
  const rest = quotation.units.length - mine;
  if (runs.length === 0) steps.push({ kind: "added", mine: 0, theirs: 0, length: rest });
  else if (rest > 0) {
    const end = clauseEnd(article, theirs, rest);
    steps.push(...align(quotation.units, mine, quotation.units.length, article.units, theirs, end, budget));
  }
  const same = steps.reduce((sum, { kind, length }) => sum + (kind === "same" ? length : 0), 0);
  return {
    pieces: piecesOf(
      joined(
        steps
          .filter((step) => !isOmitted(step, quotation))
          .flatMap((step) => withWholeNumbers(step, quotation, article)),
      ),
      quotation,
      article,
    ),
    similarity: quotation.units.length === 0 ? 0 : same / quotation.units.length,
  };
}

/** How much of a sentence is in an article, in runs of at least four characters, in any order. */
export interface Fit {
  /** Between 0 and 1. */
  readonly share: number;
  readonly length: number;
  readonly longest: number;
}

export function fitOf(sentence: Words, article: Words, leastRun = gram): Fit {
  const isThere = new Uint8Array(sentence.units.length);
  let longest = 0;
  for (const { mine, length } of commonRuns(sentence.units, article.units)) {
    if (length < leastRun) continue;
    isThere.fill(1, mine, mine + length);
    longest = Math.max(longest, length);
  }
  const length = isThere.reduce((sum, each) => sum + each, 0);
  return { share: isThere.length === 0 ? 0 : length / isThere.length, length, longest };
}

/** Words of the article that may stand for the first or last words of the quotation. */
const edge = 12;
/** The replaced words may be this much shorter than those of the quotation. */
const slack = 4;
const gram = 4;
const mostPlaces = 8;
const mostRuns = 300;
const mostCells = 4_000;
/** What a change costs besides its characters: two changes with one common character between them are one change. */
const changeCost = 3;
/** Words left out cost little more after these characters, so that a quotation may leave out whole sentences. */
const dearLeftOut = 12;

interface Step {
  readonly kind: Piece["kind"];
  readonly mine: number;
  readonly theirs: number;
  readonly length: number;
}

interface Run {
  readonly mine: number;
  readonly theirs: number;
  readonly length: number;
}

/** The longest runs of at least four common characters, in the order of the quotation. */
function commonRuns(mine: string, theirs: string): Run[] {
  const places = new Map<string, number[]>();
  for (let at = 0; at + gram <= theirs.length; at++) {
    const key = theirs.slice(at, at + gram);
    const list = places.get(key);
    if (list === undefined) places.set(key, [at]);
    else if (list.length < mostPlaces) list.push(at);
  }
  const runs: Run[] = [];
  for (let at = 0; at + gram <= mine.length; at++)
    for (const place of places.get(mine.slice(at, at + gram)) ?? []) {
      if (at > 0 && mine[at - 1] === theirs[place - 1]) continue;
      runs.push({ mine: at, theirs: place, length: commonLength(mine, at, theirs, place) });
    }
  return runs
    .sort((a, b) => b.length - a.length)
    .slice(0, mostRuns)
    .sort((a, b) => a.mine - b.mine || a.theirs - b.theirs);
}

function commonLength(mine: string, at: number, theirs: string, place: number): number {
  let length = gram;
  while (at + length < mine.length && mine[at + length] === theirs[place + length]) length++;
  return length;
}

/** The runs, in the order of both texts, that leave the fewest changes between them. */
function bestChain(runs: readonly Run[], total: number): Run[] {
  const costs: number[] = [];
  const before: number[] = [];
  let last = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const [place, run] of runs.entries()) {
    let cost = costOf(run.mine, 0);
    let from = -1;
    for (let each = 0; each < place; each++) {
      const other = runs[each] as Run;
      const cut = overlap(other, run);
      if (cut >= run.length) continue;
      const added = run.mine + cut - other.mine - other.length;
      const leftOut = run.theirs + cut - other.theirs - other.length;
      const through = (costs[each] as number) + costOf(added, leftOut);
      if (through < cost) {
        cost = through;
        from = each;
      }
    }
    costs.push(cost);
    before.push(from);
    const whole = cost + costOf(total - run.mine - run.length, 0);
    if (whole < least) {
      least = whole;
      last = place;
    }
  }
  const chain: Run[] = [];
  for (let place = last; place !== -1; place = before[place] as number) {
    const run = runs[place] as Run;
    const other = runs[before[place] as number];
    const cut = other === undefined ? 0 : overlap(other, run);
    chain.unshift({ mine: run.mine + cut, theirs: run.theirs + cut, length: run.length - cut });
  }
  return chain;
}

/** How much of the second run must go, for it to follow the first in both texts. */
function overlap(first: Run, { mine, theirs }: Run): number {
  return Math.max(0, first.mine + first.length - mine, first.theirs + first.length - theirs);
}

function costOf(added: number, leftOut: number): number {
  if (added === 0 && leftOut === 0) return 0;
  return changeCost + 2 * added + Math.min(leftOut, dearLeftOut) + leftOut / 64;
}

/** The edit between two short ranges that changes the fewest places; one replaces the other if they are long. */
function align(
  mine: string,
  from: number,
  to: number,
  theirs: string,
  start: number,
  end: number,
  budget: Budget,
): Step[] {
  const rows = to - from;
  const columns = end - start;
  const change = (row: number, column: number, added: number, missing: number): Step[] =>
    [
      { kind: "missing" as const, mine: from + row, theirs: start + column, length: missing },
      { kind: "added" as const, mine: from + row, theirs: start + column + missing, length: added },
    ].filter(({ length }) => length > 0);
  const cells = rows * columns;
  if (cells === 0 || cells > mostCells || cells > budget.cells) return change(0, 0, rows, columns);
  budget.cells -= cells;
  const width = columns + 1;
  // The least cost from here on: after a common character, and inside a change.
  const after = new Uint16Array((rows + 1) * width);
  const inside = new Uint16Array((rows + 1) * width);
  const isSame = (row: number, column: number) =>
    row < rows && column < columns && mine[from + row] === theirs[start + column];
  for (let row = rows; row >= 0; row--)
    for (let column = columns; column >= 0; column--) {
      const at = row * width + column;
      if (row === rows && column === columns) continue;
      const same = isSame(row, column) ? (after[at + width + 1] as number) : 0xffff;
      const changed = Math.min(
        row < rows ? (inside[at + width] as number) + 1 : 0xffff,
        column < columns ? (inside[at + 1] as number) + 1 : 0xffff,
      );
      inside[at] = Math.min(same, changed);
      after[at] = Math.min(same, changed + changeCost);
    }
  const steps: Step[] = [];
  let row = 0;
  let column = 0;
  while (row < rows || column < columns) {
    const at = row * width + column;
    if (isSame(row, column) && after[at] === after[at + width + 1]) {
      steps.push({ kind: "same", mine: from + row, theirs: start + column, length: 1 });
      row++;
      column++;
      continue;
    }
    const first = { row, column };
    do {
      const here = row * width + column;
      if (column < columns && inside[here] === (inside[here + 1] as number) + 1) column++;
      else row++;
    } while (
      (row < rows || column < columns) &&
      !(isSame(row, column) && inside[row * width + column] === after[(row + 1) * width + column + 1])
    );
    steps.push(...change(first.row, first.column, row - first.row, column - first.column));
  }
  return steps;
}

/** Whether an ellipsis of the quotation stands for these words of the article. */
function isOmitted({ kind, mine }: Step, { text, places }: Words): boolean {
  if (kind !== "missing" || mine === 0) return false;
  return ellipsis.test(text.slice((places[mine - 1] as number) + 1, places[mine] ?? text.length));
}

/**
 * Where the words of the article begin that the first words of a quotation replace: at a clause, if one begins about
 * as many words before. Otherwise nothing is known to be missing.
 */
function clauseStart(article: Words, theirs: number, count: number): number {
  if (count === 0) return theirs;
  for (let at = theirs - Math.max(0, count - slack); at >= Math.max(0, theirs - count - edge); at--)
    if (at === 0 || endsClause(article, at)) return at;
  return theirs;
}

/** The same for the last words of a quotation. */
function clauseEnd(article: Words, theirs: number, count: number): number {
  const { length } = article.units;
  for (let at = theirs + Math.max(0, count - slack); at <= Math.min(length, theirs + count + edge); at++)
    if (at === length || endsClause(article, at)) return at;
  return theirs;
}

/** Whether there is a mark between a word and the one before it. */
function endsClause({ text, places }: Words, at: number): boolean {
  return /[,，。;；:：、\n]/.test(text.slice((places[at - 1] as number) + 1, places[at]));
}

/** Leaves the parts of a number in digits to the change beside them: 150日 for 20日, not a 0 that both have. */
function withWholeNumbers(step: Step, quotation: Words, article: Words): Step[] {
  if (step.kind !== "same") return [step];
  const { mine, theirs, length } = step;
  const isCut = (at: number) => isInDigits(quotation, mine + at) || isInDigits(article, theirs + at);
  let from = 0;
  while (from < length && isCut(from)) from++;
  let to = length;
  while (to > from && isCut(to)) to--;
  const changed = (at: number, end: number): Step[] => [
    { kind: "missing", mine: mine + at, theirs: theirs + at, length: end - at },
    { kind: "added", mine: mine + at, theirs: theirs + at, length: end - at },
  ];
  const same: Step = { kind: "same", mine: mine + from, theirs: theirs + from, length: to - from };
  return [...changed(0, from), same, ...changed(to, length)].filter((each) => each.length > 0);
}

/** Whether a number in digits goes on here. */
function isInDigits({ text, places }: Words, at: number): boolean {
  const here = places[at];
  return here !== undefined && /^[0-9０-９]{2}$/.test(text.slice(here - 1, here + 1));
}

/** Joins the steps of the same kind between two that are the same. */
function joined(steps: readonly Step[]): Step[] {
  const list: Step[] = [];
  for (const step of steps) {
    const at = list.findLastIndex(({ kind }) => kind === step.kind || kind === "same");
    const like = list[at];
    if (like?.kind === step.kind && (step.kind !== "same" || at === list.length - 1))
      list[at] = { ...like, length: like.length + step.length };
    else list.push(step);
  }
  return list;
}

function piecesOf(steps: readonly Step[], quotation: Words, article: Words): Piece[] {
  return steps.map(({ kind, mine, theirs, length }) => {
    const [words, from] = kind === "missing" ? [article, theirs] : [quotation, mine];
    const first = words.places[from] ?? 0;
    const last = words.places[from + length - 1] ?? first;
    const width = String.fromCodePoint(words.text.codePointAt(last) ?? 0).length;
    const next = words.places[from + length] ?? words.text.length;
    // A number in digits is one piece.
    const digits = /^[0-9０-９]*/.exec(words.text.slice(last + width, next))?.[0].length ?? 0;
    return { kind, text: words.text.slice(first, last + width + digits) };
  });
}
