import { LocallmError } from "../wire/errors.ts";
import type { Picture } from "../wire/inference/picture.ts";
import type { Position } from "./batch.ts";

/**
 * The pictures of this process. What stands in a sequence is a list of cells: a number from 0 on is a token, and each
 * cell of a picture is the picture's negative number. So lists of cells are compared like lists of tokens, and the same
 * picture has the same cells wherever it stands. A list begins at a border: with a token or a picture's first cell.
 */
export class Pictures {
  readonly #byKey = new Map<string, number>();
  readonly #byNumber = new Map<number, Picture>();
  #last = 0;

  get count(): number {
    return this.#byNumber.size;
  }

  cellsOf(picture: Picture): number[] {
    return new Array<number>(picture.cells).fill(this.numberOf(picture));
  }

  /** The number of a picture's cells. */
  numberOf(picture: Picture): number {
    const { identity, cells, positions, layout, causal } = picture;
    const grid = layout === "line" ? "line" : `${layout.width} ${layout.height}`;
    const key = `${identity} ${cells} ${positions} ${grid} ${causal}`;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    this.#last--;
    this.#byKey.set(key, this.#last);
    this.#byNumber.set(this.#last, { identity, cells, positions, layout, causal });
    return this.#last;
  }

  /** The picture of a cell. Throws if the cell is a token, or if the picture was forgotten. */
  of(cell: number): Picture {
    const picture = this.#byNumber.get(cell);
    if (picture === undefined) throw new LocallmError("decode_failed", { reason: `no picture ${cell}` });
    return picture;
  }

  /**
   * Forgets the pictures whose cells are in none of the lists, except the newest ones: they may be in a prompt that is
   * still being encoded.
   */
  keepOnly(lists: Iterable<ArrayLike<number>>): void {
    const used = new Set<number>();
    for (const cells of lists)
      for (let at = 0; at < cells.length; at++) if (cells[at]! < 0) used.add(cells[at]!);
    for (const [key, number] of this.#byKey) {
      if (used.has(number) || number < this.#last + newest) continue;
      this.#byKey.delete(key);
      this.#byNumber.delete(number);
    }
  }

  /** The greatest number of cells, at most `most`, after which the list can be cut without cutting a picture. */
  borderBefore(cells: ArrayLike<number>, most: number): number {
    const number = most > 0 ? cells[most - 1]! : 0;
    if (number >= 0) return most;
    let from = most - 1;
    while (from > 0 && cells[from - 1] === number) from--;
    return most - ((most - from) % this.of(number).cells);
  }

  /** The least number of cells, at least `least`, after which the list can be cut without cutting a picture. */
  borderAfter(cells: ArrayLike<number>, least: number): number {
    const before = this.borderBefore(cells, least);
    return before === least ? least : before + this.of(cells[before]!).cells;
  }

  /** The list with the pictures' numbers in this process, from one whose pictures are −1, −2 and so on in `pictures`. */
  numbered(cells: Int32Array, pictures: readonly Picture[]): Int32Array {
    if (pictures.length === 0) return cells;
    const numbers = pictures.map((picture) => this.numberOf(picture));
    return cells.map((cell) => (cell < 0 ? numbers[-1 - cell]! : cell));
  }

  /** The opposite of `numbered`. */
  listed(cells: readonly number[]): { readonly cells: Int32Array; readonly pictures: readonly Picture[] } {
    const places = new Map<number, number>();
    const listed = Int32Array.from(cells, (cell) => {
      if (cell >= 0) return cell;
      const place = places.get(cell) ?? -1 - places.size;
      places.set(cell, place);
      return place;
    });
    return { cells: listed, pictures: Array.from(places.keys(), (cell) => this.of(cell)) };
  }

  /**
   * The position in time of the cell at `index`. It may be the end of the list: then it is the position that the next
   * cell gets.
   */
  positionAt(cells: ArrayLike<number>, index: number): number {
    let position = 0;
    for (let at = 0; at < index; ) {
      if (cells[at]! >= 0) {
        at++;
        position++;
        continue;
      }
      const picture = this.of(cells[at]!);
      const end = at + picture.cells;
      if (end <= index) position += picture.positions;
      else if (picture.layout === "line") position += index - at;
      at = end;
    }
    return position;
  }
}

/** So many pictures are not forgotten. */
const newest = 1024;

/** The position of a picture's cell `at`, if that of its first cell is `from`. */
export function positionInPicture({ layout }: Picture, from: number, at: number): Position {
  if (layout === "line") return [from + at, from + at, from + at, from + at];
  return [from, from + Math.floor(at / layout.width), from + (at % layout.width), 0];
}
