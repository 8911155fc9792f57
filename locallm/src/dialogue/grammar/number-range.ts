import type { Budget } from "./budget.ts";
import { ExpressionError } from "./expression.ts";
import { Language } from "./language.ts";

export interface Bounds {
  /** Null if there is no bound. */
  readonly least: number | null;
  readonly most: number | null;
  readonly leastExcluded: boolean;
  readonly mostExcluded: boolean;
}

const longest = 15;

/** Integers within bounds as a regular expression; null if there are none. */
export function integerRange(bounds: Bounds): string | null {
  let least = bounds.least === null ? null : Math.ceil(bounds.least);
  let most = bounds.most === null ? null : Math.floor(bounds.most);
  if (least !== null && bounds.leastExcluded && least === bounds.least) least += 1;
  if (most !== null && bounds.mostExcluded && most === bounds.most) most -= 1;
  if (least !== null && most !== null && least > most) return null;
  const parts: string[] = [];
  if (least === null || least < 0) {
    const nearest = most === null || most >= 0 ? 1 : -most;
    const farthest = least === null ? null : -least;
    parts.push(`-(?:${digitsBetween(nearest, farthest)})`);
  }
  if (most === null || most >= 0) parts.push(digitsBetween(Math.max(least ?? 0, 0), most));
  return parts.join("|");
}

/**
 * Matches natural numbers from `from` to `to`, without leading zeros. If `to` is null, the numbers have up to
 * 15 digits, or one digit more than `from`.
 */
function digitsBetween(from: number, to: number | null): string {
  const first = written(from);
  const last = to === null ? "9".repeat(Math.max(longest, first.length + 1)) : written(to);
  const parts: string[] = [];
  for (let length = first.length; length <= last.length; length += 1) {
    const low = length === first.length ? first : `1${"0".repeat(length - 1)}`;
    const high = length === last.length ? last : "9".repeat(length);
    parts.push(sameLength(low, high));
  }
  return parts.join("|");
}

/** Writes a number with plain digits. JavaScript would print a large number with an exponent. */
function written(value: number): string {
  return BigInt(value).toString();
}

/** The strings of digits between two strings of the same length. */
function sameLength(low: string, high: string): string {
  if (low === high) return low;
  const [first, last] = [low[0]!, high[0]!];
  const rest = low.length - 1;
  if (rest === 0) return digits(first, last);
  if (first === last) return `${first}(?:${sameLength(low.slice(1), high.slice(1))})`;
  const nines = "9".repeat(rest);
  const zeros = "0".repeat(rest);
  const parts: string[] = [];
  let from = Number(first);
  let to = Number(last);
  if (low.slice(1) !== zeros) {
    parts.push(`${first}(?:${sameLength(low.slice(1), nines)})`);
    from += 1;
  }
  const top = high.slice(1) === nines ? null : `${last}(?:${sameLength(zeros, high.slice(1))})`;
  if (top !== null) to -= 1;
  if (from <= to) parts.push(`${digits(String(from), String(to))}\\d{${rest}}`);
  if (top !== null) parts.push(top);
  return parts.join("|");
}

function digits(from: string, to: string): string {
  return from === to ? from : `[${from}-${to}]`;
}

/** Decimal numbers within bounds, without exponents; null if there are none. */
export function decimalRange(bounds: Bounds): string | null {
  const { least, most } = bounds;
  if (least !== null && most !== null) {
    if (least > most || (least === most && (bounds.leastExcluded || bounds.mostExcluded))) return null;
  }
  const parts: string[] = [];
  if (least === null || least < 0) {
    const below = {
      from: most === null || most >= 0 ? 0 : -most,
      fromExcluded: most === null || most >= 0 ? true : bounds.mostExcluded,
      to: least === null ? null : -least,
      toExcluded: bounds.leastExcluded,
    };
    const body = magnitudes(below);
    if (body !== null) parts.push(`-(?:${body})`);
  }
  if (most === null || most > 0 || (most === 0 && !bounds.mostExcluded)) {
    const above = {
      from: Math.max(least ?? 0, 0),
      fromExcluded: least !== null && least >= 0 && bounds.leastExcluded,
      to: most,
      toExcluded: bounds.mostExcluded,
    };
    const body = magnitudes(above);
    if (body !== null) parts.push(body);
  }
  return parts.length === 0 ? null : parts.join("|");
}

interface Magnitudes {
  readonly from: number;
  readonly fromExcluded: boolean;
  readonly to: number | null;
  readonly toExcluded: boolean;
}

/** Limits the number of digits, because a number with many digits would be rounded to its bound. */
const anyFraction = "(?:\\.\\d{1,6})?";

/** Matches numbers from 0 on: ranges of whole parts, with bounded fractions at both ends. */
function magnitudes({ from, fromExcluded, to, toExcluded }: Magnitudes): string | null {
  const [fromWhole, fromFraction] = splitDecimal(from);
  const [toWhole, toFraction] = to === null ? [null, ""] : splitDecimal(to);
  const parts: string[] = [];
  const start = above(fromFraction, fromExcluded);
  if (toWhole === fromWhole) {
    const both = between(fromFraction, fromExcluded, toFraction, toExcluded);
    return both === null ? null : `${written(fromWhole)}${both}`;
  }
  parts.push(`${written(fromWhole)}${start}`);
  if (toWhole === null) parts.push(`(?:${digitsBetween(fromWhole + 1, null)})${anyFraction}`);
  else {
    if (fromWhole + 1 <= toWhole - 1)
      parts.push(`(?:${digitsBetween(fromWhole + 1, toWhole - 1)})${anyFraction}`);
    const end = below(toFraction, toExcluded);
    if (end !== null) parts.push(`${written(toWhole)}${end}`);
  }
  return parts.join("|");
}

/** Splits a number into its whole part and the digits of its fraction without trailing zeros. */
function splitDecimal(value: number): [number, string] {
  const whole = Math.floor(value);
  // Use the shortest digits that represent this number, because further digits come only from its binary
  // form.
  const text = (String(value).includes("e") ? value.toFixed(20) : String(value)).split(".")[1] ?? "";
  return [whole, text.replace(/0+$/, "")];
}

/** Fractions from `digits` on, including the point. The empty fraction is 0. */
function above(fraction: string, excluded: boolean): string {
  if (fraction === "") return excluded ? `\\.${aboveZero}` : anyFraction;
  return `\\.(?:${atLeast(fraction, excluded)})`;
}

function atLeast(fraction: string, excluded: boolean): string {
  const first = Number(fraction[0]);
  const rest = fraction.slice(1);
  const parts: string[] = [];
  if (first < 9) parts.push(`${digits(String(first + 1), "9")}\\d{0,8}`);
  const tail = rest !== "" ? `(?:${atLeast(rest, excluded)})` : excluded ? aboveZero : "\\d{0,8}";
  parts.push(`${first}${tail}`);
  return parts.join("|");
}

/** Fractions up to `digits`, including the point; null if there are none. */
function below(fraction: string, excluded: boolean): string | null {
  if (fraction === "") return excluded ? null : "(?:\\.0{1,4})?";
  return `(?:\\.(?:${atMost(fraction, excluded)}))?`;
}

function atMost(fraction: string, excluded: boolean): string {
  const first = Number(fraction[0]);
  const rest = fraction.slice(1);
  const parts: string[] = [];
  if (first > 0) parts.push(`${digits("0", String(first - 1))}\\d{0,8}`);
  if (rest !== "") parts.push(`${first}(?:${atMost(rest, excluded)})?`);
  else if (!excluded) parts.push(`${first}0{0,4}`);
  return parts.length === 0 ? "0" : parts.join("|");
}

/** Fractions between two others with the same whole part, including the point; null if there are none. */
function between(low: string, lowExcluded: boolean, high: string, highExcluded: boolean): string | null {
  if (low === "" && !lowExcluded) return below(high, highExcluded);
  if (low === high) return lowExcluded || highExcluded ? null : `\\.${low}0{0,4}`;
  const body = inside(low, lowExcluded, high, highExcluded);
  return body === null ? null : `\\.(?:${body})`;
}

/**
 * Matches the digits of a fraction between `low` and `high`, where low < high. `low` itself matches if it is
 * not excluded.
 */
function inside(low: string, lowExcluded: boolean, high: string, highExcluded: boolean): string | null {
  const first = Number(low[0] ?? 0);
  const last = Number(high[0] ?? 0);
  const parts: string[] = [];
  if (first === last) {
    const rest =
      low.length <= 1 && !lowExcluded
        ? `(?:${atMost(high.slice(1), highExcluded)})?`
        : inside(low.slice(1), lowExcluded, high.slice(1), highExcluded);
    return rest === null ? null : `${first}(?:${rest})`;
  }
  const lowRest = low.slice(1);
  const up = lowRest !== "" ? `(?:${atLeast(lowRest, lowExcluded)})` : lowExcluded ? aboveZero : "\\d{0,8}";
  parts.push(`${first}${up}`);
  if (first + 1 < last) parts.push(`${digits(String(first + 1), String(last - 1))}\\d{0,8}`);
  const highRest = high.slice(1);
  if (highRest !== "") parts.push(`${last}(?:${atMost(highRest, highExcluded)})?`);
  else if (!highExcluded) parts.push(`${last}0{0,4}`);
  return parts.join("|");
}

/** Limits the number of zeros, so that the number is not rounded to its bound. */
const aboveZero = "(?:0{0,5}[1-9]\\d{0,5})";

/**
 * Matches the decimal multiples of a number, with as many digits after the point as that number. The
 * automaton has a state for each remainder of the digits so far. Throws ExpressionError if there are too many
 * states.
 */
export function multiplesOf(of: number, whole: boolean, budget: Budget): Language {
  const [digits = "", exponent = "0"] = of.toExponential().replace(".", "").split("e");
  const fractions = Math.max(0, digits.length - 1 - Number(exponent));
  const divisor = BigInt(digits) * 10n ** BigInt(Math.max(0, Number(exponent) - digits.length + 1));
  const points = whole ? 0 : fractions;
  if (divisor * BigInt(fractions + 2) > 2500n) throw new ExpressionError("over 2500 remainders");
  const size = Number(divisor);
  // An integer is followed by `fractions` zeros that are not written, so their effect on the remainder is known.
  const scale = Number(10n ** BigInt(fractions) % divisor);
  const edges: { from: number; to: number; target: number }[][] = [];
  const accepts: boolean[] = [];
  const state = (own: { from: number; to: number; target: number }[], accept: boolean) => {
    budget.spend(4 + own.length);
    accepts.push(accept);
    return edges.push(own) - 1;
  };
  const digit = (value: number, target: number) => ({ from: 0x30 + value, to: 0x30 + value, target });
  // State 0 is the start, 1 follows the sign, 2 follows a zero. Then come the remainders of whole numbers and
  // those of fractions.
  const wholes = 3;
  const fractionsAt = (place: number) => wholes + size + (place - 1) * size;
  /** The state after one more digit, when `place` digits of the fraction precede it. */
  const after = (place: number, rest: number) => {
    const weight = Number(10n ** BigInt(points - place - 1) % divisor);
    return ten.map((value) => digit(value, fractionsAt(place + 1) + ((rest + value * weight) % size)));
  };
  const point = { from: 0x2e, to: 0x2e };
  const firstDigits = [digit(0, 2), ...nine.map((value) => digit(value, wholes + ((value * scale) % size)))];
  state([{ from: 0x2d, to: 0x2d, target: 1 }, ...firstDigits], false);
  state(firstDigits, false);
  const dots = points > 0 ? fractionsAt(points) + size : -1;
  state(dots < 0 ? [] : [{ ...point, target: dots }], true);
  for (let rest = 0; rest < size; rest += 1) {
    const next = ten.map((value) => digit(value, wholes + ((rest * 10 + value * scale) % size)));
    state([...next, ...(dots < 0 ? [] : [{ ...point, target: dots + rest }])], rest === 0);
  }
  for (let place = 1; place <= points; place += 1) {
    for (let rest = 0; rest < size; rest += 1) state(place < points ? after(place, rest) : [], rest === 0);
  }
  if (points > 0) for (let rest = 0; rest < size; rest += 1) state(after(0, rest), false);
  return new Language(edges, accepts);
}

const ten = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const nine = ten.slice(1);
