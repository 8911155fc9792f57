import { LocallmError } from "../wire/errors.ts";
import type { Prompt } from "./job.ts";
import type { Functions, Pointer } from "./libllama/functions.ts";

type VocabularyFunctions = Pick<
  Functions,
  | "llama_vocab_n_tokens"
  | "llama_vocab_is_eog"
  | "llama_vocab_bos"
  | "llama_vocab_get_add_bos"
  | "llama_tokenize"
  | "llama_token_to_piece"
>;

/** Text to tokens and back. Pieces are kept: the same few thousand tokens make most of any text. */
export class Vocabulary {
  readonly #library: VocabularyFunctions;
  readonly pointer: Pointer;
  readonly size: number;
  readonly addBos: boolean;
  readonly bos: number;
  readonly #pieces = new Map<number, Uint8Array>();
  readonly #specialPieces = new Map<number, Uint8Array>();
  #piece = Buffer.alloc(256);

  constructor(library: VocabularyFunctions, pointer: Pointer) {
    this.#library = library;
    this.pointer = pointer;
    this.size = library.llama_vocab_n_tokens(pointer);
    this.addBos = library.llama_vocab_get_add_bos(pointer);
    this.bos = library.llama_vocab_bos(pointer);
  }

  tokenize(text: string, options: { addSpecial: boolean; parseSpecial: boolean }): number[] {
    const bytes = Buffer.from(text);
    let room = new Int32Array(bytes.length + 8);
    for (;;) {
      const count = this.#library.llama_tokenize(
        this.pointer,
        bytes,
        bytes.length,
        room,
        room.length,
        options.addSpecial,
        options.parseSpecial,
      );
      if (count >= 0) return Array.from(room.subarray(0, count));
      room = new Int32Array(-count);
    }
  }

  /**
   * The tokens of a prompt. The vocabulary's own opening token comes first where it asks for one, and not
   * twice where the text or the ids in front already bring it.
   */
  encodePrompt(prompt: Prompt): number[] {
    const parts = typeof prompt === "string" || isIds(prompt) ? [prompt] : prompt;
    const tokens: number[] = [];
    let first = true;
    for (const part of parts) {
      if (part.length === 0) continue;
      if (typeof part !== "string") {
        this.checkIds(part);
        tokens.push(...part);
      } else {
        const ids = this.tokenize(part, { addSpecial: first, parseSpecial: true });
        if (first && this.addBos && ids[0] === this.bos && ids[1] === this.bos) ids.shift();
        for (const id of ids) tokens.push(id);
      }
      first = false;
    }
    if (first && this.addBos) tokens.push(this.bos);
    return tokens;
  }

  /** Bytes of a token; control tokens have none unless `special`. A token may hold part of a code point. */
  piece(token: number, special = false): Uint8Array {
    const pieces = special ? this.#specialPieces : this.#pieces;
    const known = pieces.get(token);
    if (known !== undefined) return known;
    let length = this.#readPiece(token, special);
    if (length < 0) {
      this.#piece = Buffer.alloc(-length);
      length = this.#readPiece(token, special);
    }
    const piece = Uint8Array.prototype.slice.call(this.#piece, 0, Math.max(0, length));
    pieces.set(token, piece);
    return piece;
  }

  detokenize(tokens: readonly number[]): string {
    this.checkIds(tokens);
    return Buffer.concat(tokens.map((token) => this.piece(token, true))).toString();
  }

  /** Whether the model ends its turn with this token. */
  isEnd(token: number): boolean {
    return this.#library.llama_vocab_is_eog(this.pointer, token);
  }

  checkIds(tokens: readonly number[]): void {
    for (const token of tokens) {
      if (Number.isInteger(token) && token >= 0 && token < this.size) continue;
      throw new LocallmError("invalid_token", { token: String(token), vocabSize: this.size });
    }
  }

  #readPiece(token: number, special: boolean): number {
    return this.#library.llama_token_to_piece(
      this.pointer,
      token,
      this.#piece,
      this.#piece.length,
      0,
      special,
    );
  }
}

function isIds(prompt: Prompt): prompt is readonly number[] {
  return typeof prompt !== "string" && prompt.every((part) => typeof part === "number");
}
