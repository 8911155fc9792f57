import fc from "fast-check";
import { expect, test } from "vitest";
import { BitSet } from "../snapshots/bitset.ts";
import { bitmapOf } from "./bitmap.ts";

/** Reads a bitmap as its specification says, without our code. */
function numbersIn(bitmap: string): number[] {
  const bytes = Buffer.from(bitmap, "base64");
  expect(bytes.readUInt32LE(0)).toBe(12_346);
  const count = bytes.readUInt32LE(4);
  return Array.from({ length: count }, (_, place) => {
    const key = bytes.readUInt16LE(8 + 4 * place);
    const size = bytes.readUInt16LE(10 + 4 * place) + 1;
    const offset = bytes.readUInt32LE(8 + 4 * count + 4 * place);
    const low =
      size <= 4_096
        ? Array.from({ length: size }, (_, at) => bytes.readUInt16LE(offset + 2 * at))
        : Array.from({ length: 65_536 }, (_, bit) => bit).filter(
            (bit) => (bytes[offset + (bit >> 3)]! >> (bit & 7)) & 1,
          );
    expect(low).toHaveLength(size);
    return low.map((bit) => 65_536 * key + bit);
  }).flat();
}

test("holds the numbers of a bit set, few or many, near or far", () => {
  const ranges = fc.array(
    fc.tuple(
      fc.constantFrom(0, 7, 4_000, 65_530, 131_072, 249_000),
      fc.constantFrom(1, 2, 4_095, 4_097, 66_000),
    ),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(ranges, (list) => {
      const numbers = new Set(list.flatMap(([from, length]) => Array.from({ length }, (_, at) => from + at)));
      const bytes = new Uint8Array(Math.ceil((Math.max(0, ...numbers) + 1) / 8));
      for (const number of numbers) bytes[number >> 3]! |= 1 << (number & 7);
      const sorted = Uint32Array.from(numbers).sort();
      // As text, because comparing long lists member by member is slow.
      expect(numbersIn(bitmapOf(new BitSet(bytes))).join()).toBe(sorted.join());
    }),
    { seed: 5, numRuns: 30 },
  );
});
