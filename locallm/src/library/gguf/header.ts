import { open } from "node:fs/promises";
import { counted } from "../../wire/counted.ts";
import { LocallmError } from "../../wire/errors.ts";
import { ForwardReader } from "./bytes.ts";
import { tensorType } from "./quantisation.ts";

/**
 * Limits of a GGUF header. Real models stay far below them. A file that exceeds one is rejected before memory is
 * allocated for it.
 */
export const ggufLimits = {
  stringBytes: 16 * 1024 * 1024,
  arrayLength: 64 * 1024 * 1024,
  metadataEntries: 65_536,
  /** Total size of the metadata kept in memory, names and values. */
  keptBytes: 24 * 1024 * 1024,
  /** Size of the whole header, including skipped arrays. */
  headerBytes: 1024 * 1024 * 1024,
  tensors: 131_072,
  dimensions: 4,
  nameBytes: 65_535,
  /** ggml's limit for tensor names, including the terminating zero. */
  tensorNameBytes: 64,
  alignment: 1024 * 1024,
  /** Maximum number of strings in the vocabulary, which is searched for duplicates. */
  distinctLength: 4 * 1024 * 1024,
} as const;

export type GgufItemType =
  | "u8"
  | "i8"
  | "u16"
  | "i16"
  | "u32"
  | "i32"
  | "f32"
  | "bool"
  | "string"
  | "u64"
  | "i64"
  | "f64";
/**
 * A scalar value. 64-bit integers are numbers, rounded above 2^53. 32-bit floats are the shortest decimal
 * that converts to them.
 */
export type GgufScalar = number | boolean | string;

/** A metadata array. `items` is null unless the caller requested them. */
export interface GgufArray {
  itemType: GgufItemType;
  length: number;
  items: GgufScalar[] | null;
}

export interface GgufTensor {
  name: string;
  /** ggml's name in capitals: `F32`, `Q4_K`. */
  type: string;
  shape: number[];
  /** Offset from the start of the file. */
  offsetBytes: number;
  sizeBytes: number;
}

export interface GgufHeader {
  version: number;
  metadata: ReadonlyMap<string, GgufScalar | GgufArray>;
  /** The type of each scalar entry, to tell integers from floats. */
  scalarTypes: ReadonlyMap<string, GgufItemType>;
  /** The strings requested with `pick`, by index. */
  picked: ReadonlyMap<number, string>;
  /** Index pairs of strings with equal hashes in the `distinct` array: almost certainly duplicates. */
  alike: readonly (readonly [number, number])[];
  tensors: GgufTensor[];
  parameterCount: number;
  /** File offset of the tensor data. */
  dataOffset: number;
  sizeBytes: number;
}

export interface GgufReadOptions {
  /**
   * Selects the arrays to read: those with up to 5 items, all, or by name. Other arrays keep only their type
   * and length.
   */
  arrays?: "short" | "all" | ((key: string) => boolean);
  /** Reads single strings of one array without keeping the rest in memory: some by index, and those of `texts`. */
  pick?: { key: string; indices: ReadonlySet<number>; texts?: ReadonlySet<string> };
  /** Name of a string array to search for duplicates. */
  distinct?: string;
  /** Replaces `ggufLimits.keptBytes`, for a file that has already passed the check. */
  keptBytes?: number;
}

/**
 * Reads header, metadata and tensor table within fixed limits of memory and time. Throws `invalid_gguf` with the rule
 * that the file breaks; messages never contain a path.
 */
export async function readGguf(path: string, options: GgufReadOptions = {}): Promise<GgufHeader> {
  const file = await open(path, "r");
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw broken("it is not a regular file");
    return await new HeaderReader(new ForwardReader(file, stat.size), options).read();
  } finally {
    await file.close();
  }
}

const shortArrayLength = 5;
const itemTypes: readonly (GgufItemType | "array")[] = [
  "u8",
  "i8",
  "u16",
  "i16",
  "u32",
  "i32",
  "f32",
  "bool",
  "string",
  "array",
  "u64",
  "i64",
  "f64",
];
const itemBytes: Readonly<Record<Exclude<GgufItemType, "string">, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  bool: 1,
  u64: 8,
  i64: 8,
  f64: 8,
};

class HeaderReader {
  #bytes: ForwardReader;
  #arrays: NonNullable<GgufReadOptions["arrays"]>;
  #pick: GgufReadOptions["pick"];
  #picked = new Map<number, string>();
  #distinct: string | undefined;
  #alike: [number, number][] = [];
  #metadata = new Map<string, GgufScalar | GgufArray>();
  #scalarTypes = new Map<string, GgufItemType>();
  #keptBytes = 0;
  #keptLimitBytes: number;

  constructor(bytes: ForwardReader, options: GgufReadOptions) {
    this.#bytes = bytes;
    this.#arrays = options.arrays ?? "short";
    this.#pick = options.pick;
    this.#distinct = options.distinct;
    this.#keptLimitBytes = options.keptBytes ?? ggufLimits.keptBytes;
  }

  async read(): Promise<GgufHeader> {
    const bytes = this.#bytes;
    if (bytes.sizeBytes < 24) throw broken(`a file of ${counted(bytes.sizeBytes, "byte")} is too short`);
    await bytes.need(24);
    if (bytes.take(4).toString("latin1") !== "GGUF") throw broken("it does not start with the letters GGUF");
    const version = bytes.u32();
    if (version === 0x02000000 || version === 0x03000000) throw broken("big-endian files are not supported");
    if (version !== 2 && version !== 3) throw broken(`version ${version} is not supported, only 2 and 3`);
    const tensorCount = count(bytes.u64(), ggufLimits.tensors, "tensors");
    const entryCount = count(bytes.u64(), ggufLimits.metadataEntries, "metadata entries");
    for (let entry = 0; entry < entryCount; entry++) await this.#entry();
    const table = await this.#tensorTable(tensorCount);
    return {
      version,
      metadata: this.#metadata,
      scalarTypes: this.#scalarTypes,
      picked: this.#picked,
      alike: this.#alike,
      ...table,
    };
  }

  async #entry(): Promise<void> {
    if (this.#bytes.offset > ggufLimits.headerBytes) {
      throw broken(`the header is larger than ${ggufLimits.headerBytes} bytes`);
    }
    const key = await this.#string(ggufLimits.nameBytes, "a metadata name");
    if (key === "") throw broken("a metadata entry has no name");
    if (this.#metadata.has(key)) throw broken(`metadata "${printable(key)}" occurs twice`);
    await this.#bytes.need(4);
    const type = itemTypes[this.#bytes.u32()];
    if (type === undefined) throw broken(`metadata "${printable(key)}" has an unknown type`);
    if (type === "array") {
      this.#metadata.set(key, await this.#array(key));
    } else {
      this.#metadata.set(key, await this.#scalar(type, key));
      this.#scalarTypes.set(key, type);
    }
  }

  async #scalar(type: GgufItemType, key: string): Promise<GgufScalar> {
    if (type === "string") return await this.#string(ggufLimits.stringBytes, `metadata "${printable(key)}"`);
    await this.#bytes.need(itemBytes[type]);
    return this.#takeScalar(type, key);
  }

  #takeScalar(type: Exclude<GgufItemType, "string">, key: string): number | boolean {
    const bytes = this.#bytes;
    switch (type) {
      case "bool": {
        const value = bytes.u8();
        if (value > 1) throw broken(`metadata "${printable(key)}" is a bool with the value ${value}`);
        return value === 1;
      }
      case "f32":
        return shortestFloat(bytes.f32());
      case "u64":
      case "i64":
        return Number(bytes[type]());
      default:
        return bytes[type]();
    }
  }

  async #array(key: string): Promise<GgufArray> {
    const bytes = this.#bytes;
    await bytes.need(12);
    const itemType = itemTypes[bytes.u32()];
    if (itemType === undefined || itemType === "array") {
      throw broken(`metadata "${printable(key)}" is an array of an unknown or nested type`);
    }
    const length = count(bytes.u64(), ggufLimits.arrayLength, `items in "${printable(key)}"`);
    const least = length * (itemType === "string" ? 8 : itemBytes[itemType]);
    if (least > bytes.sizeBytes - bytes.offset) {
      throw broken(`"${printable(key)}" declares ${length} items, more than fit in the file`);
    }
    const wanted =
      this.#arrays === "all" || (this.#arrays === "short" ? length <= shortArrayLength : this.#arrays(key));
    if (!wanted) {
      if (itemType === "string") await this.#passStrings(length, key);
      else await bytes.skip(length * itemBytes[itemType]);
      return { itemType, length, items: null };
    }
    const items: GgufScalar[] = [];
    for (let index = 0; index < length; index++) {
      this.#keep(16);
      items.push(await this.#scalar(itemType, key));
    }
    return { itemType, length, items };
  }

  async #passStrings(length: number, key: string): Promise<void> {
    const bytes = this.#bytes;
    const picks = this.#pick?.key === key ? this.#pick : null;
    const texts = new Set([...(picks?.texts ?? [])].map((text) => Buffer.from(text).toString("latin1")));
    const longest = Math.max(0, ...[...texts].map(({ length: bytes }) => bytes));
    const hashes = key === this.#distinct ? new Float64Array(distinctLength(length, key)) : null;
    for (let index = 0; index < length; index++) {
      if (bytes.ready < 8) await bytes.need(8);
      const low = bytes.u32();
      if (bytes.u32() !== 0 || low > ggufLimits.stringBytes) {
        throw broken(`a string in "${printable(key)}" is longer than ${ggufLimits.stringBytes} bytes`);
      }
      if (picks?.indices.has(index)) {
        this.#keep(low);
        await bytes.need(low);
        this.#picked.set(index, bytes.take(low).toString("utf8"));
      } else if (hashes !== null || low <= longest) {
        await bytes.need(low);
        const text = bytes.take(low);
        if (hashes !== null) hashes[index] = hash53(text, index);
        if (low <= longest && texts.has(text.toString("latin1")))
          this.#picked.set(index, text.toString("utf8"));
      } else if (bytes.ready >= low) bytes.take(low);
      else await bytes.skip(low);
    }
    if (hashes !== null) this.#alike = alikePairs(hashes);
  }

  async #string(limitBytes: number, what: string): Promise<string> {
    await this.#bytes.need(8);
    const length = this.#bytes.u64();
    if (length > limitBytes) throw broken(`${what} is longer than ${limitBytes} bytes`);
    this.#keep(Number(length));
    await this.#bytes.need(Number(length));
    return this.#bytes.take(Number(length)).toString("utf8");
  }

  #keep(bytes: number): void {
    this.#keptBytes += bytes;
    if (this.#keptBytes > this.#keptLimitBytes) {
      throw broken(`its metadata exceeds ${this.#keptLimitBytes} bytes`);
    }
  }

  async #tensorTable(tensorCount: number) {
    const bytes = this.#bytes;
    const alignment = this.#alignment();
    const tensors: GgufTensor[] = [];
    const names = new Set<string>();
    let parameterCount = 0;
    let expectedOffset = 0;
    for (let index = 0; index < tensorCount; index++) {
      const name = await this.#string(ggufLimits.tensorNameBytes - 1, "a tensor's name");
      if (names.has(name)) throw broken(`tensor "${printable(name)}" occurs twice`);
      names.add(name);
      const { typeId, shape } = await this.#shape(name);
      await bytes.need(8);
      const offset = bytes.u64();
      const type = tensorType(typeId);
      if (type === undefined) throw broken(`tensor "${printable(name)}" has the unknown type ${typeId}`);
      if ((shape[0] ?? 1) % type.blockLength !== 0) {
        throw broken(
          `tensor "${printable(name)}" has rows of ${shape[0]} elements; ${type.name} needs a multiple of ${type.blockLength}`,
        );
      }
      const elements = shape.reduce((product, length) => product * length, 1);
      const sizeBytes = (elements / type.blockLength) * type.blockBytes;
      if (!Number.isSafeInteger(elements) || sizeBytes > bytes.sizeBytes) {
        throw broken(`tensor "${printable(name)}" is larger than the file`);
      }
      // The engine requires each tensor to follow the previous one directly after padding, so that none can overlap.
      if (offset !== BigInt(expectedOffset)) {
        throw broken(
          `tensor "${printable(name)}" starts at ${offset} instead of ${expectedOffset}, the end of the previous tensor`,
        );
      }
      tensors.push({ name, type: type.name, shape, offsetBytes: expectedOffset, sizeBytes });
      parameterCount += elements;
      expectedOffset = padded(expectedOffset + sizeBytes, alignment);
    }
    const dataOffset = padded(bytes.offset, alignment);
    for (const tensor of tensors) {
      tensor.offsetBytes += dataOffset;
      if (tensor.offsetBytes + tensor.sizeBytes > bytes.sizeBytes) {
        throw broken(
          `tensor "${printable(tensor.name)}" ends at byte ${tensor.offsetBytes + tensor.sizeBytes}; the file has ${bytes.sizeBytes}`,
        );
      }
    }
    return { tensors, parameterCount, dataOffset, sizeBytes: bytes.sizeBytes };
  }

  async #shape(name: string): Promise<{ typeId: number; shape: number[] }> {
    const bytes = this.#bytes;
    await bytes.need(4);
    const dimensions = bytes.u32();
    if (dimensions > ggufLimits.dimensions) {
      throw broken(
        `tensor "${printable(name)}" has ${dimensions} dimensions, more than ${ggufLimits.dimensions}`,
      );
    }
    await bytes.need(dimensions * 8 + 4);
    const shape: number[] = [];
    for (let dimension = 0; dimension < dimensions; dimension++) {
      const length = bytes.u64();
      if (length === 0n || length > BigInt(Number.MAX_SAFE_INTEGER)) {
        throw broken(`tensor "${printable(name)}" has a dimension of ${length}`);
      }
      shape.push(Number(length));
    }
    return { typeId: bytes.u32(), shape };
  }

  #alignment(): number {
    const value = this.#metadata.get("general.alignment") ?? 32;
    // The engine requires tensors at multiples of 32.
    if (
      typeof value !== "number" ||
      value < 32 ||
      value > ggufLimits.alignment ||
      (value & (value - 1)) !== 0
    ) {
      throw broken(`general.alignment must be a power of two from 32 to ${ggufLimits.alignment}`);
    }
    return value;
  }
}

function distinctLength(length: number, key: string): number {
  if (length > ggufLimits.distinctLength) {
    throw broken(`"${printable(key)}" has ${length} items, more than ${ggufLimits.distinctLength}`);
  }
  return length;
}

/**
 * A string hash: two runs of FNV-1a, truncated to 53 bits. The engine reads a string up to its first zero
 * byte and names an empty string by its index, so the hash does the same.
 */
function hash53(bytes: Uint8Array, index: number): number {
  if ((bytes[0] ?? 0) === 0) return -1 - index;
  let first = 0x811c9dc5;
  let second = 0x2f0b4a27;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 0) break;
    first = Math.imul(first ^ byte, 0x01000193);
    second = Math.imul(second ^ byte, 0x01000193) ^ (second >>> 15);
  }
  return (first >>> 0) * 2 ** 21 + (second >>> 11);
}

function alikePairs(hashes: Float64Array): [number, number][] {
  const sorted = hashes.toSorted();
  const repeated = new Set<number>();
  for (let at = 1; at < sorted.length && repeated.size < 16; at++) {
    if (sorted[at] === sorted[at - 1]) repeated.add(sorted[at] ?? 0);
  }
  return [...repeated].map((hash) => [hashes.indexOf(hash), hashes.lastIndexOf(hash)]);
}

function count(value: bigint, limit: number, what: string): number {
  if (value > limit) throw broken(`it declares ${value} ${what}, more than ${limit}`);
  return Number(value);
}

function padded(offset: number, alignment: number): number {
  return Math.ceil(offset / alignment) * alignment;
}

/**
 * Returns the shortest equivalent decimal. For example, 1e-5 stored in 32 bits reads as 0.000009999999747….
 */
function shortestFloat(value: number): number {
  // Nine digits are enough for any.
  for (let digits = 6; digits <= 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return value;
}

function printable(text: string): string {
  return text.slice(0, 80).replace(/[^\x20-\x7e]/g, "?");
}

function broken(rule: string): LocallmError {
  return new LocallmError("invalid_gguf", { rule });
}
