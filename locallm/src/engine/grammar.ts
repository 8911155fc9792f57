import { LocallmError } from "../wire/errors.ts";
import type { Grammar } from "../wire/inference/generate.ts";
import { Candidates } from "./candidates.ts";
import { Automaton, type Position } from "./grammar/automaton.ts";
import { freeText } from "./grammar/free-text.ts";
import { TokenTree } from "./grammar/token-tree.ts";
import { threadTimeMs, Work } from "./grammar/work.ts";
import type { Functions, Pointer } from "./libllama/functions.ts";
import type { Vocabulary } from "./vocabulary.ts";

/**
 * The grammars of one model. We do not use the engine's own grammar sampler: its stacks and its time are
 * unbounded, its calls cannot be interrupted, and unexpected text ends the process.
 */
export class Grammars {
  readonly #library: Functions;
  readonly #vocabulary: Vocabulary;
  readonly #clockMs: () => number;
  readonly #trees = new Map<boolean, TokenTree>();
  readonly #candidates: Candidates;
  /** Cached, because clients send the same tools and schemas repeatedly. Oldest first. */
  readonly #known = new Map<string, KnownGrammar>();

  constructor(
    library: Functions,
    vocabulary: Vocabulary,
    candidates = new Candidates(library, vocabulary.size),
    clockMs: () => number = threadTimeMs,
  ) {
    this.#library = library;
    this.#candidates = candidates;
    this.#vocabulary = vocabulary;
    this.#clockMs = clockMs;
  }

  /**
   * Returns the gate for one answer. With `special`, control tokens have their names as text. Throws
   * `invalid_grammar` and `grammar_too_slow`.
   */
  gate(grammar: Grammar, special: boolean): GrammarGate {
    const work = new Work(this.#clockMs);
    const { gbnf, root = "root", lazy } = grammar;
    const known = this.#knownGrammar(gbnf, work);
    const bound = work.measure(() => known.automaton.start(root, work));
    const start =
      lazy === undefined ? bound : freeText({ words: lazy.words ?? [], start: lazy.start ?? null }, bound);
    return new GrammarGate({
      library: this.#library,
      start,
      work,
      textOf: (token) => (this.#vocabulary.isEnd(token) ? null : this.#vocabulary.piece(token, special)),
      allowed: (position) => known.allowed(position, () => work.unmeasured(() => this.#tree(special)), work),
      candidates: this.#candidates,
    });
  }

  #knownGrammar(gbnf: string, work: Work): KnownGrammar {
    const known = this.#known.get(gbnf) ?? new KnownGrammar(work.measure(() => new Automaton(gbnf, work)));
    this.#known.delete(gbnf);
    this.#known.set(gbnf, known);
    for (const oldest of this.#known.keys()) if (this.#known.size > keptGrammars) this.#known.delete(oldest);
    return known;
  }

  #tree(special: boolean): TokenTree {
    let tree = this.#trees.get(special);
    if (tree === undefined) {
      tree = new TokenTree(this.#vocabulary, special);
      this.#trees.set(special, tree);
    }
    return tree;
  }
}

const keptGrammars = 4;
const keptAllowedBytes = 8 << 20;

class KnownGrammar {
  readonly automaton: Automaton;
  /** The allowed tokens at each position as a bit set. Oldest first. */
  readonly #allowed = new Map<Position, Uint32Array>();
  #allowedBytes = 0;

  constructor(automaton: Automaton) {
    this.automaton = automaton;
  }

  allowed(position: Position, tree: () => TokenTree, work: Work): Uint32Array {
    const known = this.#allowed.get(position);
    if (known !== undefined) return known;
    const bits = tree().allowed(position, work);
    this.#allowed.set(position, bits);
    this.#allowedBytes += bits.byteLength;
    for (const [oldest, { byteLength }] of this.#allowed) {
      if (this.#allowedBytes <= keptAllowedBytes) break;
      this.#allowed.delete(oldest);
      this.#allowedBytes -= byteLength;
    }
    return bits;
  }
}

interface GateParts {
  readonly library: Functions;
  readonly start: Position;
  readonly work: Work;
  /** Returns null for a token that ends the answer. */
  readonly textOf: (token: number) => Uint8Array | null;
  readonly allowed: (position: Position) => Uint32Array;
  readonly candidates: Candidates;
}

/**
 * Keeps one answer within its grammar. It first samples from all tokens. Only if the grammar rejects the
 * result, it samples again from the allowed tokens.
 */
export class GrammarGate {
  readonly #parts: GateParts;
  #position: Position;

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#position = parts.start;
  }

  /**
   * Samples a token that the grammar allows, and accepts it. `remembers` means that the sampler chain counts
   * accepted tokens, so it must not accept a token that the grammar rejects. `reach` is how many of the most likely
   * tokens the chain can draw, or 0.
   */
  sample(chain: Pointer, remembers: boolean, reach: number, context: Pointer, index: number): number {
    const { library, work, candidates } = this.#parts;
    let token =
      (reach > 0 ? candidates.drawLikeliest(chain, context, index, reach) : null) ??
      (remembers
        ? candidates.draw(chain, context, index, null)
        : library.llama_sampler_sample(chain, context, index));
    work.token(() => {
      let next = this.#after(token);
      if (next === null) {
        token = candidates.draw(chain, context, index, this.#parts.allowed(this.#position));
        next = this.#after(token);
        if (next === null) throw new LocallmError("grammar_stuck", {});
      }
      this.#position = next;
    });
    if (remembers) library.llama_sampler_accept(chain, token);
    return token;
  }

  #after(token: number): Position | null {
    const text = this.#parts.textOf(token);
    if (text === null) return this.#position.canEnd ? this.#position : null;
    // A control token without text changes nothing before the trigger. Inside a grammar it is rejected,
    // because it could repeat forever.
    if (text.length === 0) return this.#position.isFree ? this.#position : null;
    let position: Position | null = this.#position;
    for (let at = 0; at < text.length && position !== null; at += 1)
      position = position.after(text[at]!, this.#parts.work);
    return position;
  }
}
