import { LocallmError } from "../wire/errors.ts";
import { type Prompt, type PromptText, promptChars } from "../wire/inference/generate.ts";
import { type EncodedPicture, isPicture } from "../wire/inference/picture.ts";
import type { Functions, Pointer } from "./libllama/functions.ts";
import { joinParts, type LongText } from "./long-text.ts";
import type { Pictures } from "./pictures.ts";
import { type Fragment, type SpecialToken, SpecialTokens } from "./special-tokens.ts";

type VocabularyFunctions = Pick<
  Functions,
  | "llama_vocab_n_tokens"
  | "llama_vocab_type"
  | "llama_vocab_get_text"
  | "llama_vocab_get_attr"
  | "llama_vocab_is_eog"
  | "llama_vocab_bos"
  | "llama_vocab_get_add_bos"
  | "llama_vocab_eos"
  | "llama_vocab_sep"
  | "llama_vocab_get_add_eos"
  | "llama_vocab_get_add_sep"
  | "llama_tokenize"
  | "llama_token_to_piece"
>;

export interface TokenizeOptions {
  /** Whether to add the vocabulary's own start and end tokens, if it has any. */
  readonly addSpecial: boolean;
  /** Whether the names of control tokens in the text become these tokens. */
  readonly parseSpecial: boolean;
}

/**
 * Converts text to tokens and back. It caches the text of tokens, because the same few thousand tokens make
 * up most texts.
 */
export class Vocabulary {
  readonly #library: VocabularyFunctions;
  readonly pointer: Pointer;
  readonly size: number;
  readonly addBos: boolean;
  readonly bos: number;
  /** Texts that mark turns or end answers. Each is read as one token if control tokens are parsed. */
  readonly markers: readonly string[];
  /** Whether tokens represent all bytes of a text unchanged. */
  readonly keepsBytes: boolean;
  readonly #special: SpecialTokens;
  readonly #kind: number;
  readonly #pieces = new Map<number, Uint8Array>();
  readonly #specialPieces = new Map<number, Uint8Array>();
  #edges: { readonly first: readonly number[]; readonly last: readonly number[] } | null = null;
  #piece = Buffer.alloc(256);
  #sinceBreath = 0;

  constructor(library: VocabularyFunctions, pointer: Pointer) {
    this.#library = library;
    this.pointer = pointer;
    this.size = library.llama_vocab_n_tokens(pointer);
    this.addBos = library.llama_vocab_get_add_bos(pointer);
    this.bos = library.llama_vocab_bos(pointer);
    this.#kind = library.llama_vocab_type(pointer);
    this.keepsBytes = this.#kind === kinds.bpe || this.#kind === kinds.sentencePiece;
    this.#special = new SpecialTokens(specialTokens(library, pointer, this.size));
    this.markers = this.#special.all.filter(isMarker).map(({ text }) => text);
  }

  /** How the model's file names a token. */
  tokenText(token: number): string {
    return this.#library.llama_vocab_get_text(this.pointer, token);
  }

  /** What this vocabulary puts before a query, after a query and after a document, and between the two. */
  get pairMarks(): Readonly<Record<"start" | "end" | "between", readonly number[]>> {
    const library = this.#library;
    const eos = library.llama_vocab_eos(this.pointer);
    const sep = library.llama_vocab_sep(this.pointer);
    return {
      start: this.addBos ? [this.bos] : [],
      end: library.llama_vocab_get_add_eos(this.pointer) ? [eos < 0 ? sep : eos] : [],
      between: library.llama_vocab_get_add_sep(this.pointer) ? [sep] : [],
    };
  }

  /** Tokenizes a short text. Blocks until it is done. */
  tokenize(text: PromptText, options: TokenizeOptions): number[] {
    const { whole, borders } = joined(text);
    if (this.#isSimple(whole, borders)) return this.#ask(Buffer.from(whole), options);
    const ids: number[][] = [];
    for (const fragment of this.#fragments(whole, borders, options))
      for (const part of partsOf(fragment)) ids.push(typeof part === "number" ? [part] : this.#plain(part));
    return this.#withEdges(ids.flat(), options);
  }

  /**
   * Tokenizes a text of any length in parts. Long parts are tokenized on another thread, so that other
   * answers continue. Checks the signal between parts, and stops early when it has more tokens than `limit`.
   */
  async tokenizeAside(
    text: PromptText,
    options: TokenizeOptions & { readonly limit?: number },
    signal?: AbortSignal,
  ): Promise<number[]> {
    const { limit = Number.POSITIVE_INFINITY } = options;
    signal?.throwIfAborted();
    const { whole, borders } = joined(text);
    if (whole.length <= shortText) {
      if (this.#needsBreath(whole.length)) await breath(signal);
      return this.tokenize(text, options);
    }
    const ids: (readonly number[])[] = [];
    let count = 0;
    for (const fragment of this.#fragments(whole, borders, options)) {
      if (count > limit) break;
      for (const part of partsOf(fragment)) {
        if (typeof part === "number") ids.push([part]);
        else if (part.length > shortText) ids.push(await this.#longPlain(part, limit - count, signal));
        else ids.push(this.#plain(part));
        count += ids.at(-1)!.length;
        if (this.#needsBreath(typeof part === "number" ? 0 : part.length)) await breath(signal);
      }
    }
    return this.#withEdges(ids.flat(), options);
  }

  /**
   * Makes cells of a prompt: tokens, and those of its pictures. Adds the vocabulary's start token if it requires one,
   * unless the text or the ids before it already contain it. Throws `invalid_token`.
   */
  encodePrompt(prompt: Prompt, pictures: Pictures): number[] {
    const all = promptParts(prompt).map((part) => {
      if (isPicture(part)) return pictures.cellsOf(part);
      return this.#ids(part, "text" in part ? this.tokenize(part.text, part) : part.ids);
    });
    return this.#join(all);
  }

  /** Like `encodePrompt`, for long texts; see `tokenizeAside`. */
  async encodePromptAside(
    prompt: Prompt,
    pictures: Pictures,
    limit?: number,
    signal?: AbortSignal,
  ): Promise<number[]> {
    const all: (readonly number[])[] = [];
    for (const part of promptParts(prompt)) {
      if (isPicture(part)) {
        all.push(pictures.cellsOf(part));
        continue;
      }
      const limited = limit === undefined ? {} : { limit };
      const ids =
        "text" in part ? await this.tokenizeAside(part.text, { ...part, ...limited }, signal) : part.ids;
      all.push(this.#ids(part, ids));
    }
    return this.#join(all);
  }

  /**
   * The bytes of a token. Control tokens have no bytes unless `special` is set. A token may represent part of
   * a code point.
   */
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

  /** Whether other work of the process should run before the next text. */
  #needsBreath(chars: number): boolean {
    this.#sinceBreath += chars + callCost;
    if (this.#sinceBreath < breathAfter) return false;
    this.#sinceBreath = 0;
    return true;
  }

  /** Whether the engine can tokenize this text directly. */
  #isSimple(text: string, borders: readonly number[]): boolean {
    return borders.length === 0 && text.length <= shortText && !this.#special.areMany(text, fewSpecial);
  }

  #fragments(
    text: string,
    borders: readonly number[],
    { parseSpecial }: TokenizeOptions,
  ): Iterable<Fragment> {
    return this.#special.partition(text, { parseSpecial, borders });
  }

  #plain(text: string): number[] {
    return this.#ask(Buffer.from(text), plainText);
  }

  async #longPlain(text: string, limit: number, signal: AbortSignal | undefined): Promise<readonly number[]> {
    const bytes = Buffer.from(text);
    const long: LongText = {
      bytes,
      tokenize: (part) => this.#askAside(part, plainText),
      length: (token) => this.piece(token, true).length,
      mustCut: this.#kind === kinds.bpe,
    };
    const ids = this.keepsBytes ? await joinParts(long, limit, signal) : null;
    return ids ?? (await this.#askAside(bytes, plainText));
  }

  #ask(bytes: Buffer, options: TokenizeOptions): number[] {
    let room = new Int32Array(bytes.length + 8);
    for (;;) {
      const count = this.#library.llama_tokenize(...this.#question(bytes, room, options));
      if (count >= 0) return Array.from(room.subarray(0, count));
      room = new Int32Array(-count);
    }
  }

  async #askAside(bytes: Buffer, options: TokenizeOptions): Promise<number[]> {
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

  #question(bytes: Buffer, room: Int32Array, { addSpecial, parseSpecial }: TokenizeOptions) {
    return [this.pointer, bytes, bytes.length, room, room.length, addSpecial, parseSpecial] as const;
  }

  #withEdges(ids: number[], { addSpecial }: TokenizeOptions): number[] {
    if (!addSpecial) return ids;
    this.#edges ??= this.#findEdges();
    return [...this.#edges.first, ...ids, ...this.#edges.last];
  }

  /** Finds the tokens that the vocabulary adds around a text. */
  #findEdges() {
    const probe = Buffer.from("a");
    const bare = this.#ask(probe, plainText);
    const all = this.#ask(probe, { ...plainText, addSpecial: true });
    const from = all.findIndex((_, at) => bare.every((id, index) => all[at + index] === id));
    return { first: all.slice(0, from), last: all.slice(from + bare.length) };
  }

  #ids(part: TextPart, ids: readonly number[]): readonly number[] {
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

const plainText: TokenizeOptions = { addSpecial: false, parseSpecial: false };

/** The size in characters of a text that the engine tokenizes in at most 20 ms. */
const shortText = 8192;
/** The maximum number of special tokens that the engine may search for itself. */
const fewSpecial = 256;
/** How many characters are tokenized before other work may run. Each call counts as `callCost` characters. */
const breathAfter = 16_384;
const callCost = 16;

async function breath(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}

/** The values of `llama_vocab_type`. */
const kinds = { sentencePiece: 1, bpe: 2 };

const attribute = { unknown: 1, control: 8, userDefined: 16, stripsLeft: 128, stripsRight: 256 };

function specialTokens(library: VocabularyFunctions, pointer: Pointer, size: number): SpecialToken[] {
  const found: SpecialToken[] = [];
  for (let id = 0; id < size; id++) {
    const bits = library.llama_vocab_get_attr(pointer, id);
    const isControl = (bits & (attribute.control | attribute.unknown)) !== 0;
    if (!isControl && (bits & attribute.userDefined) === 0) continue;
    found.push({
      id,
      text: library.llama_vocab_get_text(pointer, id),
      isControl,
      stripsLeft: (bits & attribute.stripsLeft) !== 0,
      stripsRight: (bits & attribute.stripsRight) !== 0,
    });
  }
  return found;
}

/**
 * Whether the token marks a turn. Some models mark turns with tokens that are not control tokens, such as
 * gpt-oss's `<|start|>`.
 */
function isMarker({ text, isControl }: SpecialToken): boolean {
  return text.length > 1 && (isControl || /^<[|｜].*[|｜]>$/.test(text));
}

/** Whether a prompt should be tokenized on another thread. */
export function isLongPrompt(prompt: Prompt): boolean {
  return promptParts(prompt).some((part) => "text" in part && promptChars(part.text) > shortText);
}

function joined(text: PromptText): { readonly whole: string; readonly borders: readonly number[] } {
  if (typeof text === "string") return { whole: text, borders: [] };
  let length = 0;
  const borders = text.pieces.slice(0, -1).map((piece) => {
    length += piece.length;
    return length;
  });
  return { whole: text.pieces.join(""), borders };
}

/** Splits a fragment into a token, or into its texts between the cuts. */
function partsOf(fragment: Fragment): (string | number)[] {
  if ("token" in fragment) return [fragment.token];
  const { text, cuts } = fragment;
  return [0, ...cuts].map((from, index) => text.slice(from, cuts[index] ?? text.length));
}

type TextPart = ({ readonly text: PromptText } & TokenizeOptions) | { readonly ids: readonly number[] };

function promptParts(prompt: Prompt): (TextPart | EncodedPicture)[] {
  const parts = typeof prompt === "string" || "pieces" in prompt || isIds(prompt) ? [prompt] : prompt;
  return parts
    .filter((part) => (typeof part === "string" || "length" in part ? part.length > 0 : true))
    .map((part, index) => {
      if (isPicture(part)) return part;
      return typeof part === "string" || "pieces" in part
        ? { text: part, addSpecial: index === 0, parseSpecial: true }
        : { ids: part };
    });
}

function isIds(prompt: readonly unknown[]): prompt is readonly number[] {
  return prompt.every((part) => typeof part === "number");
}
