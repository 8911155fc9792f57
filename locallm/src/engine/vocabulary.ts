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

export interface TokenizeOptions {
  /** The vocabulary's own opening and closing tokens, where it has them. */
  readonly addSpecial: boolean;
  /** Whether the names of control tokens stand for these. */
  readonly parseSpecial: boolean;
}

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

  tokenize(text: string, options: TokenizeOptions): number[] {
    const bytes = Buffer.from(text);
    let room = new Int32Array(bytes.length + 8);
    for (;;) {
      const count = this.#library.llama_tokenize(...this.#question(bytes, room, options));
      if (count >= 0) return Array.from(room.subarray(0, count));
      room = new Int32Array(-count);
    }
  }

  /** The same, of a long text on another thread: a megabyte takes half a second, and other answers go on. */
  async tokenizeAside(text: string, options: TokenizeOptions): Promise<number[]> {
    if (text.length < longText) return this.tokenize(text, options);
    const bytes = Buffer.from(text);
    let room = new Int32Array(bytes.length + 8);
    for (;;) {
      const question = this.#question(bytes, room, options);
      const count = await new Promise<number>((resolve, reject) => {
        this.#library.llama_tokenize.async(...question, (error, found) =>
          error ? reject(error) : resolve(found),
        );
      });
      if (count >= 0) return Array.from(room.subarray(0, count));
      room = new Int32Array(-count);
    }
  }

  /**
   * The tokens of a prompt. The vocabulary's own opening token comes first where it asks for one, and not
   * twice where the text or the ids in front already bring it.
   */
  encodePrompt(prompt: Prompt): number[] {
    const parts = partsOf(prompt);
    return this.#join(
      parts.map((part) => this.#ids(part, "text" in part ? this.tokenize(part.text, part) : part.ids)),
    );
  }

  /** The same, of long texts on another thread. */
  async encodePromptAside(prompt: Prompt): Promise<number[]> {
    const all: (readonly number[])[] = [];
    for (const part of partsOf(prompt))
      all.push(this.#ids(part, "text" in part ? await this.tokenizeAside(part.text, part) : part.ids));
    return this.#join(all);
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

  #question(bytes: Buffer, room: Int32Array, { addSpecial, parseSpecial }: TokenizeOptions) {
    return [this.pointer, bytes, bytes.length, room, room.length, addSpecial, parseSpecial] as const;
  }

  #ids(part: PromptPart, ids: readonly number[]): readonly number[] {
    if (!("text" in part)) this.checkIds(ids);
    else if (part.addSpecial && this.addBos && ids[0] === this.bos && ids[1] === this.bos)
      return ids.slice(1);
    return ids;
  }

  #join(all: readonly (readonly number[])[]): number[] {
    return all.length === 0 && this.addBos ? [this.bos] : all.flat();
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

/** In letters: some thousand tokens, and milliseconds. */
const longText = 32_768;

/** Whether a prompt is worth another thread. */
export function isLongPrompt(prompt: Prompt): boolean {
  return partsOf(prompt).some((part) => "text" in part && part.text.length >= longText);
}

type PromptPart = ({ readonly text: string } & TokenizeOptions) | { readonly ids: readonly number[] };

function partsOf(prompt: Prompt): PromptPart[] {
  const parts = typeof prompt === "string" || isIds(prompt) ? [prompt] : prompt;
  return parts
    .filter((part) => part.length > 0)
    .map((part, index) =>
      typeof part === "string" ? { text: part, addSpecial: index === 0, parseSpecial: true } : { ids: part },
    );
}

function isIds(prompt: Prompt): prompt is readonly number[] {
  return typeof prompt !== "string" && prompt.every((part) => typeof part === "number");
}
