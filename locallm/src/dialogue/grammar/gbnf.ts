import type { CharRange } from "./expression.ts";

/** The rules of a grammar in GBNF, llama.cpp's notation. Equal bodies share a rule. */
export class Rules {
  readonly #names = new Map<string, string>();
  readonly #bodies = new Map<string, string>();
  readonly #made = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  #size = 0;

  /** Returns the name of a rule with this body; `hint` makes the grammar easier to read. */
  add(hint: string, body: string): string {
    const known = this.#names.get(body);
    if (known !== undefined) return known;
    const name = this.reserve(hint);
    this.define(name, body);
    this.#names.set(body, name);
    return name;
  }

  /** Like `add`, for a body that is expensive to compute. `make` runs once per key. */
  once(key: string, make: () => string): string {
    let name = this.#made.get(key);
    if (name === undefined) {
      name = this.add(key, make());
      this.#made.set(key, name);
    }
    return name;
  }

  /** Reserves a name for a rule whose body is defined later, for recursive rules. */
  reserve(hint: string): string {
    const base =
      hint
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, "")
        .slice(0, 24) || "rule";
    let name = base;
    while (this.#bodies.has(name) || name === "root") {
      const count = (this.#counts.get(base) ?? 1) + 1;
      this.#counts.set(base, count);
      name = `${base}-${count}`;
    }
    this.#bodies.set(name, "");
    return name;
  }

  define(name: string, body: string): void {
    this.#bodies.set(name, body);
    this.#size += name.length + body.length;
  }

  /** All rules so far, to be copied into another grammar with `take`. */
  entries(): [string, string][] {
    return [...this.#bodies];
  }

  /** Copies the rules of another grammar. Call it before adding rules. */
  take(entries: readonly (readonly [string, string])[]): void {
    for (const [name, body] of entries) {
      this.define(name, body);
      if (!this.#names.has(body)) this.#names.set(body, name);
    }
  }

  get count(): number {
    return this.#bodies.size;
  }

  get size(): number {
    return this.#size;
  }

  print(root: string): string {
    const lines = [...this.#bodies].map(([name, body]) => `${name} ::= ${body}`);
    return `root ::= ${root}\n${lines.join("\n")}\n`;
  }
}

/** A rule body that matches exactly this text. */
export function literal(text: string): string {
  if (text === "") return '""';
  let written = "";
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (char === '"' || char === "\\") written += `\\${char}`;
    else if (char === "\n") written += "\\n";
    else if (code < 0x20 || code === 0x7f) written += `\\x${hex(code, 2)}`;
    else written += char;
  }
  return `"${written}"`;
}

/** Matches one character inside these ranges of code points, or outside them if `negated`. */
export function charClass(ranges: readonly CharRange[], negated = false): string {
  const parts = ranges.map(({ from, to }) =>
    from === to ? classChar(from) : `${classChar(from)}-${classChar(to)}`,
  );
  return `[${negated ? "^" : ""}${parts.join("")}]`;
}

function classChar(code: number): string {
  const char = String.fromCodePoint(code);
  if (/[A-Za-z0-9 ]/.test(char)) return char;
  if (code <= 0xff) return `\\x${hex(code, 2)}`;
  return code <= 0xffff ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

/** Matches one character inside these ranges, written as in JSON outside of strings. */
export function plainChars(ranges: readonly CharRange[]): string {
  const [only] = ranges;
  if (ranges.length === 1 && only!.from === only!.to) return literal(String.fromCodePoint(only!.from));
  return charClass(ranges);
}

/** Matches `body` repeated from `least` to `most` times. */
export function repeat(body: string, least: number, most: number): string {
  if (most === 0) return '""';
  if (least === 1 && most === 1) return body;
  if (least === 0 && most === 1) return `(${body})?`;
  return `(${body}){${least},${most}}`;
}

export function anyOf(bodies: readonly string[]): string {
  const different = [...new Set(bodies)];
  return different.length === 1 ? different[0]! : `(${different.join(" | ")})`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, "0");
}

/**
 * Matches any text up to and including the first `end`. Returns the name of the rule. The grammar has one
 * rule for each number of characters of `end` that have matched so far (Knuth-Morris-Pratt algorithm).
 */
export function upToText(rules: Rules, hint: string, end: string): string {
  const letters = [...end];
  const states = letters.map((_, index) => rules.reserve(`${hint}-${index}`));
  const stateAfter = (seen: number, letter: string): number => {
    const text = [...letters.slice(0, seen), letter];
    for (let length = Math.min(letters.length, text.length); length > 0; length -= 1) {
      if (text.slice(-length).join("") === letters.slice(0, length).join("")) return length;
    }
    return 0;
  };
  const different = [...new Set(letters)];
  for (const [seen, name] of states.entries()) {
    const known = different.filter((letter) => stateAfter(seen, letter) > 0);
    const steps = known.map((letter) => {
      const next = stateAfter(seen, letter);
      return next === letters.length ? literal(letter) : `${literal(letter)} ${states[next]!}`;
    });
    const others = charClass(
      known.map((letter) => ({ from: letter.codePointAt(0)!, to: letter.codePointAt(0)! })),
      true,
    );
    rules.define(name, [...steps, `${others} ${states[0]!}`].join(" | "));
  }
  return states[0]!;
}
