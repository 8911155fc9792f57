import fc from "fast-check";
import { expect, test } from "vitest";
import { BitSet } from "./bitset.ts";
import { BlockMemory, type KeptBlock, Reading } from "./block-memory.ts";
import { BlockWriter, decode, decodedBytes, type Postings, postingsAt } from "./codec.ts";
import { PlaceReader, PlaceWriter } from "./places.ts";
import { Recent } from "./recent.ts";
import { Scratch } from "./scratch.ts";
import { common, countUnion, intersect, subtract, unite, withAny, within } from "./sets.ts";
import { Top } from "./top.ts";

const ordinals = fc
  .uniqueArray(fc.integer({ min: 0, max: 300_000 }), { maxLength: 300 })
  .map((list) => list.sort((a, b) => a - b));

function readBlock(bytes: Uint8Array, documents: number, limit: number): Postings {
  const block = postingsAt(new ArrayBuffer(decodedBytes(documents, limit)), 0, documents, limit);
  decode(bytes, block, limit);
  return block;
}

test("a block is read as it was written", () => {
  fc.assert(
    fc.property(ordinals, fc.integer({ min: 1, max: 400 }), (list, frequency) => {
      const writer = new BlockWriter();
      for (const ordinal of list) writer.add(ordinal, frequency);
      const block = readBlock(writer.bytes(), writer.documents, 300_001);
      expect([...block.ordinals]).toEqual(list);
      expect([...block.frequencies]).toEqual(list.map(() => Math.min(frequency, 255)));
    }),
    { seed: 3 },
  );
});

test("kept blocks stay intact while they are read, and the memory stays within its limit", () => {
  const step = fc.record({
    key: fc.nat(40),
    documents: fc.integer({ min: 1, max: 60 }),
    isHeld: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const memory = new BlockMemory(4 * 512, 512);
      const held: { block: KeptBlock; reading: Reading; first: number }[] = [];
      const ordinalsOf = ({ chunk, offset, documents }: KeptBlock) =>
        postingsAt(chunk.memory, offset, documents, 10_000).ordinals;
      const chunks = new Set<object>();
      for (const [at, { key, documents, isHeld }] of steps.entries()) {
        const reading = new Reading();
        let block = memory.get(`${key}`);
        if (block !== undefined) {
          reading.add(block);
          // What is found was written under this key.
          expect(ordinalsOf(block)[0]! % 100).toBe(key);
        } else {
          block = memory.reserve(`${key}`, documents, 10_000, reading);
          ordinalsOf(block).fill(100 * at + key);
          memory.keep(block);
        }
        chunks.add(block.chunk);
        if (isHeld) held.push({ block, reading, first: ordinalsOf(block)[0]! });
        else reading.release();
        for (const { block, first } of held)
          expect(ordinalsOf(block).every((each) => each === first)).toBe(true);
        if (held.length > 3) held.shift()?.reading.release();
      }
      // Up to four questions hold a chunk each, beyond the four of the limit.
      expect(chunks.size).toBeLessThanOrEqual(4 + 4);
    }),
    { seed: 9 },
  );
});

test("positions are read as they were written, even after some documents are skipped", () => {
  const documents = fc.array(
    ordinals.filter((list) => list.length > 0),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(documents, fc.nat(7), (lists, skipped) => {
      const writer = new PlaceWriter();
      for (const list of lists) {
        for (const place of list) writer.add(place);
        writer.endDocument();
      }
      const reader = new PlaceReader(writer.bytes());
      const first = skipped % lists.length;
      reader.skipDocuments(first);
      for (const list of lists.slice(first)) expect(reader.nextDocument()).toEqual(list);
      expect(() => reader.nextDocument()).toThrow("too early");
    }),
    { seed: 5 },
  );
});

test("rejects a damaged block", () => {
  const writer = new BlockWriter();
  for (const ordinal of [1, 200, 70_000]) writer.add(ordinal, 2);
  expect(() => readBlock(writer.bytes().slice(0, -1), 3, 100_000)).toThrow("damaged");
  expect(() => readBlock(writer.bytes(), 2, 100_000)).toThrow("damaged");
  expect(() => readBlock(writer.bytes(), 3, 70_000)).toThrow("damaged");
});

test("set algebra agrees with Set", () => {
  fc.assert(
    fc.property(ordinals, ordinals, ordinals, (a, b, c) => {
      const [x, y, z] = [a, b, c].map((list) => Uint32Array.from(list)) as [
        Uint32Array,
        Uint32Array,
        Uint32Array,
      ];
      const inB = new Set(b);
      expect([...intersect(x, y)]).toEqual(a.filter((n) => inB.has(n)));
      const dense = new Uint8Array(300_001);
      for (const n of b) dense[n] = 3;
      expect([...within(x, dense)]).toEqual(a.filter((n) => inB.has(n)));
      const inC = new Set(c);
      const inDense = { ordinals: y, dense };
      const inSparse = { ordinals: z, dense: undefined };
      expect([...withAny(x, [[inDense], [inSparse]], 300_001)]).toEqual(
        a.filter((n) => inB.has(n) || inC.has(n)),
      );
      const inBoth = a.filter((n) => inB.has(n) && inC.has(n));
      expect([...withAny(x, [[inDense, inSparse]], 300_001)]).toEqual(inBoth);
      expect([...common([{ ordinals: x, dense: undefined }, inSparse, inDense])]).toEqual(inBoth);
      expect(countUnion([x, y, z], 300_001)).toBe(new Set([...a, ...b, ...c]).size);
      expect(countUnion([y, z], 300_001, x)).toBe(a.filter((n) => inB.has(n) || inC.has(n)).length);
      expect([...subtract(x, y)]).toEqual(a.filter((n) => !inB.has(n)));
      const times = new Map<number, number>();
      for (const n of [...a, ...b, ...c]) times.set(n, (times.get(n) ?? 0) + 1);
      for (const atLeast of [1, 2, 3]) {
        const expected = [...times].filter(([, count]) => count >= atLeast).map(([n]) => n);
        expect([...unite([x, y, z], 300_001, atLeast)]).toEqual(expected.sort((p, q) => p - q));
      }
    }),
    { seed: 4 },
  );
});

test("the best few are those of a full sort, in a total order", () => {
  const match = fc.record({
    score: fc.integer({ min: 0, max: 5 }),
    date: fc.integer({ min: 0, max: 3 }),
    segment: fc.integer({ min: 0, max: 2 }),
    ordinal: fc.integer({ min: 0, max: 1000 }),
  });
  const matches = fc.uniqueArray(match, { selector: (m) => `${m.segment} ${m.ordinal}`, maxLength: 200 });
  fc.assert(
    fc.property(matches, fc.integer({ min: 0, max: 50 }), (list, size) => {
      const top = new Top(size);
      for (const m of list) top.offer(m.score, m.date, m.segment, m.ordinal);
      const sorted = [...list].sort(
        (a, b) => b.score - a.score || b.date - a.date || a.segment - b.segment || a.ordinal - b.ordinal,
      );
      expect(top.ranked()).toEqual(sorted.slice(0, size));
      const together = new Top(size);
      for (const segment of [0, 1, 2]) {
        const own = list.filter((m) => m.segment === segment);
        const dates = new Int32Array(1_001);
        for (const { ordinal, date } of own) dates[ordinal] = date;
        const [scores, ordinals] = [own.map((m) => m.score), own.map((m) => m.ordinal)];
        together.offerAll(Float64Array.from(scores), dates, segment, Uint32Array.from(ordinals));
      }
      expect(together.ranked()).toEqual(sorted.slice(0, size));
    }),
    { seed: 5 },
  );
});

test("removes what was not used for long when the bytes exceed the limit", () => {
  const steps = fc.array(fc.record({ key: fc.integer({ min: 0, max: 9 }), isRead: fc.boolean() }), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(steps, (list) => {
      const recent = new Recent<number, string>(35);
      // A simple model: a queue of at most three entries, because each has 10 bytes. An entry that was used moves to
      // the end once.
      const queue: number[] = [];
      const used = new Set<number>();
      for (const { key, isRead } of list) {
        const isKept = queue.includes(key);
        if (isRead) {
          expect(recent.get(key)).toBe(isKept ? `${key}` : undefined);
          if (isKept) used.add(key);
          continue;
        }
        recent.put(key, `${key}`, 10);
        if (isKept) continue;
        queue.push(key);
        used.add(key);
        while (queue.length > 3) {
          const oldest = queue.shift() as number;
          if (used.delete(oldest)) queue.push(oldest);
        }
      }
      for (const key of Array(10).keys()) expect(recent.get(key) !== undefined).toBe(queue.includes(key));
    }),
    { seed: 7 },
  );
});

test("scratch memory does not overlap until it is reset, however much is taken", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 60_000 }), { maxLength: 20 }), (lengths) => {
      const scratch = new Scratch();
      const taken = lengths.map((length, place) => scratch.take(length).fill(place));
      taken.forEach((array, place) => {
        expect(array.length).toBe(lengths[place]);
        expect(array.every((each) => each === place)).toBe(true);
      });
      scratch.scores("a", 10).fill(1);
      expect(scratch.scores("a", 100_000).every((score) => score === 0)).toBe(true);
    }),
    { seed: 8, numRuns: 20 },
  );
});

test("a bit set counts its members", () => {
  fc.assert(
    fc.property(ordinals, (list) => {
      const bits = BitSet.ofSize(300_001);
      for (const n of list) bits.add(n);
      expect(bits.count()).toBe(list.length);
      expect(list.every((n) => bits.has(n))).toBe(true);
    }),
    { seed: 6, numRuns: 20 },
  );
});
