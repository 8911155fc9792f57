import { GbnfReader, invalidGrammar, type Part } from "./gbnf-reader.ts";
import { grammarLimits, type Work } from "./work.ts";

export const nodeKind = { bytes: 0, split: 1, call: 2, end: 3 } as const;

/**
 * A GBNF grammar compiled to nodes over UTF-8 bytes. A call node enters a rule and stores the node that
 * follows it.
 */
export class CompiledGrammar {
  /** The kind of each node; see `nodeKind`. */
  readonly kinds: number[] = [];
  /** The next node, for `bytes` and `call` nodes. */
  readonly nexts: number[] = [];
  /** The called rule, for `call` nodes. */
  readonly called: number[] = [];
  /** A flag for each byte, for `bytes` nodes. */
  readonly sets: (Uint8Array | null)[] = [];
  /** The alternatives, for `split` nodes. */
  readonly choices: (number[] | null)[] = [];
  /** The first node of each rule. */
  readonly rules: number[] = [];
  readonly #ruleNumbers = new Map<string, number>();
  readonly #singles: Uint8Array[] = [];
  readonly #knownSets = new Map<string, Uint8Array>();
  readonly #work: Work;
  readonly #end: number;

  /** Throws `invalid_grammar` and `grammar_too_slow`. */
  constructor(gbnf: string, work: Work) {
    if (gbnf.length > grammarLimits.grammarChars)
      throw invalidGrammar(`it is over ${grammarLimits.grammarChars} characters`);
    this.#work = work;
    this.#end = this.#node(nodeKind.end, -1);
    const bodies: Part[] = [];
    const reader = new GbnfReader(gbnf, work);
    for (let rule = reader.rule(); rule !== null; rule = reader.rule()) {
      if (this.#ruleNumbers.has(rule.name)) throw invalidGrammar(`it has two rules "${rule.name}"`);
      this.#ruleNumbers.set(rule.name, bodies.length);
      bodies.push(rule.body);
      this.rules.push(-1);
    }
    for (const [index, body] of bodies.entries()) this.rules[index] = this.#build(body, this.#end);
  }

  rule(name: string): number {
    const found = this.#ruleNumbers.get(name);
    if (found === undefined) throw invalidGrammar(`it has no rule "${name}"`);
    return found;
  }

  /** Builds a part that is followed by `next` and returns its first node. */
  #build(part: Part, next: number): number {
    switch (part.kind) {
      case "text": {
        let node = next;
        for (let at = part.bytes.length - 1; at >= 0; at -= 1) node = this.#byte(part.bytes[at]!, node);
        return node;
      }
      case "class":
        return this.#class(part.ranges, next);
      case "rule":
        return this.#node(nodeKind.call, next, { called: this.rule(part.name) });
      case "choice":
        return this.#split(part.parts.map((each) => this.#build(each, next)));
      case "sequence": {
        let node = next;
        for (let at = part.parts.length - 1; at >= 0; at -= 1) node = this.#build(part.parts[at]!, node);
        return node;
      }
      case "repeat":
        return this.#repeat(part.of, part.least, part.most, next);
    }
  }

  #repeat(of: Part, least: number, most: number, next: number): number {
    const copies = most === Infinity ? least : most;
    const body = copies > 1 && !isSmall(of) ? this.#asRule(of) : of;
    let node = next;
    if (most === Infinity) {
      node = this.#split([]);
      this.choices[node]!.push(this.#build(body, node), next);
    } else
      for (let more = most - least; more > 0; more -= 1) node = this.#split([this.#build(body, node), next]);
    for (let count = 0; count < least; count += 1) node = this.#build(body, node);
    return node;
  }

  /** Makes a rule of a large part, so that each repetition copies only a call. */
  #asRule(of: Part): Part {
    const name = ` ${this.rules.length}`;
    this.#ruleNumbers.set(name, this.rules.length);
    this.rules.push(-1);
    this.rules[this.rule(name)] = this.#build(of, this.#end);
    return { kind: "rule", name };
  }

  #class(ranges: readonly (readonly [number, number])[], next: number): number {
    const tree = new ByteTree();
    for (const [from, to] of ranges) for (const bytes of utf8Ranges(from, to)) tree.add(bytes);
    return this.#byteTree(tree, next);
  }

  #byteTree(tree: ByteTree, next: number): number {
    const byTarget = new Map<number, Uint8Array>();
    for (const { from, to, below } of tree.branches) {
      const target = below === null ? next : this.#byteTree(below, next);
      let set = byTarget.get(target);
      if (set === undefined) {
        set = new Uint8Array(256);
        byTarget.set(target, set);
      }
      set.fill(1, from, to + 1);
    }
    const nodes = [...byTarget].map(([target, set]) => this.#bytes(set, target));
    return nodes.length === 1 ? nodes[0]! : this.#split(nodes);
  }

  #byte(byte: number, next: number): number {
    let set = this.#singles[byte];
    if (set === undefined) {
      set = new Uint8Array(256);
      set[byte] = 1;
      this.#singles[byte] = set;
    }
    return this.#node(nodeKind.bytes, next, { set });
  }

  #bytes(set: Uint8Array, next: number): number {
    const key = Buffer.from(set.buffer).toString("latin1");
    const known = this.#knownSets.get(key) ?? set;
    if (known === set) this.#knownSets.set(key, set);
    return this.#node(nodeKind.bytes, next, { set: known });
  }

  #split(choices: number[]): number {
    return this.#node(nodeKind.split, -1, { choices });
  }

  #node(kind: number, next: number, { called = -1, set = null, choices = null }: NodeParts = {}): number {
    const node = this.kinds.length;
    if (node >= grammarLimits.nodes) throw invalidGrammar(`it has over ${grammarLimits.nodes} nodes`);
    this.#work.spend(8);
    this.kinds.push(kind);
    this.nexts.push(next);
    this.called.push(called);
    this.sets.push(set);
    this.choices.push(choices);
    return node;
  }
}

interface NodeParts {
  readonly called?: number;
  readonly set?: Uint8Array | null;
  readonly choices?: number[] | null;
}

function isSmall(part: Part): boolean {
  return part.kind === "rule" || part.kind === "class" || (part.kind === "text" && part.bytes.length <= 4);
}

interface Branch {
  readonly from: number;
  readonly to: number;
  /** Null if the character ends here. */
  readonly below: ByteTree | null;
}

/** Represents characters as ranges of their UTF-8 bytes. Sequences with the same first bytes are merged. */
class ByteTree {
  readonly branches: Branch[] = [];

  add([first, ...rest]: readonly (readonly [number, number])[]): void {
    const [from, to] = first!;
    const last = this.branches.at(-1);
    if (rest.length === 0) this.branches.push({ from, to, below: null });
    else if (last !== undefined && last.below !== null && last.from === from && last.to === to)
      last.below.add(rest);
    else {
      const below = new ByteTree();
      below.add(rest);
      this.branches.push({ from, to, below });
    }
  }
}

const lengthEnds = [0x7f, 0x7ff, 0xffff, 0x10ffff];

/** The code points from `from` to `to` as sequences of byte ranges. */
function* utf8Ranges(from: number, to: number): Generator<(readonly [number, number])[]> {
  let start = from;
  for (const end of lengthEnds) {
    if (start > to) return;
    if (start <= end) {
      yield* sameLength(
        Buffer.from(String.fromCodePoint(start)),
        Buffer.from(String.fromCodePoint(Math.min(to, end))),
      );
      start = end + 1;
    }
  }
}

function* sameLength(low: Uint8Array, high: Uint8Array): Generator<(readonly [number, number])[]> {
  const [first, last] = [low[0]!, high[0]!];
  if (low.length === 1) {
    yield [[first, last]];
    return;
  }
  const [lowRest, highRest] = [low.subarray(1), high.subarray(1)];
  if (first === last) {
    for (const rest of sameLength(lowRest, highRest)) yield [[first, first], ...rest];
    return;
  }
  const least = new Uint8Array(low.length - 1).fill(0x80);
  const most = new Uint8Array(low.length - 1).fill(0xbf);
  const lowWhole = lowRest.every((byte) => byte === 0x80);
  const highWhole = highRest.every((byte) => byte === 0xbf);
  if (!lowWhole) for (const rest of sameLength(lowRest, most)) yield [[first, first], ...rest];
  const [from, to] = [lowWhole ? first : first + 1, highWhole ? last : last - 1];
  if (from <= to) for (const rest of sameLength(least, most)) yield [[from, to], ...rest];
  if (!highWhole) for (const rest of sameLength(least, highRest)) yield [[last, last], ...rest];
}
