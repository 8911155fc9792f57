import koffi from "koffi";
import { LocallmError } from "../wire/errors.ts";
import type { Functions, Pointer } from "./libllama/functions.ts";
import { readLogits } from "./logprobs.ts";
import { Shortlist } from "./shortlist.ts";

const candidateBytes = 12;

/**
 * A `llama_token_data_array` of the library in our memory. It contains all tokens or some of them. All answers of a model
 * share it.
 */
export class Candidates {
  readonly #library: Functions;
  readonly #size: number;
  #block = new Block(0);
  #shortlist: Shortlist | null = null;
  /** The fields address, count, selected and sorted, 8 bytes each. */
  readonly #array = new BigInt64Array(new ArrayBuffer(32));

  constructor(library: Functions, size: number) {
    this.#library = library;
    this.#size = size;
  }

  /**
   * Runs the sampler chain on the `count` most likely tokens, in the order of their ids. Does not accept a token. Returns
   * null, and runs nothing, if the chain has to see all tokens to draw the same one.
   */
  drawLikeliest(chain: Pointer, context: Pointer, index: number, count: number): number | null {
    this.#shortlist ??= new Shortlist(this.#size);
    const { tokens, scores } = this.#shortlist;
    if (!this.#shortlist.find(readLogits(this.#library, context, index, this.#size), count)) return null;
    this.#reserve(count);
    for (let row = 0; row < count; row += 1) this.#block.put(row, tokens[row]!, scores[row]!);
    return this.#apply(chain, count);
  }

  /**
   * Runs the sampler chain on the tokens whose bits are set, or on all tokens if `allowed` is null. Does not
   * accept a token.
   */
  draw(chain: Pointer, context: Pointer, index: number, allowed: Uint32Array | null): number {
    const logits = readLogits(this.#library, context, index, this.#size);
    this.#reserve(this.#size);
    const count = allowed === null ? this.#fillAll(logits) : this.#fill(logits, allowed);
    if (count === 0) throw new LocallmError("grammar_stuck", {});
    return this.#apply(chain, count);
  }

  #reserve(count: number): void {
    if (this.#block.size < count) this.#block = new Block(count);
  }

  #apply(chain: Pointer, count: number): number {
    this.#array[0] = this.#block.address;
    this.#array[1] = BigInt(count);
    this.#array[2] = -1n;
    this.#array[3] = 0n;
    this.#library.llama_sampler_apply(chain, this.#array);
    const [data = 0n, , selected = -1n] = this.#array;
    if (selected < 0n) throw new LocallmError("decode_failed", { reason: "no token could be sampled" });
    return koffi.decode(data + selected * BigInt(candidateBytes), "int32_t") as number;
  }

  #fillAll(logits: Float32Array): number {
    for (let token = 0; token < this.#size; token += 1) this.#block.put(token, token, logits[token]!);
    return this.#size;
  }

  #fill(logits: Float32Array, allowed: Uint32Array): number {
    let count = 0;
    for (let word = 0; word < allowed.length; word += 1) {
      for (let bits = allowed[word]!; bits !== 0; bits &= bits - 1) {
        const token = (word << 5) + 31 - Math.clz32(bits & -bits);
        this.#block.put(count++, token, logits[token]!);
      }
    }
    return count;
  }
}

/** The rows of the array: a token, its logit, and its probability. */
class Block {
  readonly size: number;
  readonly address: bigint;
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #logits: Float32Array<ArrayBuffer>;

  constructor(size: number) {
    const bytes = new ArrayBuffer(Math.max(1, size) * candidateBytes);
    this.size = size;
    this.#words = new Int32Array(bytes);
    this.#logits = new Float32Array(bytes);
    this.address = koffi.address(bytes) as bigint;
  }

  put(row: number, token: number, logit: number): void {
    const at = row * 3;
    this.#words[at] = token;
    this.#logits[at + 1] = logit;
    this.#logits[at + 2] = 0;
  }
}
