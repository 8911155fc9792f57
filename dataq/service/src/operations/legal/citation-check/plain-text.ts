import { withoutRadicals } from "@dataq/contract";
import { simplified } from "../../../search/analysis/script.ts";
import { citationsInEnglish } from "../question/foreign-names.ts";

/** A place in the original text. */
export interface Span {
  /** Unicode code points. */
  readonly start: number;
  readonly end: number;
  readonly start_utf16: number;
  readonly end_utf16: number;
}

/**
 * A text in one form: NFKC, simplified characters, without white space between Chinese characters, so that line breaks
 * and full width do not hide a citation. It knows the place of each character in the original.
 */
export class PlainText {
  readonly original: string;
  readonly text: string;
  /** The first and the last UTF-16 unit of the original for each unit of `text`. */
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  /** Places in `text` that start a line of the original. */
  readonly #lines: ReadonlySet<number>;
  /** Code points before each UTF-16 unit; undefined if they are the same. */
  readonly #points: Uint32Array | undefined;

  constructor(original: string) {
    this.original = original;
    const parts: string[] = [];
    const starts: number[] = [];
    const ends: number[] = [];
    const lines = new Set<number>([0]);
    let last = "";
    let isSpaced = false;
    let isBroken = false;
    const put = (piece: string, from: number, to: number) => {
      parts.push(piece);
      for (let unit = 0; unit < piece.length; unit++) {
        starts.push(from);
        ends.push(to);
      }
    };
    let at = 0;
    for (const character of original) {
      const from = at;
      at += character.length;
      if (/[\s\u200b\u2060]/u.test(character)) {
        isSpaced = true;
        isBroken ||= /[\n\r\u2028\u2029]/.test(character);
        continue;
      }
      const piece = inOneForm(character);
      if (isBroken) lines.add(starts.length);
      if (isSpaced && isLatin(last) && isLatin(piece) && !isInNumber(parts)) put(" ", from - 1, from);
      isSpaced = false;
      isBroken = false;
      put(piece, from, at);
      last = piece;
    }
    const text = parts.join("");
    const foreign = citationsInEnglish(text);
    if (foreign.length > 0) {
      const moved = new Set<number>();
      const from = starts.splice(0);
      const to = ends.splice(0);
      let done = 0;
      const copy = (end: number) => {
        for (; done < end; done++) {
          if (lines.has(done)) moved.add(starts.length);
          starts.push(from[done] as number);
          ends.push(to[done] as number);
        }
      };
      let translated = "";
      for (const { from: first, to: end, chinese } of foreign) {
        translated += text.slice(done, first) + chinese;
        copy(first);
        if (lines.has(first)) moved.add(starts.length);
        for (let unit = 0; unit < chinese.length; unit++) {
          starts.push(from[first] as number);
          ends.push(to[end - 1] as number);
        }
        done = end;
      }
      this.text = translated + text.slice(done);
      copy(text.length);
      this.#lines = moved;
    } else {
      this.text = text;
      this.#lines = lines;
    }
    this.#starts = Uint32Array.from(starts);
    this.#ends = Uint32Array.from(ends);
    this.#points = /[\ud800-\udfff]/.test(original) ? countPoints(original) : undefined;
  }

  /** Whether a line of the original starts here. */
  startsLine(at: number): boolean {
    return this.#lines.has(at);
  }

  /** Whether there is white space in the original before this place. */
  isSpaced(at: number): boolean {
    return (this.#starts[at] ?? 0) > (this.#ends[at - 1] ?? 0);
  }

  /** Whether the original breaks the line between two places. */
  hasBreak(from: number, to: number): boolean {
    for (let at = from + 1; at <= to; at++) if (this.#lines.has(at)) return true;
    return false;
  }

  /** The place of a range of `text` in the original. The range is not empty. */
  span(from: number, to: number): Span {
    const start = this.#starts[from] ?? 0;
    const end = this.#ends[to - 1] ?? start;
    return {
      start: this.#points?.[start] ?? start,
      end: this.#points?.[end] ?? end,
      start_utf16: start,
      end_utf16: end,
    };
  }

  written({ start_utf16: start, end_utf16: end }: Span): string {
    return this.original.slice(start, end);
  }
}

/** One character in NFKC and simplified. An ellipsis stays one, because it stands for omitted words. */
export function inOneForm(character: string): string {
  if (character === "…" || character === "⋯") return "…";
  const known = forms.get(character);
  if (known !== undefined) return known;
  const form = simplified(withoutRadicals(character).normalize("NFKC"));
  if (forms.size < mostForms) forms.set(character, form);
  return form;
}

const forms = new Map<string, string>();
const mostForms = 20_000;

/** Whether a line break inside an article's number is next: 第57 and 7条 on the next line. */
function isInNumber(parts: readonly string[]): boolean {
  return /第[0-9]{1,3}$/.test(parts.slice(-4).join(""));
}

function isLatin(piece: string): boolean {
  return /^[0-9A-Za-z,.'&)(-]+$/.test(piece);
}

function countPoints(text: string): Uint32Array {
  const points = new Uint32Array(text.length + 1);
  let count = 0;
  let at = 0;
  for (const character of text) {
    points[at] = count++;
    at += character.length;
  }
  points[at] = count;
  return points;
}
