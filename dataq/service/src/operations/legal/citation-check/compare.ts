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

/** Punctuation, spaces, width and script do not count when words are compared. */
export function wordsOf(text: string): Words {
  let units = "";
  const places: number[] = [];
  let at = 0;
  for (const character of text) {
    const form = inOneForm(character);
    for (const unit of /[\p{L}\p{N}]/u.test(form) ? form : "") {
      if (!/[\p{L}\p{N}]/u.test(unit)) continue;
      units += unit;
      for (let each = 0; each < unit.length; each++) places.push(at);
    }
    at += character.length;
  }
  return { text, units, places };
}

/** Whether an article has the words of a quotation, in order; an ellipsis stands for any words. */
export function agrees(quotation: string, article: Words): boolean {
  let from = 0;
  for (const part of quotation.split(ellipsis)) {
    const { units } = wordsOf(part);
    const at = article.units.indexOf(units, from);
    if (at === -1) return false;
    from = at + units.length;
  }
  return true;
}

export const ellipsis = /…+|\.{3,}|。{3,}|\(略\)|（略）|[[［【](?:…|略)[\]］】]/;

/** How a quotation differs from an article. Words of the article before and after the quotation do not count. */
export function differences(
  quotation: Words,
  article: Words,
  budget: Budget,
): { readonly pieces: readonly Piece[]; readonly similarity: number } {
  const runs = commonRuns(quotation.units, article.units);
  const steps: Step[] = [];
  let mine = 0;
  let theirs = 0;
  for (const [index, run] of runs.entries()) {
    const start = index === 0 ? Math.max(0, run.theirs - (run.mine - mine) - edge) : theirs;
    const gap = align(quotation.units, mine, run.mine, article.units, start, run.theirs, budget);
    steps.push(...(index === 0 ? withoutFirstMissing(gap) : gap));
    steps.push({ kind: "same", mine: run.mine, theirs: run.theirs, length: run.length });
    mine = run.mine + run.length;
    theirs = run.theirs + run.length;
  }
  const rest = quotation.units.length - mine;
  if (runs.length === 0) steps.push({ kind: "added", mine: 0, theirs: 0, length: rest });
  else if (rest > 0) {
    const end = Math.min(article.units.length, theirs + rest + edge);
    const gap = align(quotation.units, mine, quotation.units.length, article.units, theirs, end, budget);
    steps.push(...withoutFirstMissing(gap.reverse()).reverse());
  }
  const same = steps.reduce((sum, { kind, length }) => sum + (kind === "same" ? length : 0), 0);
  return {
    pieces: piecesOf(joined(steps), quotation, article),
    similarity: quotation.units.length === 0 ? 0 : same / quotation.units.length,
  };
}

/** Words of the article that may stand for the first or last words of the quotation. */
const edge = 12;
const gram = 4;
/** A run of common words far ahead must be long. */
const nearAhead = 60;
const longRun = 12;
const mostPlaces = 8;
const mostCells = 4_000;

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

/** Runs of at least four common characters, in the order of both texts. */
function commonRuns(mine: string, theirs: string): Run[] {
  const places = new Map<string, number[]>();
  for (let at = 0; at + gram <= theirs.length; at++) {
    const key = theirs.slice(at, at + gram);
    const list = places.get(key);
    if (list === undefined) places.set(key, [at]);
    else if (list.length < mostPlaces) list.push(at);
  }
  const runs: Run[] = [];
  let next = 0;
  for (let at = 0; at + gram <= mine.length; ) {
    let best: Run | undefined;
    for (const place of places.get(mine.slice(at, at + gram)) ?? []) {
      if (place < next) continue;
      const length = commonLength(mine, at, theirs, place);
      const isFar = runs.length > 0 && place - next > nearAhead && length < longRun;
      if (!isFar && (best === undefined || length > best.length)) best = { mine: at, theirs: place, length };
    }
    if (best === undefined) {
      at++;
      continue;
    }
    runs.push(best);
    at = best.mine + best.length;
    next = best.theirs + best.length;
  }
  return runs;
}

function commonLength(mine: string, at: number, theirs: string, place: number): number {
  let length = gram;
  while (at + length < mine.length && mine[at + length] === theirs[place + length]) length++;
  return length;
}

/** The shortest edit between two short ranges; one replaces the other if they are long. */
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
  const replaced: Step[] = [
    { kind: "missing", mine: from, theirs: start, length: columns },
    { kind: "added", mine: from, theirs: end, length: rows },
  ];
  const cells = rows * columns;
  if (cells === 0 || cells > mostCells || cells > budget.cells)
    return replaced.filter(({ length }) => length > 0);
  budget.cells -= cells;
  const width = columns + 1;
  const common = new Uint16Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--)
      common[row * width + column] =
        mine[from + row] === theirs[start + column]
          ? (common[(row + 1) * width + column + 1] as number) + 1
          : Math.max(
              common[(row + 1) * width + column] as number,
              common[row * width + column + 1] as number,
            );
  const steps: Step[] = [];
  let row = 0;
  let column = 0;
  while (row < rows || column < columns) {
    const place = { mine: from + row, theirs: start + column, length: 1 };
    if (row < rows && column < columns && mine[from + row] === theirs[start + column]) {
      steps.push({ kind: "same", ...place });
      row++;
      column++;
    } else if (
      column < columns &&
      (row === rows ||
        (common[row * width + column + 1] as number) >= (common[(row + 1) * width + column] as number))
    ) {
      steps.push({ kind: "missing", ...place });
      column++;
    } else {
      steps.push({ kind: "added", ...place });
      row++;
    }
  }
  return steps;
}

/** Words of the article before the first of the quotation are not quoted, so they are not missing. */
function withoutFirstMissing(steps: readonly Step[]): Step[] {
  const first = steps.findIndex(({ kind }) => kind === "same");
  return first === -1
    ? steps.filter(({ kind }) => kind !== "missing")
    : steps.filter(({ kind }, place) => kind !== "missing" || place > first);
}

/** Joins neighbouring steps of the same kind. */
function joined(steps: readonly Step[]): Step[] {
  const list: Step[] = [];
  for (const step of steps) {
    const last = list.at(-1);
    if (last?.kind === step.kind) list[list.length - 1] = { ...last, length: last.length + step.length };
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
    return { kind, text: words.text.slice(first, last + width) };
  });
}
