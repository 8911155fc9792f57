import { stripVTControlCharacters } from "node:util";

/**
 * Breaks lines between words while a text streams in. Holds each word back until it is known to fit; leaves words
 * longer than a line to the terminal. Next to an East Asian character a line may break without a space.
 */
export class WordWrap {
  readonly #columns: () => number;
  #column = 0;
  /** The spaces before `#word`, which are not written yet. */
  #spaces = "";
  #word = "";
  /** Whether a line may break before the word without a space. */
  #mayBreak = false;

  /** Calls `columns` for each word, because the window can be resized. */
  constructor(columns: () => number) {
    this.#columns = () => Math.max(columns(), 20);
  }

  /** Returns the text that can be written now. */
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

  /** Returns the text that was held back. */
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
    // A full line stays current until the next character, so a break may still follow it.
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

/** Characters that must not begin a line. */
const closing = /^[、。，．：；！？）」』】》〉〕]/;

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The width in columns: East Asian characters and emoji take two, combining marks none. */
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
