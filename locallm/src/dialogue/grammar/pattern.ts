import { anyOf, type CharRange, charClass, literal, repeat } from "./gbnf.ts";
import { SchemaError, schemaLimits } from "./schema-error.ts";

/** Repetitions without an end get this one: the language is smaller, and answers end. */
const openEnd = 256;
const maxDepth = 32;

/**
 * A regular expression (`pattern`, ECMA-262) as a grammar for what stands between the quotes of a JSON
 * string. The whole string matches, also where the expression itself is not anchored: that is one of the
 * strings it allows. Look-around, back references and flags are refused.
 */
export function patternBody(pattern: string, path: readonly string[]): string {
  return new PatternReader(pattern, path).read();
}

type Piece = readonly CharRange[];

class PatternReader {
  readonly #pattern: readonly string[];
  readonly #path: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(pattern: string, path: readonly string[]) {
    if (pattern.length > 1000) throw new SchemaError(path, "has a pattern over 1000 characters");
    this.#pattern = [...pattern];
    this.#path = path;
  }

  read(): string {
    if (this.#pattern[0] === "^") this.#at += 1;
    const body = this.#alternatives();
    if (this.#at < this.#pattern.length) throw this.#refused(`"${this.#pattern[this.#at]}"`);
    return body;
  }

  #alternatives(): string {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw this.#refused("groups nested that deep");
    const bodies = [this.#sequence()];
    while (this.#take("|")) bodies.push(this.#sequence());
    this.#depth -= 1;
    return anyOf(bodies);
  }

  #sequence(): string {
    const parts: string[] = [];
    while (this.#at < this.#pattern.length && this.#peek() !== "|" && this.#peek() !== ")") {
      if (this.#peek() === "$") {
        const after = this.#pattern[this.#at + 1];
        if (after !== undefined && after !== "|" && after !== ")") throw this.#refused('"$" within the text');
        this.#at += 1;
        continue;
      }
      if (this.#peek() === "^") throw this.#refused('"^" within the text');
      parts.push(this.#quantified(this.#atom()));
    }
    return parts.length === 0 ? '""' : parts.length === 1 ? parts[0]! : `(${parts.join(" ")})`;
  }

  #quantified(atom: string): string {
    const bounds = this.#quantifier();
    if (bounds === null) return atom;
    // Lazy or greedy: the same strings.
    this.#take("?");
    const [least, most] = bounds;
    if (least > schemaLimits.repetitions) throw this.#refused(`over ${schemaLimits.repetitions} repetitions`);
    if (most < least) throw this.#refused("repetitions out of order");
    return repeat(atom, least, Math.min(most, Math.max(least, schemaLimits.repetitions)));
  }

  #quantifier(): [number, number] | null {
    if (this.#take("*")) return [0, openEnd];
    if (this.#take("+")) return [1, openEnd];
    if (this.#take("?")) return [0, 1];
    if (this.#peek() !== "{") return null;
    const found = /^\{(\d{1,5})(?:(,)(\d{1,5})?)?\}/.exec(
      this.#pattern.slice(this.#at, this.#at + 16).join(""),
    );
    if (found === null) throw this.#refused('"{"');
    this.#at += found[0].length;
    const least = Number(found[1]);
    if (found[2] === undefined) return [least, least];
    return [least, found[3] === undefined ? Math.max(least, openEnd) : Number(found[3])];
  }

  #atom(): string {
    const char = this.#next();
    switch (char) {
      case "(": {
        if (this.#take("?")) {
          if (this.#take("<")) {
            if (this.#peek() === "=" || this.#peek() === "!") throw this.#refused("look-around");
            while (this.#at < this.#pattern.length && this.#next() !== ">");
          } else if (!this.#take(":")) throw this.#refused("look-around");
        }
        const body = this.#alternatives();
        if (!this.#take(")")) throw this.#refused('"(" without ")"');
        return body;
      }
      case "[":
        return this.#class();
      case ".":
        return jsonChars(
          [
            { from: 0x0a, to: 0x0a },
            { from: 0x0d, to: 0x0d },
          ],
          true,
        );
      case "\\": {
        const meant = this.#escape();
        return typeof meant === "number" ? jsonLiteral(meant) : jsonChars(meant.ranges, meant.negated);
      }
      case "*":
      case "+":
      case "?":
        throw this.#refused(`"${char}" with nothing to repeat`);
      default:
        return jsonLiteral(char.codePointAt(0)!);
    }
  }

  #class(): string {
    const negated = this.#take("^");
    const ranges: CharRange[] = [];
    while (!this.#take("]")) {
      const first = this.#classPart();
      if (typeof first !== "number") {
        if (first.negated) throw this.#refused("a negated class within a class");
        ranges.push(...first.ranges);
        continue;
      }
      if (this.#peek() === "-" && this.#pattern[this.#at + 1] !== "]") {
        this.#at += 1;
        const last = this.#classPart();
        if (typeof last !== "number" || last < first) throw this.#refused("a range out of order");
        ranges.push({ from: first, to: last });
      } else ranges.push({ from: first, to: first });
    }
    if (ranges.length === 0) throw this.#refused("an empty class");
    return jsonChars(ranges, negated);
  }

  #classPart(): number | { ranges: Piece; negated: boolean } {
    const char = this.#next();
    return char === "\\" ? this.#escape(true) : char.codePointAt(0)!;
  }

  #escape(inClass = false): number | { ranges: Piece; negated: boolean } {
    const char = this.#next();
    const known = classes[char.toLowerCase()];
    if (known !== undefined && /[dswDSW]/.test(char))
      return { ranges: known, negated: char !== char.toLowerCase() };
    const controls: Record<string, number> = { n: 10, r: 13, t: 9, f: 12, v: 11, "0": 0 };
    if (Object.hasOwn(controls, char)) return controls[char]!;
    if (char === "b" && inClass) return 8;
    if (char === "x" || char === "u") {
      const digits = this.#pattern.slice(this.#at).join("");
      const found =
        char === "x"
          ? /^[0-9a-fA-F]{2}/.exec(digits)
          : /^(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\})/.exec(digits);
      if (found === null) throw this.#refused(`"\\${char}"`);
      this.#at += found[0].length;
      const code = Number.parseInt(found[0].replace(/[{}]/g, ""), 16);
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw this.#refused("a surrogate");
      return code;
    }
    if (/[A-Za-z1-9]/.test(char)) throw this.#refused(`"\\${char}"`);
    return char.codePointAt(0)!;
  }

  #peek(): string | undefined {
    return this.#pattern[this.#at];
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }

  #next(): string {
    const char = this.#pattern[this.#at];
    if (char === undefined) throw this.#refused("an end too early");
    this.#at += 1;
    return char;
  }

  #refused(what: string): SchemaError {
    return new SchemaError(this.#path, `has a pattern with ${what}, which is not supported`);
  }
}

const range = (from: string | number, to: string | number = from): CharRange => ({
  from: typeof from === "string" ? from.codePointAt(0)! : from,
  to: typeof to === "string" ? to.codePointAt(0)! : to,
});
const classes: Record<string, Piece> = {
  d: [range("0", "9")],
  w: [range("a", "z"), range("A", "Z"), range("0", "9"), range("_")],
  s: [range(" "), range(9, 13), range(0xa0), range(0x2028, 0x2029), range(0xfeff)],
};

/** A character as it is written within a JSON string. */
function jsonLiteral(code: number): string {
  return literal(JSON.stringify(String.fromCodePoint(code)).slice(1, -1));
}

const last = 0x10ffff;
/** What a JSON string cannot hold as it is: controls, the quote, the backslash; and surrogates, which are no characters. */
const unwritable: readonly CharRange[] = [
  range(0, 0x1f),
  range('"'),
  range("\\"),
  range(0x7f),
  range(0xd800, 0xdfff),
];

function jsonChars(ranges: Piece, negated: boolean): string {
  const wanted = negated ? invert(ranges) : merge(ranges);
  const plain = intersect(wanted, invert(unwritable));
  const bodies = plain.length === 0 ? [] : [charClass(plain)];
  for (const code of [0x22, 0x5c, 0x0a, 0x0d, 0x09]) {
    if (wanted.some(({ from, to }) => from <= code && code <= to)) bodies.push(jsonLiteral(code));
  }
  // A class of controls only: one of those that JSON can escape stands for all.
  return bodies.length === 0 ? jsonLiteral(wanted[0]?.from ?? 0x20) : anyOf(bodies);
}

function merge(ranges: Piece): CharRange[] {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const before = merged.at(-1);
    if (before !== undefined && from <= before.to + 1) before.to = Math.max(before.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

function invert(ranges: Piece): CharRange[] {
  const gaps: CharRange[] = [];
  let next = 0;
  for (const { from, to } of merge(ranges)) {
    if (from > next) gaps.push({ from: next, to: from - 1 });
    next = to + 1;
  }
  if (next <= last) gaps.push({ from: next, to: last });
  return gaps;
}

function intersect(a: Piece, b: Piece): CharRange[] {
  return a.flatMap((one) =>
    b
      .map((other) => ({ from: Math.max(one.from, other.from), to: Math.min(one.to, other.to) }))
      .filter(({ from, to }) => from <= to),
  );
}
