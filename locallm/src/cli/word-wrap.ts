import { stripVTControlCharacters } from "node:util";

/**
 * Breaks lines between words while a text streams in. A word is held back until it is known whether it fits; a word
 * longer than a line is left to the terminal. Beside an East Asian character a line may break without a space.
 */
export class WordWrap {
  readonly #columns: () => number;
  #column = 0;
  /** The end of a word may still come. */
  #spaces = "";
  #word = "";
  /** Whether a line may break before the word though no space stands there. */
  #mayBreak = false;

  /** `columns` is asked for each word, since a window can be resized. */
  constructor(columns: () => number) {
    this.#columns = () => Math.max(columns(), 20);
  }

  /** What can be written now. */
  add(text: string): string {
    let out = "";
    for (const [piece] of text.matchAll(pieces)) {
      if (piece === "\n") {
        out += `${this.end()}\n`;
        this.#column = 0;
        this.#mayBreak = false;
      } else if (piece === "\t") {
        out += this.end();
        const column = this.#column + this.#spaces.length;
        this.#spaces += " ".repeat(tabColumns - (column % tabColumns));
      } else if (piece.startsWith(" ")) {
        out += this.#word === "" ? "" : this.end();
        this.#spaces += piece;
      } else if (isWide(piece)) {
        out += this.#word === "" ? "" : this.end();
        this.#word = piece;
        this.#mayBreak = !closing.test(piece);
        out += this.end();
        this.#mayBreak = true;
      } else {
        this.#word += piece;
      }
    }
    return out;
  }

  /** What was held back. */
  end(): string {
    const width = cells(this.#word);
    const columns = this.#columns();
    const breaks =
      (this.#spaces !== "" || this.#mayBreak) &&
      this.#column > 0 &&
      width > 0 &&
      width < columns &&
      this.#column + this.#spaces.length + width > columns;
    const text = breaks ? `\n${this.#word}` : this.#spaces + this.#word;
    // A full line is left by the next character: until then its end may still become a break.
    const column = breaks ? width : this.#column + this.#spaces.length + width;
    this.#column = column === 0 ? 0 : ((column - 1) % columns) + 1;
    this.#spaces = "";
    this.#word = "";
    this.#mayBreak = false;
    return text;
  }
}

const tabColumns = 8;
/** A line end, a tab, spaces, one East Asian character with its marks, or a run of anything else. */
const pieces =
  /\n|\t| +|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f\uff00-\uff60]\p{M}*|[^ \n\t\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f\uff00-\uff60]+/gu;

function isWide(piece: string): boolean {
  return /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f\uff00-\uff60]/u.test(piece);
}

/** Must not begin a line. */
const closing = /^[、。，．：；！？）」』】》〉〕]/;

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Columns of a text: East Asian characters and emoji take two, marks that join others none. */
function cells(text: string): number {
  let sum = 0;
  for (const { segment } of segmenter.segment(stripVTControlCharacters(text)))
    sum +=
      isWide(segment) || /\p{Emoji_Presentation}|\ufe0f/u.test(segment)
        ? 2
        : /^[\p{M}\p{Cf}]/u.test(segment)
          ? 0
          : 1;
  return sum;
}
