/** So many tokens may be looked at closely. */
const room = 2048;
/** Every so manieth score is read to guess where the highest ones begin. */
const stride = 32;
/** Fewer scores than this for each that is wanted are not worth a search. */
const leastShare = 32;
/** Scores are compared in blocks of 16, and tokens are noted by the address of their score. */
const block = 16;
const scoreBytes = 4;

/**
 * The most likely tokens of an output. Sampling usually needs some dozens of them, but the engine's samplers copy and
 * partly sort all of them, in memory of each answer's own.
 */
export class Shortlist {
  /** The tokens that were found, in the order of their ids, and their scores. */
  readonly tokens = new Int32Array(room);
  readonly scores = new Float32Array(room);
  readonly #all: Float32Array;
  readonly #size: number;
  readonly #found: Int32Array;
  readonly #above: Above;
  readonly #sorted = new Float32Array(room);
  readonly #sample = new Float32Array(room);

  /** `size` is the number of scores of an output. */
  constructor(size: number) {
    this.#size = size;
    const padded = Math.ceil(size / block) * block;
    const bytes = (padded + room + block) * scoreBytes;
    const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / pageBytes) });
    this.#all = new Float32Array(memory.buffer, 0, padded).fill(Number.NEGATIVE_INFINITY);
    this.#found = new Int32Array(memory.buffer, padded * scoreBytes, room + block);
    this.#above = new WebAssembly.Instance(new WebAssembly.Module(searchModule), { js: { memory } }).exports[
      "above"
    ] as Above;
  }

  /**
   * Finds the `count` tokens with the highest scores. Returns false if equal scores leave a choice between tokens or
   * orders, which is the engine's to make, or if a search is not worth its time.
   */
  find(scores: Float32Array, count: number): boolean {
    if (count * 4 > room || this.#size < count * leastShare) return false;
    this.#all.set(scores);
    const rank = Math.ceil((count * 1.5) / stride) + 3;
    let found = this.#search(this.#guess(rank));
    if (found >= 0 && found < count) found = this.#search(this.#guess(rank * 3));
    if (found < count) return false;
    const sorted = this.#sorted.subarray(0, found);
    sorted.set(this.scores.subarray(0, found));
    sorted.sort();
    const from = found - count;
    for (let at = Math.max(1, from); at < found; at++) if (sorted[at] === sorted[at - 1]) return false;
    this.#keep(found, sorted[from]!);
    return true;
  }

  /** The score at this rank in a sample of all scores. */
  #guess(rank: number): number {
    const all = this.#all;
    const best = this.#sample.fill(Number.NEGATIVE_INFINITY, 0, rank);
    const last = rank - 1;
    for (let token = 0; token < all.length; token += stride) {
      const score = all[token]!;
      if (!(score > best[last]!)) continue;
      let at = last;
      for (; at > 0 && best[at - 1]! < score; at--) best[at] = best[at - 1]!;
      best[at] = score;
    }
    return best[last]!;
  }

  /** Notes the tokens with at least this score, and returns their number; -1 if they are too many. */
  #search(least: number): number {
    const all = this.#all;
    const from = all.byteLength;
    const end = this.#above(from, least, from, from + room * scoreBytes);
    if (end === 0) return -1;
    const found = (end - from) / scoreBytes;
    for (let at = 0; at < found; at++) {
      const token = this.#found[at]! / scoreBytes;
      this.tokens[at] = token;
      this.scores[at] = all[token]!;
    }
    return found;
  }

  #keep(found: number, least: number): void {
    const { tokens, scores } = this;
    let kept = 0;
    for (let at = 0; at < found; at++) {
      if (scores[at]! < least) continue;
      tokens[kept] = tokens[at]!;
      scores[kept++] = scores[at]!;
    }
  }
}

/**
 * Stores the addresses of all scores below the address `end` that are at least `least`, from the address `out` on.
 * Returns the address after the last; 0 if that is behind `last`.
 */
type Above = (end: number, least: number, out: number, last: number) => number;

const pageBytes = 65_536;

/** Node has it, but its types do not. */
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> };
};

/** The parameters and local variables of `Above`. */
const [end, least, out, last, at, stop, limit] = [0, 1, 2, 3, 4, 5, 6];
const [i32, f32, v128, nothing] = [0x7f, 0x7d, 0x7b, 0x40];
const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const number = (value: number) => [0x41, (value & 127) | 128, value >> 7];
const [add, less, more, ifThen, otherwise, loop, close, leave] = [
  0x6a, 0x49, 0x4b, 0x04, 0x05, 0x03, 0x0b, 0x0f,
];
const again = [0x0d, 0];
const fourAt = (offset: number) => [...get(at), 0xfd, 0x00, 4, offset];
const greater = [0xfd, 0xeb, 0x01];
const step = (local: number, bytes: number) => [...get(local), ...number(bytes), add, ...set(local)];

/** WebAssembly, because it compares four scores at once: 16 rows in one test that nearly always fails. */
const body = [
  ...[2, 2, i32, 1, v128],
  ...[...get(least), 0xfd, 0x13, ...set(limit)],
  ...[loop, nothing],
  ...[...fourAt(0), ...fourAt(16), ...greater, ...fourAt(32), ...fourAt(48), ...greater, ...greater],
  // Whether any of the four greatest is at least the limit.
  ...[...get(limit), 0xfd, 0x46, 0xfd, 0x53],
  ...[ifThen, nothing, ...get(at), ...number(block * scoreBytes), add, ...set(stop)],
  ...[loop, nothing, ...get(at), 0x2a, 2, 0, ...get(least), 0x60],
  ...[ifThen, nothing, ...get(out), ...get(at), 0x36, 2, 0, ...step(out, scoreBytes), close],
  ...[...step(at, scoreBytes), ...get(at), ...get(stop), less, ...again, close],
  ...[...get(out), ...get(last), more, ifThen, nothing, ...number(0), leave, close],
  ...[otherwise, ...step(at, block * scoreBytes), close],
  ...[...get(at), ...get(end), less, ...again, close],
  ...[...get(out), close],
];

const text = (name: string) => [name.length, ...Buffer.from(name)];
const long = (length: number) => [(length & 127) | 128, length >> 7];
const section = (kind: number, content: readonly number[]) => [kind, ...long(content.length), ...content];

const searchModule = Uint8Array.from([
  ...[...Buffer.from("\0asm"), 1, 0, 0, 0],
  ...section(1, [1, 0x60, 4, i32, f32, i32, i32, 1, i32]),
  ...section(2, [1, ...text("js"), ...text("memory"), 2, 0, 1]),
  ...section(3, [1, 0]),
  ...section(7, [1, ...text("above"), 0, 0]),
  ...section(10, [1, ...long(body.length), ...body]),
]);
