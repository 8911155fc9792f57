import koffi from "koffi";
import { LocallmError } from "../../wire/errors.ts";
import type { Functions, Pointer } from "../libllama/functions.ts";
import { readLogits } from "../logprobs.ts";

const candidateBytes = 12;

/** A `llama_token_data_array` of the library in our memory. It contains all tokens or some of them. */
export class Candidates {
  readonly #library: Functions;
  readonly #size: number;
  readonly #words: Int32Array<ArrayBuffer>;
  readonly #logits: Float32Array<ArrayBuffer>;
  readonly #address: bigint;
  /** The fields address, count, selected and sorted, 8 bytes each. */
  readonly #array = new BigInt64Array(new ArrayBuffer(32));

  constructor(library: Functions, size: number) {
    this.#library = library;
    this.#size = size;
    const block = new ArrayBuffer(size * candidateBytes);
    this.#words = new Int32Array(block);
    this.#logits = new Float32Array(block);
    this.#address = koffi.address(block) as bigint;
  }

  /**
   * Runs the sampler chain on the tokens whose bits are set, or on all tokens if `allowed` is null. Does not
   * accept a token.
   */
  draw(chain: Pointer, context: Pointer, index: number, allowed: Uint32Array | null): number {
    const logits = readLogits(this.#library, context, index, this.#size);
    const count = allowed === null ? this.#fillAll(logits) : this.#fill(logits, allowed);
    if (count === 0) throw new LocallmError("grammar_stuck", {});
    this.#array[0] = this.#address;
    this.#array[1] = BigInt(count);
    this.#array[2] = -1n;
    this.#array[3] = 0n;
    this.#library.llama_sampler_apply(chain, this.#array);
    const [data = 0n, , selected = -1n] = this.#array;
    if (selected < 0n) throw new LocallmError("decode_failed", { reason: "no token could be sampled" });
    return koffi.decode(data + selected * BigInt(candidateBytes), "int32_t") as number;
  }

  #fillAll(logits: Float32Array): number {
    for (let token = 0; token < this.#size; token += 1) this.#put(token, token, logits);
    return this.#size;
  }

  #fill(logits: Float32Array, allowed: Uint32Array): number {
    let count = 0;
    for (let word = 0; word < allowed.length; word += 1) {
      for (let bits = allowed[word]!; bits !== 0; bits &= bits - 1)
        this.#put(count++, (word << 5) + 31 - Math.clz32(bits & -bits), logits);
    }
    return count;
  }

  #put(row: number, token: number, logits: Float32Array): void {
    const at = row * 3;
    this.#words[at] = token;
    this.#logits[at + 1] = logits[token]!;
    this.#logits[at + 2] = 0;
  }
}
