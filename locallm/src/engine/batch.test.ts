import fc from "fast-check";
import koffi from "koffi";
import { describe, expect, it } from "vitest";
import { Batch } from "./batch.ts";

const limits = {
  ...{ rows: 3, sequences: 2, positions: 10, vocabSize: 100, outputs: 2 },
  ...{ inputLength: 2, hasGrids: false },
};

const read32 = (address: bigint) => koffi.decode(address, "int32_t") as number;

describe("a batch", () => {
  it("rejects a row beyond its size, and keeps its rows", () => {
    const batch = new Batch(limits);
    for (let row = 0; row < 3; row++) batch.add(row, row, 0, false);
    expect(() => batch.add(0, 3, 0, false)).toThrow(RangeError);
    expect(batch.rows).toBe(3);
    batch.clear();
    expect(batch.add(0, 0, 0, false)).toBe(0);
  });

  it.each([
    ["token", [100, 0, 0]],
    ["token", [-1, 0, 0]],
    ["token", [1.5, 0, 0]],
    ["token", [Number.NaN, 0, 0]],
    ["token", [2 ** 32, 0, 0]],
    ["position", [0, 10, 0]],
    ["position", [0, -1, 0]],
    ["sequence", [0, 0, 2]],
    ["sequence", [0, 0, -1]],
  ] as const)("rejects a %s out of bounds: %j", (what, [token, position, sequence]) => {
    const batch = new Batch(limits);
    expect(() => batch.add(token, position, sequence, true)).toThrow(what);
    expect(batch.rows).toBe(0);
  });

  it("rejects more outputs than the engine has memory for", () => {
    const batch = new Batch(limits);
    batch.add(0, 0, 0, true);
    batch.add(0, 0, 1, true);
    expect(() => batch.add(0, 1, 0, true)).toThrow("outputs");
  });

  it("returns the rows that have an output, and rejects all others", () => {
    const batch = new Batch(limits);
    batch.add(7, 0, 0, false);
    expect(batch.outputOf(batch.add(8, 1, 0, true))).toBe(1);
    for (const index of [0, 2, -1, 0.5]) expect(() => batch.outputOf(index)).toThrow(RangeError);
  });

  it("passes its rows to the library in order", () => {
    const row = fc.record({
      token: fc.nat(99),
      position: fc.nat(9),
      sequence: fc.nat(1),
      output: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
        const batch = new Batch({ ...limits, rows: 40, outputs: 40 });
        for (const { token, position, sequence, output } of rows)
          batch.add(token, position, sequence, output);
        const { native } = batch;
        expect(native.n_tokens).toBe(rows.length);
        for (const [index, row] of rows.entries()) {
          const int = (address: bigint) => koffi.decode(address, "int32_t") as number;
          const at = BigInt(index);
          expect({
            token: int(native.token! + 4n * at),
            position: int(native.pos + 4n * at),
            sequence: int(koffi.decode(native.seq_id + 8n * at, "uint64_t") as bigint),
            output: koffi.decode(native.logits + at, "int8_t") === 1,
          }).toEqual(row);
          expect(int(native.n_seq_id + 4n * at)).toBe(1);
        }
      }),
      { seed: 20261122 },
    );
  });

  it.each([false, true])("holds rows of numbers where the library reads them; grids: %s", (hasGrids) => {
    const row = fc.record({
      numbers: fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 2, maxLength: 2 }),
      position: fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9), fc.nat(9)),
      sequence: fc.nat(1),
    });
    const batch = new Batch({ ...limits, rows: 12, hasGrids });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 12 }), (rows) => {
        batch.clear();
        for (const { numbers, position, sequence } of rows)
          batch.addRow(Float32Array.from(numbers), position, sequence, false);
        const { native } = batch;
        expect([native.n_tokens, native.token]).toEqual([rows.length, null]);
        const read = (address: bigint, type: string) => koffi.decode(address, type) as number;
        for (const [index, { numbers, position }] of rows.entries()) {
          const found = numbers.map((_, at) => read(native.embd! + BigInt(index * 8 + at * 4), "float"));
          expect(found).toEqual(numbers);
          for (const [dimension, each] of (hasGrids ? position : position.slice(0, 1)).entries())
            expect(read(native.pos + BigInt(4 * (dimension * rows.length + index)), "int32_t")).toBe(each);
        }
      }),
    );
    batch.clear();
    batch.add(7, 0, 0, false);
    expect([batch.native.embd, read32(batch.native.token!)]).toEqual([null, 7]);
  });

  it("has either tokens or rows of the right length at positions inside the window", () => {
    const batch = new Batch({ ...limits, hasGrids: true });
    const row = new Float32Array(2);
    batch.add(1, 0, 0, false);
    expect(() => batch.addRow(row, [1, 1, 1, 1], 0, false)).toThrow(RangeError);
    batch.clear();
    batch.addRow(row, [0, 9, 9, 0], 0, false);
    expect(() => batch.add(1, 1, 0, false)).toThrow(RangeError);
    expect(() => batch.addRow(new Float32Array(3), [1, 1, 1, 1], 0, false)).toThrow(RangeError);
    for (const wrong of [10, -1, 0.5])
      expect(() => batch.addRow(row, [0, 0, wrong, 0], 0, false)).toThrow("position");
    expect(batch.rows).toBe(1);
  });
});
