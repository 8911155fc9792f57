import type { Budget } from "./budget.ts";
import {
  type CharRange,
  type Expression,
  ExpressionError,
  intersect,
  invert,
  lastCode,
  merge,
} from "./expression.ts";
import { anyOf, charClass, literal, type Rules } from "./gbnf.ts";

interface Edge extends CharRange {
  readonly target: number;
}

/** A set of texts, represented by a finite automaton. The first state is the start. */
export class Language {
  readonly #edges: readonly (readonly Edge[])[];
  readonly #accepts: readonly boolean[];

  constructor(edges: readonly (readonly Edge[])[], accepts: readonly boolean[]) {
    this.#edges = edges;
    this.#accepts = accepts;
  }

  get states(): number {
    return this.#edges.length;
  }

  get isEmpty(): boolean {
    return !this.#accepts.includes(true);
  }

  /** Works only for deterministic automata. */
  has(text: string): boolean {
    let state = 0;
    for (const char of text) {
      const code = char.codePointAt(0)!;
      const edge = this.#edges[state]!.find(({ from, to }) => from <= code && code <= to);
      if (edge === undefined) return false;
      state = edge.target;
    }
    return this.#accepts[state] ?? false;
  }

  and(other: Language, budget: Budget): Language {
    const pairs: [number, number][] = [[0, 0]];
    const numbers = new Map([["0,0", 0]]);
    const edges: Edge[][] = [];
    for (let at = 0; at < pairs.length; at += 1) {
      const [mine, its] = pairs[at]!;
      const own: Edge[] = [];
      const [mineEdges, itsEdges] = [this.#edges[mine]!, other.#edges[its]!];
      budget.spend(2 + mineEdges.length * itsEdges.length);
      for (const a of mineEdges) {
        for (const b of itsEdges) {
          const [from, to] = [Math.max(a.from, b.from), Math.min(a.to, b.to)];
          if (from > to) continue;
          const key = `${a.target},${b.target}`;
          let target = numbers.get(key);
          if (target === undefined) {
            target = pairs.length;
            numbers.set(key, target);
            pairs.push([a.target, b.target]);
          }
          own.push({ from, to, target });
        }
      }
      edges.push(own);
      if (pairs.length > maxStates) throw new ExpressionError(`over ${maxStates} states`);
    }
    return new Language(
      edges,
      pairs.map(([a, b]) => this.#accepts[a]! && other.#accepts[b]!),
    ).#trimmed(budget);
  }

  /** The texts that are not in this set. */
  not(budget: Budget): Language {
    const sink = this.states;
    const edges = [...this.#edges, []].map((own: readonly Edge[], state) => {
      budget.spend(2 + own.length);
      const rest = state === sink ? [{ from: 0, to: lastCode }] : invert(own);
      return [...own, ...rest.map(({ from, to }) => ({ from, to, target: sink }))];
    });
    return new Language(edges, [...this.#accepts.map((accepts) => !accepts), true]).#trimmed(budget);
  }

  /** Removes the states from which no end can be reached. */
  #trimmed(budget: Budget): Language {
    const before: number[][] = this.#edges.map(() => []);
    for (const [state, own] of this.#edges.entries())
      for (const { target } of own) before[target]!.push(state);
    const alive = new Set(this.#accepts.flatMap((accepts, state) => (accepts ? [state] : [])));
    for (const state of alive) {
      budget.spend(1 + before[state]!.length);
      for (const each of before[state]!) alive.add(each);
    }
    if (!alive.has(0)) return nothing;
    const kept = [0, ...[...alive].filter((state) => state !== 0)];
    const numbers = new Map(kept.map((state, index) => [state, index]));
    const edges = kept.map((state) =>
      joined(
        this.#edges[state]!.flatMap(({ from, to, target }) => {
          const number = numbers.get(target);
          return number === undefined ? [] : [{ from, to, target: number }];
        }),
      ),
    );
    return new Language(
      edges,
      kept.map((state) => this.#accepts[state]!),
    );
  }

  /**
   * Writes the set as grammar rules. `char` writes the characters of an edge, or returns "" if none of them
   * can be written.
   */
  body(rules: Rules, hint: string, char: (ranges: readonly CharRange[]) => string): string {
    const uses = this.#edges.map(() => 0);
    for (const own of this.#edges) for (const { target } of own) uses[target]! += 1;
    const isEnd = (state: number) => this.#accepts[state]! && this.#edges[state]!.length === 0;
    // Null means that the state's rule is written inline. "" means that nothing follows the state.
    const names = this.#edges.map((own, state) => {
      if (state !== 0 && isEnd(state)) return "";
      const isOwnRule = state === 0 || uses[state]! > 1 || own.length !== 1 || this.#accepts[state];
      return isOwnRule ? rules.reserve(hint) : null;
    });
    for (const [state, name] of names.entries()) {
      if (name === null || name === "") continue;
      const ways = this.#ways(state).flatMap(([target, ranges]) => {
        const first = char(ranges);
        return first === "" ? [] : [this.#path(first, target, names, char)];
      });
      rules.define(name, [...ways, ...(this.#accepts[state] ? ['""'] : [])].join(" | ") || never);
    }
    return names[0]!;
  }

  /** Follows the edges as long as each state has only one. */
  #path(
    first: string,
    state: number,
    names: readonly (string | null)[],
    char: (ranges: readonly CharRange[]) => string,
  ): string {
    const parts = [first];
    let at = state;
    while (names[at] === null) {
      const [edge] = this.#edges[at]!;
      parts.push(char([edge!]) || never);
      at = edge!.target;
    }
    return [...parts, ...(names[at] === "" ? [] : [names[at]!])].join(" ");
  }

  #ways(state: number): [number, CharRange[]][] {
    const byTarget = new Map<number, CharRange[]>();
    for (const edge of this.#edges[state]!) {
      const known = byTarget.get(edge.target);
      if (known === undefined) byTarget.set(edge.target, [edge]);
      else known.push(edge);
    }
    return [...byTarget];
  }
}

/** A character class that matches nothing. */
const never = "[^\\x00-\\U0010FFFF]";

export const nothing = new Language([[]], [false]);

const maxStates = 3000;
const maxNodes = 20_000;

/** The ends of the text, represented as characters above the largest code point. */
const textStart = lastCode + 1;
const textEnd = lastCode + 2;

/**
 * Returns the texts that contain a match of the expression. With `whole`, returns only texts that match from
 * start to end. Throws ExpressionError and BudgetSpent.
 */
export function languageOf(expression: Expression, whole: boolean, budget: Budget): Language {
  const { looks, rest } = leadingLooks(expression);
  let language = determined(new Nodes(rest, whole, budget), budget);
  for (const { of, negative } of looks) {
    const found = determined(
      new Nodes({ kind: "sequence", parts: [{ kind: "start" }, of] }, false, budget),
      budget,
    );
    language = language.and(negative ? found.not(budget) : found, budget);
  }
  return language;
}

/**
 * Like `languageOf` with `whole`, but nondeterministic. Used for an expression whose deterministic automaton
 * is too large.
 */
export function ambiguousLanguageOf(expression: Expression, budget: Budget): Language {
  return new Nodes(expression, true, budget).ambiguous(budget);
}

export function textsOf(texts: readonly string[], budget: Budget): Language {
  const edges: Edge[][] = [[]];
  const accepts = [false];
  const after: Map<number, number>[] = [new Map()];
  for (const text of texts) {
    let state = 0;
    for (const char of text) {
      budget.spend(1);
      const code = char.codePointAt(0)!;
      let target = after[state]!.get(code);
      if (target === undefined) {
        target = edges.length;
        after[state]!.set(code, target);
        after.push(new Map());
        edges[state]!.push({ from: code, to: code, target });
        edges.push([]);
        accepts.push(false);
      }
      state = target;
    }
    accepts[state] = true;
  }
  return new Language(edges, accepts);
}

/** Texts with a length in characters between these bounds. */
export function lengthsFrom(least: number, most: number, budget: Budget): Language {
  const last = most === Infinity ? least : most;
  if (last > maxStates) throw new ExpressionError(`over ${maxStates} states`);
  budget.spend(last);
  const any = (target: number) => ({ from: 0, to: lastCode, target });
  const edges = Array.from({ length: last + 1 }, (_, count) => {
    if (count < last) return [any(count + 1)];
    return most === Infinity ? [any(count)] : [];
  });
  return new Language(
    edges,
    edges.map((_, count) => count >= least),
  );
}

/** Finds the lookaheads directly after "^", which apply to the whole text: `^(?!\.)(?=.*\d)…`. */
function leadingLooks(expression: Expression): {
  looks: { of: Expression; negative: boolean }[];
  rest: Expression;
} {
  if (expression.kind !== "sequence" || expression.parts[0]?.kind !== "start")
    return { looks: [], rest: expression };
  const looks: { of: Expression; negative: boolean }[] = [];
  let at = 1;
  for (; expression.parts[at]?.kind === "look"; at += 1) {
    const part = expression.parts[at]!;
    if (part.kind === "look") looks.push(part);
  }
  return { looks, rest: { kind: "sequence", parts: [{ kind: "start" }, ...expression.parts.slice(at)] } };
}

/** A nondeterministic automaton over the characters and the two ends of a text. */
class Nodes {
  readonly edges: Edge[][] = [];
  readonly empty: number[][] = [];
  readonly first: number;
  readonly last: number;
  readonly #budget: Budget;

  constructor(expression: Expression, whole: boolean, budget: Budget) {
    this.#budget = budget;
    this.last = this.#node();
    const after = this.#node();
    const body = this.#build(expression, after);
    this.first = this.#node();
    this.empty[this.first]!.push(body);
    this.empty[after]!.push(this.last);
    if (whole) {
      this.edges[this.first]!.push({ from: textStart, to: textStart, target: body });
      this.edges[after]!.push({ from: textEnd, to: textEnd, target: this.last });
    } else {
      this.edges[this.first]!.push({ from: 0, to: textEnd, target: this.first });
      this.edges[this.last]!.push({ from: 0, to: textEnd, target: this.last });
    }
  }

  closure(nodes: readonly number[], budget: Budget): number[] {
    const all = new Set(nodes);
    for (const node of all) {
      budget.spend(1);
      for (const next of this.empty[node]!) all.add(next);
    }
    return [...all].sort((a, b) => a - b);
  }

  /** Returns, for each node, the edges of all nodes that can be reached from it without a character. */
  ambiguous(budget: Budget): Language {
    const start = this.closure(this.#after(this.closure([this.first], budget), textStart), budget);
    const numbers = new Map<number, number>();
    const order: number[][] = [start];
    const edges: Edge[][] = [];
    const accepts: boolean[] = [];
    for (let at = 0; at < order.length; at += 1) {
      const own: Edge[] = [];
      for (const node of order[at]!) {
        for (const { from, to, target } of this.edges[node]!) {
          budget.spend(1);
          if (from > lastCode) continue;
          let number = numbers.get(target);
          if (number === undefined) {
            number = order.length;
            numbers.set(target, number);
            order.push(this.closure([target], budget));
          }
          own.push({ from, to: Math.min(to, lastCode), target: number });
        }
      }
      edges.push(own);
      accepts.push(this.closure(this.#after(order[at]!, textEnd), budget).includes(this.last));
      if (order.length > maxStates) throw new ExpressionError(`over ${maxStates} states`);
    }
    return new Language(edges, accepts);
  }

  #after(nodes: readonly number[], code: number): number[] {
    return nodes.flatMap((node) =>
      this.edges[node]!.filter(({ from, to }) => from <= code && code <= to).map(({ target }) => target),
    );
  }

  #build(part: Expression, next: number): number {
    switch (part.kind) {
      case "class":
        return this.#node(part.ranges.map(({ from, to }) => ({ from, to, target: next })));
      case "start":
        return this.#edge(textStart, next);
      case "end":
        return this.#edge(textEnd, next);
      case "look":
        throw new ExpressionError("a lookahead that is not at the start");
      case "choice": {
        const node = this.#node();
        this.empty[node]!.push(...part.parts.map((each) => this.#build(each, next)));
        return node;
      }
      case "sequence":
        return part.parts.reduceRight((after, each) => this.#build(each, after), next);
      case "repeat": {
        let node = next;
        if (part.most === Infinity) {
          const loop = this.#node();
          this.empty[loop]!.push(this.#build(part.of, loop), next);
          node = loop;
        } else {
          for (let more = part.most - part.least; more > 0; more -= 1) {
            const option = this.#node();
            this.empty[option]!.push(this.#build(part.of, node), next);
            node = option;
          }
        }
        for (let count = 0; count < part.least; count += 1) node = this.#build(part.of, node);
        return node;
      }
    }
  }

  /**
   * Creates a node for `^` or `$`. A text has only one start and one end, so the node also accepts repeated
   * `^` or `$`.
   */
  #edge(code: number, next: number): number {
    const further = this.#after(this.closure([next], this.#budget), code);
    return this.#node([next, ...further].map((target) => ({ from: code, to: code, target })));
  }

  #node(edges: Edge[] = []): number {
    this.#budget.spend(2 + edges.length);
    if (this.edges.length >= maxNodes) throw new ExpressionError(`over ${maxNodes} parts`);
    this.empty.push([]);
    return this.edges.push(edges) - 1;
  }
}

/** Makes the automaton deterministic: its states are sets of nodes. */
function determined(nodes: Nodes, budget: Budget): Language {
  const afterStart = stepOf(nodes, nodes.closure([nodes.first], budget), textStart, budget);
  const sets: number[][] = [afterStart];
  const numbers = new Map([[afterStart.join(), 0]]);
  const edges: Edge[][] = [];
  const accepts: boolean[] = [];
  const closures = new Map<string, number[]>();
  const closureOf = (targets: readonly number[]): number[] => {
    const key = targets.join();
    let closure = closures.get(key);
    if (closure === undefined) {
      closure = nodes.closure(targets, budget);
      closures.set(key, closure);
    }
    return closure;
  };
  for (let at = 0; at < sets.length; at += 1) {
    const set = sets[at]!;
    const own: Edge[] = [];
    for (const { from, to, targets } of pieces(
      set.flatMap((node) => nodes.edges[node]!),
      budget,
    )) {
      const next = closureOf(targets);
      const key = next.join();
      let target = numbers.get(key);
      if (target === undefined) {
        target = sets.length;
        numbers.set(key, target);
        sets.push(next);
        if (target >= maxStates) throw new ExpressionError(`over ${maxStates} states`);
      }
      own.push({ from, to, target });
    }
    edges.push(own);
    accepts.push(stepOf(nodes, set, textEnd, budget).includes(nodes.last));
  }
  // Intersect with `everything`, because `and` also removes states that lead nowhere.
  return new Language(edges, accepts).and(everything, budget);
}

/** Splits overlapping edges where one of them begins or ends. */
function* pieces(
  edges: readonly Edge[],
  budget: Budget,
): Generator<{ readonly from: number; readonly to: number; readonly targets: readonly number[] }> {
  const ends = edges.flatMap(({ from, to, target }) =>
    from > lastCode
      ? []
      : [
          { at: from, target, change: 1 },
          { at: Math.min(to, lastCode) + 1, target, change: -1 },
        ],
  );
  ends.sort((a, b) => a.at - b.at);
  budget.spend(4 + ends.length * 2);
  const active = new Map<number, number>();
  for (const [index, { at, target, change }] of ends.entries()) {
    const count = (active.get(target) ?? 0) + change;
    if (count === 0) active.delete(target);
    else active.set(target, count);
    const next = ends[index + 1]?.at ?? at;
    if (next === at || active.size === 0) continue;
    budget.spend(active.size);
    yield { from: at, to: next - 1, targets: [...active.keys()].sort((a, b) => a - b) };
  }
}

export const everything = new Language([[{ from: 0, to: lastCode, target: 0 }]], [true]);

function stepOf(nodes: Nodes, set: readonly number[], code: number, budget: Budget): number[] {
  const targets = new Set<number>();
  for (const node of set)
    for (const { from, to, target } of nodes.edges[node]!)
      if (from <= code && code <= to) targets.add(target);
  return nodes.closure([...targets], budget);
}

/** Merges neighbouring ranges with the same target. */
function joined(edges: readonly Edge[]): Edge[] {
  const byTarget = new Map<number, CharRange[]>();
  for (const edge of edges) byTarget.set(edge.target, [...(byTarget.get(edge.target) ?? []), edge]);
  return [...byTarget].flatMap(([target, ranges]) =>
    merge(ranges).map(({ from, to }) => ({ from, to, target })),
  );
}

/**
 * The characters that a JSON string may contain unescaped: all but control characters, quotes, backslashes
 * and surrogates.
 */
const writable: readonly CharRange[] = invert([
  { from: 0, to: 0x1f },
  { from: 0x22, to: 0x22 },
  { from: 0x5c, to: 0x5c },
  { from: 0x7f, to: 0x7f },
  { from: 0xd800, to: 0xdfff },
]);

/** Writes characters as they appear inside a JSON string. */
export function jsonChars(ranges: readonly CharRange[]): string {
  const wanted = merge(ranges);
  const plain = intersect(wanted, writable);
  const bodies = plain.length === 0 ? [] : [charClass(plain)];
  for (const code of escapable)
    if (wanted.some(({ from, to }) => from <= code && code <= to))
      bodies.push(literal(JSON.stringify(String.fromCodePoint(code)).slice(1, -1)));
  return bodies.length === 0 ? "" : anyOf(bodies);
}

const escapable = [0x22, 0x5c, 0x0a, 0x0d, 0x09, 0x08, 0x0c];

/** Texts whose characters can all be written inside a JSON string, each in one way. */
export const writableLanguage = new Language(
  [
    merge([...writable, ...escapable.map((code) => ({ from: code, to: code }))]).map(({ from, to }) => ({
      from,
      to,
      target: 0,
    })),
  ],
  [true],
);
