import koffi from "koffi";
import type { NativeBatch } from "./libllama/functions.ts";

export interface BatchLimits {
  readonly rows: number;
  readonly sequences: number;
  /** Positions of one sequence. */
  readonly positions: number;
  readonly vocabSize: number;
  /** Rows of one step that may have an output. */
  readonly outputs: number;
}

/**
 * The rows of the next step, each with a token, its position and its sequence. The arrays are our memory. The
 * library reads them through their addresses without any check, so this class checks each row: a row out of
 * bounds would make the library access other memory of the process.
 */
export class Batch {
  readonly #limits: BatchLimits;
  readonly #native: NativeBatch;
  readonly #tokens: Int32Array<ArrayBuffer>;
  readonly #positions: Int32Array<ArrayBuffer>;
  readonly #sequences: BigUint64Array<ArrayBuffer>;
  readonly #sequenceAddresses: readonly bigint[];
  readonly #outputs: Int8Array<ArrayBuffer>;
  #count = 0;
  #outputCount = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
    const { rows, sequences } = limits;
    // One block for all arrays: a reference to any of them keeps the whole memory alive.
    const block = new ArrayBuffer(rows * 21 + sequences * 4);
    this.#sequences = new BigUint64Array(block, 0, rows);
    this.#tokens = new Int32Array(block, rows * 8, rows);
    this.#positions = new Int32Array(block, rows * 12, rows);
    const sequencesPerRow = new Int32Array(block, rows * 16, rows).fill(1);
    const ids = new Int32Array(block, rows * 20, sequences);
    for (let index = 0; index < sequences; index++) ids[index] = index;
    this.#outputs = new Int8Array(block, rows * 20 + sequences * 4, rows);
    const idsAddress = koffi.address(ids);
    this.#sequenceAddresses = Array.from(ids, (id) => idsAddress + BigInt(id * 4));
    this.#native = {
      n_tokens: 0,
      token: koffi.address(this.#tokens),
      embd: null,
      pos: koffi.address(this.#positions),
      n_seq_id: koffi.address(sequencesPerRow),
      seq_id: koffi.address(this.#sequences),
      logits: koffi.address(this.#outputs),
    };
  }

  get rows(): number {
    return this.#count;
  }

  /** The batch in the library's form, with the rows added so far. */
  get native(): NativeBatch {
    this.#native.n_tokens = this.#count;
    return this.#native;
  }

  clear(): void {
    this.#count = 0;
    this.#outputCount = 0;
  }

  /** Returns the row's index, which identifies its output after the step. Throws a RangeError. */
  add(token: number, position: number, sequence: number, output: boolean): number {
    const { rows, vocabSize, positions, sequences, outputs } = this.#limits;
    const index = this.#count;
    check("rows", index, rows);
    check("token", token, vocabSize);
    check("position", position, positions);
    check("sequence", sequence, sequences);
    if (output) check("outputs", this.#outputCount++, outputs);
    this.#count++;
    this.#tokens[index] = token;
    this.#positions[index] = position;
    this.#sequences[index] = this.#sequenceAddresses[sequence]!;
    this.#outputs[index] = output ? 1 : 0;
    return index;
  }

  /** Returns the row's index; throws a RangeError if the step has no output for it. */
  outputOf(index: number): number {
    check("output", index, this.#count);
    if (this.#outputs[index] !== 1) throw new RangeError(`row ${index} of the batch has no output`);
    return index;
  }
}

/** Also used for other values that are passed to the library by index. */
export function check(what: string, value: number, limit: number): void {
  if (Number.isInteger(value) && value >= 0 && value < limit) return;
  throw new RangeError(`${what} ${value} is out of bounds: it must be a whole number from 0 to ${limit - 1}`);
}
