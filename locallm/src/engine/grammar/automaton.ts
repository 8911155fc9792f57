import { LocallmError } from "../../wire/errors.ts";
import { CompiledGrammar, nodeKind } from "./compiled-grammar.ts";
import { grammarLimits, type Work } from "./work.ts";

/** A state of an answer within its grammar. */
export interface Position {
  /** Whether the answer may end here. */
  readonly canEnd: boolean;
  /** Whether the grammar does not apply yet. */
  readonly isFree: boolean;
  /** The position after one more byte; null if the byte is not allowed. */
  after(byte: number, work: Work): Position | null;
}

/**
 * Runs a compiled grammar. It creates a position when an answer first reaches it and caches it, so most bytes
 * cost one table lookup. Answers with the same grammar share the positions.
 */
export class Automaton {
  readonly #grammar: CompiledGrammar;
  #positions = new Map<string, GrammarPosition>();
  /** Stacks of nodes to return to, stored as linked cells: a node and the cell below it. Cell 0 is the empty stack. */
  readonly #cellNodes = [-1];
  readonly #cellBelow = [0];
  readonly #cells = new Map<number, number>();

  /** Throws `invalid_grammar` and `grammar_too_slow`. */
  constructor(gbnf: string, work: Work) {
    this.#grammar = new CompiledGrammar(gbnf, work);
  }

  start(rule: string, work: Work): Position {
    const first = this.#grammar.rules[this.#grammar.rule(rule)]!;
    return this.#position([first], work);
  }

  /** Returns the position with these alternatives. Each alternative is a node with its stack. */
  #position(threads: readonly number[], work: Work): GrammarPosition {
    const { kinds, nexts, called, choices, rules } = this.#grammar;
    const nodes = kinds.length;
    const seen = new Set<number>(threads);
    const open = [...threads];
    const waiting: number[] = [];
    let canEnd = false;
    const visit = (thread: number) => {
      if (seen.has(thread)) return;
      seen.add(thread);
      open.push(thread);
    };
    while (open.length > 0) {
      const thread = open.pop()!;
      const node = thread % nodes;
      const cell = (thread - node) / nodes;
      work.spend(2);
      switch (kinds[node]) {
        case nodeKind.bytes:
          waiting.push(thread);
          break;
        case nodeKind.split:
          for (const choice of choices[node]!) visit(cell * nodes + choice);
          break;
        case nodeKind.call: {
          const next = nexts[node]!;
          // A call at the end of a rule needs no return address. This keeps the stack small for lists and
          // other right recursion.
          const below = kinds[next] === nodeKind.end ? cell : this.#cell(next, cell);
          visit(below * nodes + rules[called[node]!]!);
          break;
        }
        default:
          if (cell === 0) canEnd = true;
          else visit(this.#cellBelow[cell]! * nodes + this.#cellNodes[cell]!);
      }
      if (seen.size > grammarLimits.stacks)
        throw new LocallmError("grammar_too_wide", { stacks: grammarLimits.stacks });
    }
    waiting.sort((a, b) => a - b);
    const key = `${canEnd ? "e" : ""}${waiting.join()}`;
    let position = this.#positions.get(key);
    if (position === undefined) {
      if (this.#positions.size >= maxPositions) this.#forget();
      position = new GrammarPosition(canEnd, waiting, (byte, from, own) => this.#after(byte, from, own));
      this.#positions.set(key, position);
    }
    return position;
  }

  #after(byte: number, threads: readonly number[], work: Work): GrammarPosition | null {
    const { sets, nexts } = this.#grammar;
    const nodes = nexts.length;
    const moved: number[] = [];
    work.spend(threads.length);
    for (const thread of threads) {
      const node = thread % nodes;
      if (sets[node]![byte] === 1) moved.push(thread - node + nexts[node]!);
    }
    return moved.length === 0 ? null : this.#position([...new Set(moved)], work);
  }

  #cell(node: number, below: number): number {
    const key = below * this.#grammar.kinds.length + node;
    const known = this.#cells.get(key);
    if (known !== undefined) return known;
    const cell = this.#cellNodes.length;
    if (cell >= maxCells) throw new LocallmError("grammar_too_wide", { stacks: maxCells });
    this.#cellNodes.push(node);
    this.#cellBelow.push(below);
    this.#cells.set(key, cell);
    return cell;
  }

  /**
   * Clears the cache. Answers keep their current position, and other positions are created again when needed.
   */
  #forget(): void {
    for (const position of this.#positions.values()) position.forget();
    this.#positions = new Map();
  }
}

const maxPositions = 8_000;
const maxCells = 1_000_000;

type Step = (byte: number, threads: readonly number[], work: Work) => GrammarPosition | null;

class GrammarPosition implements Position {
  readonly canEnd: boolean;
  readonly isFree = false;
  readonly #threads: readonly number[];
  readonly #step: Step;
  #after: (GrammarPosition | null | undefined)[] = [];

  constructor(canEnd: boolean, threads: readonly number[], step: Step) {
    this.canEnd = canEnd;
    this.#threads = threads;
    this.#step = step;
  }

  after(byte: number, work: Work): GrammarPosition | null {
    const known = this.#after[byte];
    if (known !== undefined) return known;
    const next = this.#step(byte, this.#threads, work);
    this.#after[byte] = next;
    return next;
  }

  forget(): void {
    this.#after = [];
  }
}
