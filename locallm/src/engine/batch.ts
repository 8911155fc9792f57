import koffi from "koffi";
import type { NativeBatch } from "./libllama/functions.ts";

export interface BatchLimits {
  readonly rows: number;
  readonly sequences: number;
  /** Positions of one sequence. */
  readonly positions: number;
  readonly vocabSize: number;
  /** How many numbers a row has that stands in place of a token. */
  readonly inputLength: number;
  /** Whether positions have four dimensions. */
  readonly hasGrids: boolean;
  /** Rows of one step that may have an output. */
  readonly outputs: number;
}

/** The position of a row in each dimension. Those after the first one count only for models with M-RoPE. */
export type Position = readonly [time: number, y: number, x: number, z: number];

/**
 * The rows of the next step, each with a position and a sequence: either all are tokens, or all are rows of numbers, as
 * pictures have them. The arrays are our memory. The library reads them through their addresses without any check, so
 * this class checks each row: a row out of bounds would make the library access other memory of the process.
 */
export class Batch {
  readonly #limits: BatchLimits;
  readonly #native: NativeBatch;
  readonly #tokens: Int32Array<ArrayBuffer>;
  readonly #tokensAddress: bigint;
  /** The numbers of rows without tokens. Empty until the first one. */
  #numbers = new Float32Array(0);
  /** The positions in the first dimension, and those in the others where the library reads them. */
  readonly #positions: Int32Array<ArrayBuffer>;
  /** The positions in the other three dimensions, where rows are added. */
  #others = new Int32Array(0);
  readonly #sequences: BigUint64Array<ArrayBuffer>;
  readonly #sequenceAddresses: readonly bigint[];
  readonly #outputs: Int8Array<ArrayBuffer>;
  #hasTokens = true;
  #count = 0;
  #outputCount = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
    const { rows, sequences } = limits;
    const dimensions = limits.hasGrids ? 4 : 1;
    // One block for all arrays: a reference to any of them keeps the whole memory alive.
    const block = new ArrayBuffer(rows * (17 + 4 * dimensions) + sequences * 4);
    this.#sequences = new BigUint64Array(block, 0, rows);
    this.#tokens = new Int32Array(block, rows * 8, rows);
    const sequencesPerRow = new Int32Array(block, rows * 12, rows).fill(1);
    this.#positions = new Int32Array(block, rows * 16, rows * dimensions);
    const idsAt = rows * (16 + 4 * dimensions);
    const ids = new Int32Array(block, idsAt, sequences);
    for (let index = 0; index < sequences; index++) ids[index] = index;
    this.#outputs = new Int8Array(block, idsAt + sequences * 4, rows);
    const idsAddress = koffi.address(ids);
    this.#sequenceAddresses = Array.from(ids, (id) => idsAddress + BigInt(id * 4));
    this.#tokensAddress = koffi.address(this.#tokens);
    this.#native = {
      n_tokens: 0,
      token: this.#tokensAddress,
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
    if (!this.#hasTokens && this.#limits.hasGrids)
      for (let dimension = 0; dimension < 3; dimension++) {
        const from = dimension * this.#limits.rows;
        const positions = this.#others.subarray(from, from + this.#count);
        this.#positions.set(positions, (dimension + 1) * this.#count);
      }
    return this.#native;
  }

  clear(): void {
    this.#count = 0;
    this.#outputCount = 0;
    if (this.#hasTokens) return;
    this.#hasTokens = true;
    this.#native.token = this.#tokensAddress;
    this.#native.embd = null;
  }

  /** Returns the row's index, which identifies its output after the step. Throws a RangeError. */
  add(token: number, position: number, sequence: number, output: boolean): number {
    check("token", token, this.#limits.vocabSize);
    if (!this.#hasTokens) throw new RangeError("a step cannot have tokens and pictures");
    const index = this.#append(position, sequence, output);
    this.#tokens[index] = token;
    return index;
  }

  /** Like `add`, for a row of numbers in place of a token. */
  addRow(numbers: Float32Array, position: Position, sequence: number, output: boolean): number {
    const { rows, inputLength, hasGrids, positions } = this.#limits;
    if (numbers.length !== inputLength)
      throw new RangeError(`a row of ${numbers.length} numbers must have ${inputLength}`);
    const [time, ...others] = position;
    for (const other of others) check("position", other, positions);
    if (this.#count === 0) this.#beginRows();
    else if (this.#hasTokens) throw new RangeError("a step cannot have tokens and pictures");
    const index = this.#append(time, sequence, output);
    this.#numbers.set(numbers, index * inputLength);
    if (hasGrids)
      for (const [dimension, other] of others.entries()) this.#others[dimension * rows + index] = other;
    return index;
  }

  #beginRows(): void {
    const { rows, inputLength, hasGrids } = this.#limits;
    if (this.#numbers.length === 0) {
      this.#numbers = new Float32Array(rows * inputLength);
      if (hasGrids) this.#others = new Int32Array(rows * 3);
    }
    this.#hasTokens = false;
    this.#native.token = null;
    this.#native.embd = koffi.address(this.#numbers);
  }

  #append(position: number, sequence: number, output: boolean): number {
    const { rows, positions, sequences, outputs } = this.#limits;
    const index = this.#count;
    check("rows", index, rows);
    check("position", position, positions);
    check("sequence", sequence, sequences);
    if (output) check("outputs", this.#outputCount++, outputs);
    this.#count++;
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
