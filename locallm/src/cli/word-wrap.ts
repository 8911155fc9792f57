import { stripVTControlCharacters } from "node:util";

/**
 * Breaks lines between words, as a text comes. A word is held back until it is known whether it still fits; a word
 * longer than a line is left to the terminal, and so is text without spaces between words.
 */
export class WordWrap {
  readonly #columns: number;
  #column = 0;
  /** The end of a word may be still to come. */
  #spaces = "";
  #word = "";

  constructor(columns: number) {
    this.#columns = Math.max(columns, 20);
  }

  /** What can be written now. */
  add(text: string): string {
    let out = "";
    for (const [piece] of text.matchAll(/\n| +|[^ \n]+/g)) {
      if (piece === "\n") {
        out += `${this.end()}\n`;
        this.#column = 0;
      } else if (piece.startsWith(" ")) {
        out += this.end();
        this.#spaces = piece;
      } else {
        this.#word += piece;
        // Chinese and the like may break anywhere: nothing to wait for.
        if (cells(this.#word) > this.#word.length) out += this.end();
      }
    }
    return out;
  }

  /** What was held back. */
  end(): string {
    const width = cells(this.#word);
    const breaks =
      this.#spaces !== "" &&
      width > 0 &&
      width < this.#columns &&
      this.#column + this.#spaces.length + width > this.#columns;
    const text = breaks ? `\n${this.#word}` : this.#spaces + this.#word;
    this.#column = breaks ? width : (this.#column + this.#spaces.length + width) % this.#columns;
    this.#spaces = "";
    this.#word = "";
    return text;
  }
}

/** Columns that a text takes: East Asian characters and most signs beyond the basic plane take two. */
function cells(text: string): number {
  let sum = 0;
  for (const character of stripVTControlCharacters(text)) {
    const code = character.codePointAt(0) ?? 0;
    sum +=
      (code >= 0x1100 && code <= 0x115f) ||
      (code >= 0x2e80 && code <= 0xa4cf) ||
      (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) ||
      (code >= 0xfe30 && code <= 0xfe6f) ||
      (code >= 0xff00 && code <= 0xff60) ||
      code >= 0x1f300
        ? 2
        : 1;
  }
  return sum;
}
