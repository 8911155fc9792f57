import type { Budget } from "./budget.ts";

/** A regular expression of ECMA-262, read with the flag u. */
export type Expression =
  | { readonly kind: "class"; readonly ranges: readonly CharRange[] }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Expression[] }
  | { readonly kind: "repeat"; readonly of: Expression; readonly least: number; readonly most: number }
  | { readonly kind: "start" | "end" }
  | { readonly kind: "look"; readonly of: Expression; readonly negative: boolean };

/** Code points, both ends included. */
export interface CharRange {
  readonly from: number;
  readonly to: number;
}

/** The expression is invalid, or a finite automaton cannot match it. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

/** Returns null if the work throws ExpressionError. */
export function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof ExpressionError) return null;
    throw error;
  }
}

/** Throws ExpressionError. */
export function readExpression(source: string, budget: Budget): Expression {
  return new ExpressionReader(source, budget).read();
}

const maxDepth = 100;
const maxChars = 20_000;
export const lastCode = 0x10ffff;

class ExpressionReader {
  readonly #chars: readonly string[];
  readonly #budget: Budget;
  #at = 0;
  #depth = 0;

  constructor(source: string, budget: Budget) {
    budget.spend(source.length);
    if (source.length > maxChars) throw new ExpressionError(`over ${maxChars} characters`);
    this.#chars = [...source];
    this.#budget = budget;
  }

  read(): Expression {
    const all = this.#choice();
    if (this.#at < this.#chars.length) throw this.#refused(`"${this.#chars[this.#at]}"`);
    return all;
  }

  #choice(): Expression {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw this.#refused(`groups nested more than ${maxDepth} levels deep`);
    const parts = [this.#sequence()];
    while (this.#take("|")) parts.push(this.#sequence());
    this.#depth -= 1;
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
  }

  #sequence(): Expression {
    const parts: Expression[] = [];
    while (this.#at < this.#chars.length && this.#peek() !== "|" && this.#peek() !== ")") {
      const atom = this.#atom();
      parts.push(isAssertion(atom) ? atom : this.#quantified(atom));
    }
    return parts.length === 1 ? parts[0]! : { kind: "sequence", parts };
  }

  #quantified(atom: Expression): Expression {
    const bounds = this.#quantifier();
    if (bounds === null) return atom;
    // Lazy and greedy repetitions match the same texts.
    this.#take("?");
    const [least, most] = bounds;
    if (most < least) throw this.#refused("a repetition whose minimum exceeds its maximum");
    if (least > maxRepeats || (most !== Infinity && most > maxRepeats))
      throw this.#refused(`over ${maxRepeats} repetitions`);
    return { kind: "repeat", of: atom, least, most };
  }

  #quantifier(): [number, number] | null {
    if (this.#take("*")) return [0, Infinity];
    if (this.#take("+")) return [1, Infinity];
    if (this.#take("?")) return [0, 1];
    if (this.#peek() !== "{") return null;
    const found = this.#bounds();
    if (found === null) return null;
    this.#at += found[0].length;
    const least = Number(found[1]);
    if (found[2] === undefined) return [least, least];
    return [least, found[3] === undefined ? Infinity : Number(found[3])];
  }

  /** Braces with numbers; others are text, as in expressions without the flag u. */
  #bounds(): RegExpExecArray | null {
    return /^\{(\d+)(?:(,)(\d+)?)?\}/.exec(this.#rest(100));
  }

  #atom(): Expression {
    const bounds = this.#peek() === "{" ? this.#bounds() : null;
    if (bounds !== null) throw this.#refused(`"${bounds[0]}" with nothing to repeat`);
    const char = this.#next();
    switch (char) {
      case "^":
        return { kind: "start" };
      case "$":
        return { kind: "end" };
      case "(":
        return this.#group();
      case "[":
        return this.#class();
      case ".":
        return { kind: "class", ranges: invert(lineEnds) };
      case "\\":
        return { kind: "class", ranges: this.#escape(false) };
      case "*":
      case "+":
      case "?":
        throw this.#refused(`"${char}" with nothing to repeat`);
      default:
        return { kind: "class", ranges: [single(char.codePointAt(0)!)] };
    }
  }

  #group(): Expression {
    let look: { negative: boolean } | null = null;
    if (this.#take("?")) {
      if (this.#take("=")) look = { negative: false };
      else if (this.#take("!")) look = { negative: true };
      else if (this.#take("<")) {
        if (this.#peek() === "=" || this.#peek() === "!") throw this.#refused("a lookbehind");
        while (this.#at < this.#chars.length && this.#next() !== ">");
      } else if (!this.#take(":")) throw this.#refused('"(?"');
    }
    const of = this.#choice();
    if (!this.#take(")")) throw this.#refused('"(" without ")"');
    return look === null ? of : { kind: "look", of, ...look };
  }

  #class(): Expression {
    const negated = this.#take("^");
    const ranges: CharRange[] = [];
    while (!this.#take("]")) {
      const first = this.#classPart();
      const isRange = this.#peek() === "-" && this.#chars[this.#at + 1] !== "]";
      if (!isRange) {
        ranges.push(...first);
        continue;
      }
      this.#at += 1;
      const last = this.#classPart();
      const [from, to] = [first[0]?.from ?? 0, last[0]?.from ?? 0];
      const isPair = first.length === 1 && last.length === 1 && first[0]?.to === from && last[0]?.to === to;
      if (!isPair) ranges.push(...first, single(0x2d), ...last);
      else if (to < from) throw this.#refused("a range whose start is after its end");
      else ranges.push({ from, to });
    }
    return { kind: "class", ranges: negated ? invert(ranges) : merge(ranges) };
  }

  #classPart(): readonly CharRange[] {
    const char = this.#next();
    return char === "\\" ? this.#escape(true) : [single(char.codePointAt(0)!)];
  }

  #escape(inClass: boolean): readonly CharRange[] {
    const char = this.#next();
    const known = { d: digits, w: wordChars, s: blanks }[char.toLowerCase()];
    if (known !== undefined) return char === char.toLowerCase() ? known : invert(known);
    const control = { n: 10, r: 13, t: 9, f: 12, v: 11, "0": 0 }[char];
    if (control !== undefined) return [single(control)];
    if (char === "b" && inClass) return [single(8)];
    if (char === "x" || char === "u") return [single(this.#codeEscape(char))];
    if (char === "c") return [single(this.#next().charCodeAt(0) % 32)];
    if (char === "p" || char === "P") return this.#property(char === "P");
    if (/[A-Za-z1-9]/.test(char)) throw this.#refused(`"\\${char}"`);
    return [single(char.codePointAt(0)!)];
  }

  #codeEscape(letter: "x" | "u"): number {
    const form = letter === "x" ? /^[0-9a-fA-F]{2}/ : /^(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\})/;
    const found = form.exec(this.#rest(8));
    if (found === null) throw this.#refused(`"\\${letter}"`);
    this.#at += found[0].length;
    const code = Number.parseInt(found[0].replace(/[{}]/g, ""), 16);
    const low = /^\\u(d[c-f][0-9a-f]{2})/i.exec(this.#rest(6));
    if (code >= 0xd800 && code <= 0xdbff && low !== null) {
      this.#at += 6;
      return 0x10000 + (code - 0xd800) * 0x400 + (Number.parseInt(low[1]!, 16) - 0xdc00);
    }
    if (code > lastCode || (code >= 0xd800 && code <= 0xdfff)) throw this.#refused("a lone surrogate");
    return code;
  }

  /**
   * Looks up a Unicode property. Only the JavaScript engine has the tables, so its regular expressions test
   * each character.
   */
  #property(negated: boolean): readonly CharRange[] {
    const found = /^\{[A-Za-z_=]{1,60}\}/.exec(this.#rest(64));
    if (found === null) throw this.#refused('"\\p"');
    this.#at += found[0].length;
    let test: RegExp;
    try {
      test = new RegExp(`^\\p${found[0]}$`, "u");
    } catch {
      throw this.#refused(`"\\p${found[0]}"`);
    }
    const ranges: { from: number; to: number }[] = [];
    this.#budget.spend(lastCode / 8);
    for (let code = 0; code <= lastCode; code += 1) {
      if (code === 0xd800) code = 0xe000;
      if (!test.test(String.fromCodePoint(code))) continue;
      const last = ranges.at(-1);
      if (last !== undefined && last.to === code - 1) last.to = code;
      else ranges.push({ from: code, to: code });
    }
    return negated ? invert(ranges) : ranges;
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }

  #next(): string {
    const char = this.#chars[this.#at];
    if (char === undefined) throw this.#refused("an unexpected end");
    this.#at += 1;
    return char;
  }

  #rest(length: number): string {
    return this.#chars.slice(this.#at, this.#at + length).join("");
  }

  #refused(what: string): ExpressionError {
    return new ExpressionError(what);
  }
}

const maxRepeats = 20_000;

function isAssertion({ kind }: Expression): boolean {
  return kind === "start" || kind === "end" || kind === "look";
}

function single(code: number): CharRange {
  return { from: code, to: code };
}

const range = (from: string, to: string): CharRange => ({
  from: from.codePointAt(0)!,
  to: to.codePointAt(0)!,
});
const digits = [range("0", "9")];
const wordChars = [range("0", "9"), range("A", "Z"), range("_", "_"), range("a", "z")];
const blanks = [
  { from: 9, to: 13 },
  single(0x20),
  single(0xa0),
  single(0x1680),
  { from: 0x2000, to: 0x200a },
  { from: 0x2028, to: 0x2029 },
  single(0x202f),
  single(0x205f),
  single(0x3000),
  single(0xfeff),
];
const lineEnds = [single(10), single(13), { from: 0x2028, to: 0x2029 }];

export function merge(ranges: readonly CharRange[]): CharRange[] {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const before = merged.at(-1);
    if (before !== undefined && from <= before.to + 1) before.to = Math.max(before.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

export function invert(ranges: readonly CharRange[]): CharRange[] {
  const gaps: CharRange[] = [];
  let next = 0;
  for (const { from, to } of merge(ranges)) {
    if (from > next) gaps.push({ from: next, to: from - 1 });
    next = to + 1;
  }
  if (next <= lastCode) gaps.push({ from: next, to: lastCode });
  return gaps;
}

export function intersect(a: readonly CharRange[], b: readonly CharRange[]): CharRange[] {
  return a.flatMap((one) =>
    b
      .map((other) => ({ from: Math.max(one.from, other.from), to: Math.min(one.to, other.to) }))
      .filter(({ from, to }) => from <= to),
  );
}
