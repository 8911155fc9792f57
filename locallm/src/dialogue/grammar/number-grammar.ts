import { attempt } from "./expression.ts";
import { plainChars } from "./gbnf.ts";
import { integer, number } from "./json-rules.ts";
import type { Language } from "./language.ts";
import { decimalRange, integerRange, multiplesOf } from "./number-range.ts";
import { hintOf, wordAt } from "./schema-path.ts";
import type { SchemaWriting } from "./schema-writing.ts";
import type { Shape } from "./shape.ts";

/** Writes numbers: ranges and multiples. */
export class NumberGrammar {
  readonly #writing: SchemaWriting;
  readonly #languages = new Map<Shape, Language | null>();

  constructor(writing: SchemaWriting) {
    this.#writing = writing;
  }

  exists(shape: Shape): boolean {
    const source = rangeOf(shape);
    if (source === null) return false;
    const language = this.#language(shape, source);
    return language === null || !language.isEmpty;
  }

  body(shape: Shape, path: string): string {
    const source = rangeOf(shape) ?? "";
    const language = this.#language(shape, source);
    if (language !== null) return language.body(this.#writing.rules, hintOf(path), plainChars);
    const range = source === "" ? null : this.#writing.patterns.whole(source);
    if (range !== null) return range.body(this.#writing.rules, hintOf(path), plainChars);
    // A bound of a hundred digits has too many states.
    if (source !== "")
      this.#writing.ignored.add(wordAt(path, shape.minimum === null ? "maximum" : "minimum"));
    return shape.whole ? integer(this.#writing.rules) : number(this.#writing.rules);
  }

  /** Null if the range alone describes the numbers. */
  #language(shape: Shape, source: string): Language | null {
    const known = this.#languages.get(shape);
    if (known !== undefined) return known;
    const numbers = shape.notValues.filter((value): value is number => typeof value === "number");
    let language: Language | null = null;
    if (shape.multiples.length > 0 || numbers.length > 0) {
      const range =
        source === ""
          ? shape.whole
            ? "-?(?:0|[1-9]\\d{0,14})"
            : "-?(?:0|[1-9]\\d{0,14})(?:\\.\\d{1,9})?"
          : source;
      language = this.#writing.patterns.whole(range);
      for (const { of, negative, path } of shape.multiples) {
        const all = attempt(() => multiplesOf(of, shape.whole, this.#writing.budget));
        const part = all !== null && negative ? attempt(() => all.not(this.#writing.budget)) : all;
        const both =
          part === null || language === null
            ? null
            : attempt(() => language!.and(part, this.#writing.budget));
        if (both === null) this.#writing.ignored.add(path);
        else language = both;
      }
      for (const value of numbers) {
        const spelled = `^${String(value).replace(/[.+]/g, "\\$&")}${Number.isInteger(value) ? "(?:\\.0+)?" : "0*"}$`;
        const others = this.#writing.patterns.found(spelled, true);
        language =
          others === null || language === null
            ? language
            : attempt(() => language!.and(others, this.#writing.budget));
      }
    }
    this.#languages.set(shape, language);
    return language;
  }
}

/** Returns a range of numbers as an expression: "" if any number is allowed, null if none is. */
function rangeOf(shape: Shape): string | null {
  if (shape.minimum === null && shape.maximum === null) return "";
  // All numbers that the grammar can write are within larger bounds.
  const low = included(shape.minimum ?? -Infinity, shape.minimumExcluded, 1);
  const high = included(shape.maximum ?? Infinity, shape.maximumExcluded, -1);
  if (low === Infinity || high === -Infinity) return null;
  const [least, most] = [inward(low, 1), inward(high, -1)];
  const bounds = {
    least: least === -Infinity || (least <= -largest && most > -largest) ? null : least,
    most: most === Infinity || (most >= largest && least < largest) ? null : most,
    leastExcluded: shape.minimumExcluded && least === shape.minimum,
    mostExcluded: shape.maximumExcluded && most === shape.maximum,
  };
  if (bounds.least === null && bounds.most === null) return "";
  return shape.whole ? integerRange(bounds) : decimalRange(bounds);
}

/**
 * From 2^53 on a fraction, and some whole numbers, would be rounded to an excluded bound, so the next number that a
 * double can hold takes its place.
 */
function included(bound: number, isExcluded: boolean, step: 1 | -1): number {
  const size = Math.abs(bound);
  if (!isExcluded || size < 2 ** 53 || size === Infinity) return bound;
  return bound + step * 2 ** (Math.floor(Math.log2(size)) - 52);
}

/**
 * If a bound has so many digits that a number next to it would be rounded to it, returns the next number with
 * fewer digits.
 */
function inward(bound: number, step: 1 | -1): number {
  const digits = String(bound).split(".")[1]?.length ?? 0;
  if (digits <= 12 && !String(bound).includes("e-")) return bound;
  let units = Math.round(bound * 1e8);
  while ((units / 1e8 - bound) * step < 0) units += step;
  return units / 1e8;
}

/** Numbers have at most 15 digits before the point. */
const largest = 1e15;
