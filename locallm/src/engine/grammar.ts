import koffi from "koffi";
import { LocallmError } from "../wire/errors.ts";
import type { Grammar } from "./job.ts";
import type { Functions, Pointer } from "./libllama/functions.ts";
import type { Vocabulary } from "./vocabulary.ts";

/**
 * Holds an answer to a grammar. A token is drawn freely first and the grammar asked about that one alone;
 * only when it says no is the whole vocabulary put through it, which is slow.
 *
 * The lazy kind is ours, not the library's: there a text that its trigger lets in but its grammar refuses
 * throws in C++, which through a foreign call ends the process.
 */
export class GrammarGate {
  readonly #library: Functions;
  readonly #vocabulary: Vocabulary;
  readonly #grammar: Grammar;
  readonly #trigger: Trigger | null;
  readonly #candidates: Candidates;
  /** Null while a lazy grammar waits for its trigger. */
  #sampler: Pointer | null;

  constructor(library: Functions, vocabulary: Vocabulary, grammar: Grammar) {
    this.#library = library;
    this.#vocabulary = vocabulary;
    this.#grammar = grammar;
    this.#candidates = new Candidates(library, vocabulary.size);
    this.#trigger = grammar.lazy === undefined ? null : new Trigger(vocabulary, grammar.lazy);
    const sampler = this.#begin();
    this.#sampler = this.#trigger === null ? sampler : null;
    // A lazy one is made once all the same, so that a bad grammar is refused before the first token.
    if (this.#trigger !== null) library.llama_sampler_free(sampler);
  }

  /** Draws with `chain` what the grammar allows; the token counts as taken by both. */
  sample(chain: Pointer, context: Pointer, index: number): number {
    const candidates = this.#candidates;
    candidates.fill(context, index);
    let token = candidates.draw(chain);
    if (this.#sampler === null) {
      token = this.#drawFree(chain, context, index, token);
    } else if (!candidates.allows(this.#sampler, token)) {
      candidates.fill(context, index);
      candidates.apply(this.#sampler);
      token = candidates.draw(chain);
    }
    this.#library.llama_sampler_accept(chain, token);
    if (this.#sampler !== null && !this.#accepted) this.#library.llama_sampler_accept(this.#sampler, token);
    this.#accepted = false;
    return token;
  }

  /** Whether the grammar already took the token in when its trigger fired. */
  #accepted = false;

  /** Before the trigger: anything goes, but for a token that fires it and then breaks the grammar. */
  #drawFree(chain: Pointer, context: Pointer, index: number, first: number): number {
    const refused: number[] = [];
    let token = first;
    while (refused.length < maxRefused) {
      const begun = this.#trigger?.look(token);
      if (begun === undefined || begun === null) break;
      const sampler = this.#begin();
      if (begun.every((id) => this.#take(sampler, id))) {
        this.#sampler = sampler;
        this.#accepted = true;
        break;
      }
      this.#library.llama_sampler_free(sampler);
      refused.push(token);
      this.#candidates.fill(context, index);
      this.#candidates.forbid(refused);
      token = this.#candidates.draw(chain);
    }
    this.#trigger?.take(token);
    return token;
  }

  #take(sampler: Pointer, token: number): boolean {
    if (!this.#candidates.allows(sampler, token)) return false;
    this.#library.llama_sampler_accept(sampler, token);
    return true;
  }

  #begin(): Pointer {
    const { gbnf, root = "root" } = this.#grammar;
    const sampler = this.#library.llama_sampler_init_grammar(this.#vocabulary.pointer, gbnf, root);
    if (sampler !== null) return sampler;
    throw new LocallmError("invalid_grammar", { reason: `it does not parse, or has no rule "${root}"` });
  }

  free(): void {
    if (this.#sampler !== null) this.#library.llama_sampler_free(this.#sampler);
    this.#sampler = null;
  }
}

/** After so many refused tokens the answer goes on without its grammar, rather than for ever. */
const maxRefused = 16;

/** Watches the free text of a lazy grammar. */
class Trigger {
  readonly #vocabulary: Vocabulary;
  readonly #tokens: ReadonlySet<number>;
  readonly #patterns: readonly RegExp[];
  #bytes = Buffer.alloc(0);

  constructor(vocabulary: Vocabulary, lazy: NonNullable<Grammar["lazy"]>) {
    this.#vocabulary = vocabulary;
    this.#tokens = new Set(lazy.tokens);
    this.#patterns = [
      ...(lazy.words ?? []).map((word) => new RegExp(`(${RegExp.escape(word)})`, "ds")),
      ...(lazy.patterns ?? []).map(pattern),
    ];
  }

  /** If this token fires the trigger: the tokens that the grammar begins with. */
  look(token: number): readonly number[] | null {
    if (this.#tokens.has(token)) return [token];
    const text = this.#with(token).toString();
    for (const pattern of this.#patterns) {
      const match = pattern.exec(text);
      if (match === null) continue;
      const begin = match.indices?.[1]?.[0] ?? match.index;
      return this.#vocabulary.tokenize(text.slice(begin), { addSpecial: false, parseSpecial: true });
    }
    return null;
  }

  take(token: number): void {
    this.#bytes = this.#with(token);
  }

  #with(token: number): Buffer<ArrayBuffer> {
    return Buffer.concat([this.#bytes, this.#vocabulary.piece(token, true)]);
  }
}

function pattern(source: string): RegExp {
  try {
    return new RegExp(source, "ds");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LocallmError("invalid_grammar", { reason }, { cause });
  }
}

const candidateBytes = 12;

/** The library's `llama_token_data_array` over the whole vocabulary, in our memory. */
class Candidates {
  readonly #library: Functions;
  readonly #size: number;
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #logits: Float32Array<ArrayBuffer>;
  readonly #address: bigint;
  /** Address, count, selected, sorted: 8 bytes each. */
  readonly #array = new BigInt64Array(new ArrayBuffer(32));
  readonly #one = new Int32Array(new ArrayBuffer(16));
  readonly #oneLogit = new Float32Array(this.#one.buffer);

  constructor(library: Functions, size: number) {
    this.#library = library;
    this.#size = size;
    const block = new ArrayBuffer(size * candidateBytes);
    this.#words = new Int32Array(block);
    this.#logits = new Float32Array(block);
    this.#address = koffi.address(block) as bigint;
  }

  fill(context: Pointer, index: number): void {
    const address = this.#library.llama_get_logits_ith(context, index);
    if (address === null) throw new LocallmError("decode_failed", { reason: "the step gave no logits" });
    const logits = new Float32Array(koffi.view(address, this.#size * 4));
    for (let token = 0, at = 0; token < this.#size; token++, at += 3) {
      this.#words[at] = token;
      this.#logits[at + 1] = logits[token]!;
      this.#logits[at + 2] = 0;
    }
    this.#point(this.#address, this.#size);
  }

  forbid(tokens: readonly number[]): void {
    for (const token of tokens) this.#logits[token * 3 + 1] = Number.NEGATIVE_INFINITY;
  }

  apply(sampler: Pointer): void {
    this.#library.llama_sampler_apply(sampler, this.#array);
  }

  /** Lets the chain choose; nothing counts as taken yet. */
  draw(chain: Pointer): number {
    this.apply(chain);
    const [data = 0n, , selected = -1n] = this.#array;
    if (selected < 0n) throw new LocallmError("decode_failed", { reason: "no token could be drawn" });
    return koffi.decode(data + selected * BigInt(candidateBytes), "int32_t") as number;
  }

  /** Whether a grammar would let this token through now. */
  allows(sampler: Pointer, token: number): boolean {
    this.#one[0] = token;
    this.#oneLogit[1] = 1;
    this.#point(koffi.address(this.#one) as bigint, 1);
    this.apply(sampler);
    return this.#oneLogit[1] !== Number.NEGATIVE_INFINITY;
  }

  #point(address: bigint, count: number): void {
    this.#array[0] = address;
    this.#array[1] = BigInt(count);
    this.#array[2] = -1n;
    this.#array[3] = 0n;
  }
}
