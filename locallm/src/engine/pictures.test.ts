import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Picture } from "../wire/inference/picture.ts";
import { Pictures } from "./pictures.ts";

const line = (name: number, cells: number): Picture => ({
  ...{ identity: String(name).padStart(64, "0"), cells, positions: cells, layout: "line", causal: true },
});
const grid = (name: number, width: number, height: number): Picture => ({
  identity: String(name).padStart(64, "a"),
  cells: width * height,
  positions: Math.max(width, height),
  layout: { width, height },
  causal: false,
});

/** Tokens and pictures in any order; often the same picture twice, and next to itself. */
const anyPieces = fc.array(
  fc.oneof(
    fc.nat(3).map((token) => ({ token })),
    fc
      .record({
        name: fc.nat(2),
        width: fc.integer({ min: 1, max: 4 }),
        height: fc.integer({ min: 1, max: 3 }),
      })
      .map(({ name, width, height }) => ({ picture: grid(name, width, height) })),
    fc.record({ name: fc.nat(2), cells: fc.integer({ min: 1, max: 5 }) }).map(({ name, cells }) => ({
      picture: line(name, cells),
    })),
  ),
  { maxLength: 12 },
);

/** The cells of the pieces, the numbers of cells after which a piece ends, and each cell's position. */
function laidOut(pictures: Pictures, pieces: readonly ({ token: number } | { picture: Picture })[]) {
  const cells: number[] = [];
  const borders = [0];
  const positions: number[] = [];
  let position = 0;
  for (const piece of pieces) {
    if ("token" in piece) {
      cells.push(piece.token);
      positions.push(position++);
    } else {
      const { cells: count, layout, positions: taken } = piece.picture;
      for (let at = 0; at < count; at++) {
        cells.push(pictures.numberOf(piece.picture));
        positions.push(layout === "line" ? position + at : position);
      }
      position += taken;
    }
    borders.push(cells.length);
  }
  return { cells, borders, positions: [...positions, position] };
}

describe("the cells of tokens and pictures", () => {
  it("have borders where pieces end, and positions that pictures move as far as they say", () => {
    fc.assert(
      fc.property(anyPieces, (pieces) => {
        const pictures = new Pictures();
        const { cells, borders, positions } = laidOut(pictures, pieces);
        for (let at = 0; at <= cells.length; at++) {
          expect(pictures.borderBefore(cells, at)).toBe(borders.findLast((border) => border <= at));
          expect(pictures.borderAfter(cells, at)).toBe(borders.find((border) => border >= at));
          expect(pictures.positionAt(cells, at)).toBe(positions[at]);
        }
      }),
    );
  });

  it("differ for pictures that differ in anything, and are the same for the same picture", () => {
    const pictures = new Pictures();
    const some = [line(1, 4), line(2, 4), grid(1, 2, 2), grid(1, 4, 1), { ...line(1, 4), causal: false }];
    const numbers = some.map((picture) => pictures.numberOf(picture));
    expect(new Set(numbers).size).toBe(some.length);
    expect(numbers.every((number) => number < 0)).toBe(true);
    expect(some.map((picture) => pictures.numberOf({ ...picture }))).toEqual(numbers);
  });

  it("are forgotten with the last list that has them, and their numbers are not used again", () => {
    const pictures = new Pictures();
    const [kept, dropped] = [line(1, 2), line(2, 2)].map((picture) => pictures.numberOf(picture));
    for (let name = 3; name < 2000; name++) pictures.numberOf(line(name, 2));
    pictures.keepOnly([[5, kept!, kept!], new Int32Array([7])]);
    // The newest ones may be in a prompt that is still being encoded.
    expect(pictures.count).toBe(1025);
    expect(pictures.of(kept!)).toEqual(line(1, 2));
    expect(() => pictures.of(dropped!)).toThrow();
    expect(pictures.numberOf(line(1999, 2))).toBe(-1999);
    expect(pictures.numberOf(line(2, 2))).toBe(-2000);
  });

  it("are written with a list of their own and read again, in a process that knows other pictures", () => {
    fc.assert(
      fc.property(anyPieces, anyPieces, (others, pieces) => {
        const [here, there] = [new Pictures(), new Pictures()];
        laidOut(there, others);
        const { cells: written, pictures } = here.listed(laidOut(here, pieces).cells);
        expect([...there.numbered(written, pictures)]).toEqual(laidOut(there, pieces).cells);
      }),
    );
  });
});
