import type { Vocabulary } from "../vocabulary.ts";
import type { Position } from "./automaton.ts";
import type { Work } from "./work.ts";

type Tokens = Pick<Vocabulary, "size" | "piece" | "isEnd">;

/**
 * The texts of all tokens as a tree of bytes in depth-first order. One step skips all tokens that begin with
 * disallowed bytes.
 */
export class TokenTree {
  readonly #vocabularySize: number;
  readonly #bytes: Uint8Array;
  readonly #depths: Uint16Array;
  /** The index after all descendants of each node. */
  readonly #skips: Int32Array;
  /** The first token that ends at each node, or -1. For each token, the next token with the same text. */
  readonly #tokens: Int32Array;
  readonly #same: Int32Array;
  readonly #deepest: number;
  /** Tokens that end an answer. */
  readonly #ends: readonly number[];

  /** With `special`, control tokens have their names as text; otherwise they have no text and are never allowed. */
  constructor(vocabulary: Tokens, special: boolean) {
    const texts: [text: string, token: number][] = [];
    const ends: number[] = [];
    for (let token = 0; token < vocabulary.size; token += 1) {
      if (vocabulary.isEnd(token)) {
        ends.push(token);
        continue;
      }
      const piece = vocabulary.piece(token, special);
      if (piece.length > 0 && piece.length < 0xffff)
        texts.push([Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1"), token]);
    }
    texts.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    const nodes = countNodes(texts);
    this.#vocabularySize = vocabulary.size;
    this.#ends = ends;
    this.#bytes = new Uint8Array(nodes);
    this.#depths = new Uint16Array(nodes);
    this.#skips = new Int32Array(nodes);
    this.#tokens = new Int32Array(nodes).fill(-1);
    this.#same = new Int32Array(vocabulary.size).fill(-1);
    this.#deepest = this.#fill(texts);
  }

  #fill(texts: readonly (readonly [string, number])[]): number {
    const path: number[] = [];
    let count = 0;
    let before = "";
    let deepest = 0;
    const close = (depth: number) => {
      while (path.length > depth) this.#skips[path.pop()!] = count;
    };
    for (const [text, token] of texts) {
      close(commonLength(before, text));
      for (let depth = path.length; depth < text.length; depth += 1) {
        this.#bytes[count] = text.charCodeAt(depth);
        this.#depths[count] = depth;
        path.push(count);
        count += 1;
      }
      const node = path.at(-1)!;
      this.#same[token] = this.#tokens[node]!;
      this.#tokens[node] = token;
      deepest = Math.max(deepest, text.length);
      before = text;
    }
    close(0);
    return deepest;
  }

  /** Returns one bit per token, which is set if the token may follow this position. */
  allowed(position: Position, work: Work): Uint32Array {
    const bits = new Uint32Array(Math.ceil(this.#vocabularySize / 32));
    if (position.canEnd) for (const token of this.#ends) bits[token >>> 5]! |= 1 << (token & 31);
    const bytes = this.#bytes;
    const path = new Array<Position>(this.#deepest + 1);
    path[0] = position;
    for (let node = 0; node < bytes.length; ) {
      work.spend(1);
      const depth = this.#depths[node]!;
      const next = path[depth]!.after(bytes[node]!, work);
      if (next === null) {
        node = this.#skips[node]!;
        continue;
      }
      path[depth + 1] = next;
      for (let token = this.#tokens[node]!; token >= 0; token = this.#same[token]!)
        bits[token >>> 5]! |= 1 << (token & 31);
      node += 1;
    }
    return bits;
  }
}

function countNodes(texts: readonly (readonly [string, number])[]): number {
  let count = 0;
  let before = "";
  for (const [text] of texts) {
    count += text.length - commonLength(before, text);
    before = text;
  }
  return count;
}

function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}
