/**
 * A second GBNF reader for tests. It generates texts that a grammar allows, and decides whether a grammar
 * allows a text. It is small, slow and simple.
 */
export interface Grammar {
  /** A random text of the grammar; `random` returns numbers from 0 up to, but not including, 1. */
  derive(random: () => number): string;
  accepts(text: string): boolean;
}

type Node =
  | { kind: "text"; letters: readonly string[] }
  | { kind: "class"; ranges: [number, number][]; negated: boolean }
  | { kind: "rule"; name: string }
  | { kind: "sequence" | "choice"; parts: Node[] }
  | { kind: "repeat"; of: Node; least: number; most: number };

export function parseGbnf(source: string): Grammar {
  const rules = new Map<string, Node>();
  for (const line of source.split("\n")) {
    if (line.trim() === "") continue;
    const [, name, body] = /^([a-z0-9-]+) ::= (.*)$/.exec(line) ?? [];
    if (name === undefined || body === undefined) throw new Error(`no rule: ${line.slice(0, 200)}`);
    if (rules.has(name)) throw new Error(`twice: ${name}`);
    rules.set(name, new Reader(body).body());
  }
  const rule = (name: string) => {
    const node = rules.get(name);
    if (node === undefined) throw new Error(`no rule ${name}`);
    return node;
  };
  return {
    derive: (random) => derive(rule("root"), rule, random),
    accepts: (text) => {
      const chars = [...text];
      return new Matcher(chars, rule).ends(rule("root"), 0).includes(chars.length);
    },
  };
}

function derive(node: Node, rule: (name: string) => Node, random: () => number): string {
  switch (node.kind) {
    case "text":
      return node.letters.join("");
    case "rule":
      return derive(rule(node.name), rule, random);
    case "sequence":
      return node.parts.map((part) => derive(part, rule, random)).join("");
    case "choice":
      return derive(node.parts[Math.floor(random() * node.parts.length)]!, rule, random);
    case "repeat": {
      // Prefers small counts and sometimes uses the bounds.
      const most = Math.min(node.most, node.least + 3);
      const count =
        random() < 0.1
          ? Math.min(node.most, node.least + 30)
          : node.least + Math.floor(random() * (most - node.least + 1));
      return Array.from({ length: count }, () => derive(node.of, rule, random)).join("");
    }
    case "class": {
      const ranges = node.negated ? outside(node.ranges) : node.ranges;
      const [from, to] = ranges[Math.floor(random() * ranges.length)]!;
      const code = from + Math.floor(random() * (Math.min(to, from + 400) - from + 1));
      return String.fromCodePoint(code >= 0xd800 && code <= 0xdfff ? 0x78 : code);
    }
  }
}

function outside(ranges: [number, number][]): [number, number][] {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    if (from > next) gaps.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  return [...gaps, [next, 0x10ffff]];
}

/** Different positions. */
type Ends = readonly number[];
const nowhere: Ends = [];

class Matcher {
  readonly #chars: readonly string[];
  readonly #rule: (name: string) => Node;
  /** By rule, then by start. Other nodes are matched again: that is quicker than to remember them. */
  readonly #known = new Map<Node, (Ends | undefined)[]>();

  constructor(chars: readonly string[], rule: (name: string) => Node) {
    this.#chars = chars;
    this.#rule = rule;
  }

  /** The positions where a match of the node that begins at `start` can end. */
  ends(node: Node, start: number): Ends {
    switch (node.kind) {
      case "text": {
        const { letters } = node;
        for (let index = 0; index < letters.length; index += 1)
          if (this.#chars[start + index] !== letters[index]) return nowhere;
        return [start + letters.length];
      }
      case "class": {
        const code = this.#chars[start]?.codePointAt(0);
        if (code === undefined) return nowhere;
        const inside = node.ranges.some(([from, to]) => from <= code && code <= to);
        return inside !== node.negated ? [start + 1] : nowhere;
      }
      case "rule":
        return this.#ofRule(this.#rule(node.name), start);
      case "choice":
        return union(node.parts.map((part) => this.ends(part, start)));
      case "sequence": {
        let ends: Ends = [start];
        for (const part of node.parts) {
          if (ends.length === 0) break;
          ends = this.#after(part, ends);
        }
        return ends;
      }
      case "repeat": {
        let ends: Ends = [start];
        const all = new Set(node.least === 0 ? ends : nowhere);
        for (let count = 1; count <= node.most && ends.length > 0; count += 1) {
          ends = this.#after(node.of, ends).filter((end) => !all.has(end));
          if (count >= node.least) for (const end of ends) all.add(end);
        }
        return [...all];
      }
    }
  }

  #ofRule(body: Node, start: number): Ends {
    let known = this.#known.get(body);
    if (known === undefined) {
      known = [];
      this.#known.set(body, known);
    }
    const ends = known[start] ?? this.ends(body, start);
    known[start] = ends;
    return ends;
  }

  #after(node: Node, starts: Ends): Ends {
    return starts.length === 1
      ? this.ends(node, starts[0]!)
      : union(starts.map((start) => this.ends(node, start)));
  }
}

function union(several: readonly Ends[]): Ends {
  const some = several.filter((ends) => ends.length > 0);
  if (some.length === 0) return nowhere;
  if (some.length === 1) return some[0]!;
  return [...new Set(some.flat())];
}

class Reader {
  readonly #text: string[];
  #at = 0;

  constructor(text: string) {
    this.#text = [...text];
  }

  body(): Node {
    const node = this.#choice();
    if (this.#at < this.#text.length)
      throw new Error(`left over: ${this.#text.slice(this.#at).join("").slice(0, 100)}`);
    return node;
  }

  #choice(): Node {
    const parts = [this.#sequence()];
    while (this.#take("|")) parts.push(this.#sequence());
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (this.#space(); this.#at < this.#text.length && !"|)".includes(this.#text[this.#at]!); this.#space())
      parts.push(this.#repeated(this.#atom()));
    return { kind: "sequence", parts };
  }

  #atom(): Node {
    if (this.#take("(")) {
      const inner = this.#choice();
      if (!this.#take(")")) throw new Error("no closing parenthesis");
      return inner;
    }
    if (this.#take('"')) {
      let text = "";
      while (this.#text[this.#at] !== '"') text += String.fromCodePoint(this.#char());
      this.#at += 1;
      return { kind: "text", letters: [...text] };
    }
    if (this.#take("[")) {
      const negated = this.#text[this.#at] === "^";
      if (negated) this.#at += 1;
      const ranges: [number, number][] = [];
      while (this.#text[this.#at] !== "]") {
        const from = this.#char();
        const isRange = this.#text[this.#at] === "-" && this.#text[this.#at + 1] !== "]";
        if (isRange) this.#at += 1;
        ranges.push([from, isRange ? this.#char() : from]);
      }
      this.#at += 1;
      return { kind: "class", ranges, negated };
    }
    const name = /^[a-z0-9-]+/.exec(this.#text.slice(this.#at, this.#at + 60).join(""))?.[0];
    if (name === undefined) throw new Error(`unexpected ${this.#text.slice(this.#at).join("").slice(0, 60)}`);
    this.#at += name.length;
    return { kind: "rule", name };
  }

  #repeated(of: Node): Node {
    const rest = this.#text.slice(this.#at, this.#at + 20).join("");
    const found = /^(?:[*+?]|\{(\d+)(,)?(\d*)\})/.exec(rest);
    if (found === null) return of;
    this.#at += found[0].length;
    if (found[1] === undefined) {
      const [least, most] = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] }[found[0]] as [
        number,
        number,
      ];
      return { kind: "repeat", of, least, most };
    }
    const least = Number(found[1]);
    const most = found[2] === undefined ? least : found[3] === "" ? Infinity : Number(found[3]);
    return { kind: "repeat", of, least, most };
  }

  #char(): number {
    const char = this.#text[this.#at]!;
    if (char === undefined) throw new Error("the end came too early");
    this.#at += 1;
    if (char !== "\\") return char.codePointAt(0)!;
    const letter = this.#text[this.#at]!;
    this.#at += 1;
    const digits = { x: 2, u: 4, U: 8 }[letter];
    if (digits !== undefined) {
      const code = Number.parseInt(this.#text.slice(this.#at, this.#at + digits).join(""), 16);
      this.#at += digits;
      return code;
    }
    const known = { n: 10, r: 13, t: 9, '"': 34, "\\": 92, "[": 91, "]": 93 }[letter];
    if (known === undefined) throw new Error(`unknown escape \\${letter}`);
    return known;
  }

  #take(char: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    while (this.#text[this.#at] === " ") this.#at += 1;
  }
}
