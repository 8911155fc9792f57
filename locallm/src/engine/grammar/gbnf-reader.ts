import { LocallmError } from "../../wire/errors.ts";
import type { Work } from "./work.ts";

/** A part of a rule in GBNF, llama.cpp's notation. */
export type Part =
  | { readonly kind: "text"; readonly bytes: Uint8Array }
  | { readonly kind: "class"; readonly ranges: readonly (readonly [number, number])[] }
  | { readonly kind: "rule"; readonly name: string }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Part[] }
  | { readonly kind: "repeat"; readonly of: Part; readonly least: number; readonly most: number };

/** Reads a grammar rule by rule. Throws `invalid_grammar`. */
export class GbnfReader {
  readonly #text: string;
  readonly #work: Work;
  #at = 0;
  #depth = 0;

  constructor(text: string, work: Work) {
    this.#text = text;
    this.#work = work;
  }

  /** Reads the next rule. Returns null at the end of the grammar. */
  rule(): { readonly name: string; readonly body: Part } | null {
    this.#blanks(true);
    if (this.#at >= this.#text.length) return null;
    const name = this.#name();
    this.#blanks(true);
    if (!this.#text.startsWith("::=", this.#at)) throw this.#unexpected();
    this.#at += 3;
    const body = this.#choice(false);
    if (this.#at < this.#text.length && this.#text[this.#at] !== "\n") throw this.#unexpected();
    return { name, body };
  }

  #choice(nested: boolean): Part {
    this.#depth += 1;
    if (this.#depth > maxDepth)
      throw invalidGrammar(`its groups are nested more than ${maxDepth} levels deep`);
    const parts = [this.#sequence(nested)];
    while (this.#text[this.#at] === "|") {
      this.#at += 1;
      parts.push(this.#sequence(nested));
    }
    this.#depth -= 1;
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
  }

  #sequence(nested: boolean): Part {
    const parts: Part[] = [];
    for (;;) {
      this.#blanks(nested);
      const char = this.#text[this.#at];
      if (char === undefined || char === "|" || char === ")" || char === "\n") break;
      this.#work.spend(4);
      parts.push(this.#repeated(this.#atom(char)));
    }
    return parts.length === 1 ? parts[0]! : { kind: "sequence", parts };
  }

  #atom(char: string): Part {
    if (char === '"') return { kind: "text", bytes: this.#literal() };
    if (char === "[") return { kind: "class", ranges: this.#class() };
    if (char === "(") {
      this.#at += 1;
      const inner = this.#choice(true);
      if (this.#text[this.#at] !== ")") throw this.#unexpected();
      this.#at += 1;
      return inner;
    }
    return { kind: "rule", name: this.#name() };
  }

  #repeated(of: Part): Part {
    for (let part = of; ; ) {
      const bounds = this.#bounds();
      if (bounds === null) return part;
      const [least, most] = bounds;
      if (most < least) throw invalidGrammar("it has a repetition whose minimum exceeds its maximum");
      if (least > maxRepeats || (most !== Infinity && most > maxRepeats))
        throw invalidGrammar(`it has over ${maxRepeats} repetitions`);
      part = { kind: "repeat", of: part, least, most };
    }
  }

  #bounds(): [number, number] | null {
    const char = this.#text[this.#at];
    if (char === "*" || char === "+" || char === "?") {
      this.#at += 1;
      return [char === "+" ? 1 : 0, char === "?" ? 1 : Infinity];
    }
    if (char !== "{") return null;
    bounds.lastIndex = this.#at;
    const found = bounds.exec(this.#text);
    if (found === null) throw this.#unexpected();
    this.#at += found[0].length;
    const least = Number(found[1]);
    return [least, found[2] === undefined ? least : found[3] === "" ? Infinity : Number(found[3])];
  }

  #literal(): Uint8Array {
    this.#at += 1;
    let text = "";
    while (this.#text[this.#at] !== '"') text += String.fromCodePoint(this.#char());
    this.#at += 1;
    this.#work.spend(text.length);
    return Buffer.from(text);
  }

  #class(): (readonly [number, number])[] {
    this.#at += 1;
    const negated = this.#text[this.#at] === "^";
    if (negated) this.#at += 1;
    const ranges: (readonly [number, number])[] = [];
    while (this.#text[this.#at] !== "]") {
      const from = this.#char();
      const isRange = this.#text[this.#at] === "-" && this.#text[this.#at + 1] !== "]";
      if (isRange) this.#at += 1;
      ranges.push([from, isRange ? this.#char() : from]);
    }
    this.#at += 1;
    this.#work.spend(ranges.length);
    return withoutSurrogates(negated ? complement(ranges) : ranges);
  }

  /** Reads one character of a literal or a class, as a code point. */
  #char(): number {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined || code === 0x0a) throw this.#unexpected();
    this.#at += code > 0xffff ? 2 : 1;
    if (code !== 0x5c) return code;
    const letter = this.#text[this.#at] ?? "";
    this.#at += 1;
    const digits = { x: 2, u: 4, U: 8 }[letter];
    if (digits !== undefined) {
      const hex = this.#text.slice(this.#at, this.#at + digits);
      const value = Number.parseInt(hex, 16);
      if (!/^[0-9a-fA-F]+$/.test(hex) || hex.length < digits || value > 0x10ffff) throw this.#unexpected();
      this.#at += digits;
      return value;
    }
    const known = { n: 10, r: 13, t: 9, '"': 34, "\\": 92, "[": 91, "]": 93 }[letter];
    if (known === undefined) throw this.#unexpected();
    return known;
  }

  #name(): string {
    names.lastIndex = this.#at;
    const found = names.exec(this.#text);
    if (found === null) throw this.#unexpected();
    this.#at += found[0].length;
    return found[0];
  }

  #blanks(withNewlines: boolean): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char === " " || char === "\t" || char === "\r" || (withNewlines && char === "\n")) this.#at += 1;
      else return;
    }
  }

  #unexpected(): LocallmError {
    const excerpt = this.#text.slice(this.#at, this.#at + 20);
    return invalidGrammar(`unexpected ${excerpt === "" ? "end" : JSON.stringify(excerpt)} at ${this.#at}`);
  }
}

const maxDepth = 256;
const maxRepeats = 2000;
const bounds = /\{(\d{1,5})(?:(,)(\d{0,5}))?\}/y;
const names = /[A-Za-z0-9-]+/y;
const lastCode = 0x10ffff;

export function invalidGrammar(reason: string): LocallmError {
  return new LocallmError("invalid_grammar", { reason });
}

function complement(ranges: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const gaps: (readonly [number, number])[] = [];
  let next = 0;
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (from > next) gaps.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= lastCode) gaps.push([next, lastCode]);
  return gaps;
}

/** Removes surrogates, which cannot be written in UTF-8. */
function withoutSurrogates(ranges: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  return ranges.flatMap(([from, to]): (readonly [number, number])[] => {
    if (to < 0xd800 || from > 0xdfff) return [[from, to]];
    return [
      ...(from < 0xd800 ? [[from, 0xd7ff] as const] : []),
      ...(to > 0xdfff ? [[0xe000, to] as const] : []),
    ];
  });
}
