/** A token whose text the tokenizer recognises anywhere. */
export interface SpecialToken {
  readonly id: number;
  readonly text: string;
  /**
   * If true, the token is recognised only if control tokens are parsed. Other tokens are always recognised.
   */
  readonly isControl: boolean;
  /** Whether white space before the token is dropped. `stripsRight` applies to white space after it. */
  readonly stripsLeft: boolean;
  readonly stripsRight: boolean;
}

/** A part of a text: one special token, or plain text without any. */
export type Fragment =
  | { readonly token: number }
  | {
      readonly text: string;
      /**
       * Positions where the text must be cut, so that the tokenizer does not recognise unwanted tokens there.
       */
      readonly cuts: readonly number[];
    };

export interface PartitionRules {
  readonly parseSpecial: boolean;
  /** Ascending positions that no control token may span. */
  readonly borders: readonly number[];
}

interface Occurrence {
  readonly token: SpecialToken;
  /** If two tokens overlap, the one with the lower rank wins. */
  readonly rank: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the special tokens of a vocabulary in a text. The engine can do that too, but it keeps the parts of
 * the text in a singly linked list that it walks for every token: 40,000 tokens take ten seconds there and
 * milliseconds here. The rules are those of llama.cpp's `tokenizer_st_partition`: longer tokens (in bytes)
 * first, each searched from the left.
 */
export class SpecialTokens {
  readonly all: readonly SpecialToken[];
  readonly #byText = new Map<string, Ranked[]>();
  readonly #pattern: RegExp | null;

  constructor(tokens: readonly SpecialToken[]) {
    const bytes = new Map(tokens.map((token) => [token, Buffer.byteLength(token.text)]));
    this.all = tokens
      .filter(({ text }) => text !== "")
      .sort((a, b) => bytes.get(b)! - bytes.get(a)! || a.id - b.id);
    const ranked = new Map<string, Ranked>();
    for (const [rank, token] of this.all.entries())
      if (!ranked.has(token.text)) ranked.set(token.text, { token, rank });
    for (const { token } of ranked.values()) {
      const prefixes = Array.from(token.text, (_, at) => ranked.get(token.text.slice(0, at + 1)));
      this.#byText.set(
        token.text,
        prefixes.filter((each) => each !== undefined),
      );
    }
    const texts = [...ranked.keys()].sort((a, b) => b.length - a.length).map((text) => RegExp.escape(text));
    this.#pattern = texts.length === 0 ? null : new RegExp(texts.join("|"), "g");
  }

  /** Whether a text contains more than `many` special tokens. */
  areMany(text: string, many: number): boolean {
    if (this.#pattern === null) return false;
    this.#pattern.lastIndex = 0;
    for (let count = 0; count <= many; count++) if (this.#pattern.exec(text) === null) return false;
    return true;
  }

  /** Splits a text into its special tokens and the plain text between them. */
  *partition(text: string, rules: PartitionRules): Generator<Fragment> {
    let at = 0;
    let cuts: number[] = [];
    const plain = function* (to: number): Generator<Fragment> {
      const own = cuts.filter((cut) => cut > at && cut < to).map((cut) => cut - at);
      cuts = cuts.filter((cut) => cut > to);
      if (to > at) yield { text: text.slice(at, to), cuts: own };
    };
    for (const { occurrences, unwanted } of this.#clusters(text, rules)) {
      cuts.push(...unwanted);
      for (const occurrence of occurrences) {
        const { from, to } = extent(text, occurrence);
        yield* plain(from);
        yield { token: occurrence.token.id };
        at = to;
      }
    }
    yield* plain(text.length);
  }

  /** Finds groups of overlapping tokens, from left to right, and returns the winners of each group. */
  *#clusters(
    text: string,
    rules: PartitionRules,
  ): Generator<{ occurrences: Occurrence[]; unwanted: number[] }> {
    let open: Occurrence[] = [];
    let unwanted: number[] = [];
    let end = 0;
    for (const found of this.#occurrences(text, rules)) {
      if ("cut" in found) unwanted.push(found.cut);
      else {
        const { from, to } = extent(text, found);
        if (open.length > 0 && from >= end) {
          yield { occurrences: winners(text, open), unwanted };
          open = [];
          unwanted = [];
        }
        open.push(found);
        end = Math.max(end, to);
      }
    }
    if (open.length > 0 || unwanted.length > 0) yield { occurrences: winners(text, open), unwanted };
  }

  /** Finds every occurrence of a token's text, including overlapping ones. */
  *#occurrences(
    text: string,
    { parseSpecial, borders }: PartitionRules,
  ): Generator<Occurrence | { cut: number }> {
    if (this.#pattern === null) return;
    let border = 0;
    for (let next = 0; ; ) {
      // Set before each search, because other texts use the same pattern in between.
      this.#pattern.lastIndex = next;
      const found = this.#pattern.exec(text);
      if (found === null) return;
      const from = found.index;
      while (border < borders.length && borders[border]! <= from) border++;
      const barrier = borders[border] ?? Number.POSITIVE_INFINITY;
      let isCut = false;
      for (const { token, rank } of this.#byText.get(found[0])!) {
        const to = from + token.text.length;
        if (token.isControl && !parseSpecial) continue;
        if (to <= barrier) yield { token, rank, from, to };
        else if (!token.isControl) isCut = true;
      }
      if (isCut) yield { cut: barrier };
      next = from + 1;
    }
  }
}

interface Ranked {
  readonly token: SpecialToken;
  readonly rank: number;
}

/** Returns the part of the text that a token covers, including the white space that it drops. */
function extent(text: string, { token, from, to }: Occurrence): { from: number; to: number } {
  let [left, right] = [from, to];
  if (token.stripsLeft) while (left > 0 && isSpace(text[left - 1]!)) left--;
  if (token.stripsRight) while (right < text.length && isSpace(text[right]!)) right++;
  return { from: left, to: right };
}

/** Equivalent to C's `isspace`. */
function isSpace(char: string): boolean {
  return " \t\n\v\f\r".includes(char);
}

/** Returns the tokens that the engine would recognise among overlapping ones. */
function winners(text: string, occurrences: readonly Occurrence[]): Occurrence[] {
  if (occurrences.length < 2) return [...occurrences];
  const taken: Occurrence[] = [];
  const held = new Set<number>();
  for (const occurrence of [...occurrences].sort((a, b) => a.rank - b.rank || a.from - b.from)) {
    let isFree = true;
    for (let at = occurrence.from; at < occurrence.to && isFree; at++) isFree = !held.has(at);
    if (!isFree) continue;
    taken.push(occurrence);
    const { from, to } = extent(text, occurrence);
    for (let at = from; at < to; at++) held.add(at);
  }
  return taken.sort((a, b) => a.from - b.from);
}
