import fc from "fast-check";
import { expect, test } from "vitest";
import { normPerLengthOf } from "../bm25.ts";
import type { Query, Question, Wanted } from "../search-index.ts";
import { BitSet } from "../snapshots/bitset.ts";
import type { OpenSegment } from "../snapshots/open-snapshot.ts";
import { BlockWriter, decode, decodedBytes, type Postings, postingsAt } from "./blocks/codec.ts";
import { PlaceReader, PlaceWriter } from "./blocks/places.ts";
import {
  allDocuments,
  between,
  bitsOf,
  type DocumentSet,
  few,
  hasOrdinal,
  inAtLeast,
  intersection,
  many,
  ordinalsOf,
  union,
  without,
} from "./blocks/sets.ts";
import { BlockMemory, type KeptBlock, Reading } from "./ranking/block-memory.ts";
import { Bounds, boundsOf } from "./ranking/bounds.ts";
import { type PhraseWord, withPhrase } from "./ranking/phrase.ts";
import { allow, type ReadSegment, rank } from "./ranking/rank.ts";
import { scoresOf } from "./ranking/scores.ts";
import { Scratch } from "./ranking/scratch.ts";
import { type Ranked, Top } from "./ranking/top.ts";

const ordinals = fc
  .uniqueArray(fc.integer({ min: 0, max: 300_000 }), { maxLength: 300 })
  .map((list) => list.sort((a, b) => a - b));

/** A segment in which each document has this length and date. */
function segmentOf(lengths: readonly number[], dates: readonly number[] = []): OpenSegment {
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  return {
    id: 1,
    dataset: "a",
    documents: lengths.length,
    tokens,
    lengths: Uint32Array.from(lengths),
    dates: Int32Array.from(lengths, (_, ordinal) => dates[ordinal] ?? 0),
    isDated: false,
    home: null,
    normPerLength: normPerLengthOf(tokens, lengths.length),
    dead: null,
  };
}

function readBlock(bytes: Uint8Array, documents: number, segment: OpenSegment): Postings {
  const memory = new Uint8Array(decodedBytes(documents, segment.documents)).fill(0xff);
  const block = postingsAt(memory.buffer, 0, documents, segment.documents);
  decode(bytes, block, segment);
  return block;
}

const large = segmentOf(Array<number>(300_001).fill(7));

test("a block is read as it was written, of rare and frequent terms", () => {
  fc.assert(
    fc.property(ordinals, fc.integer({ min: 1, max: 400 }), fc.boolean(), (list, frequency, isFrequent) => {
      const kept = isFrequent ? list.map((_, at) => 3 * at) : list;
      const writer = new BlockWriter();
      for (const ordinal of kept) writer.add(ordinal, frequency);
      const segment = isFrequent ? segmentOf(Array<number>(3 * list.length).fill(7)) : large;
      const block = readBlock(writer.bytes(), writer.documents, segment);
      expect([...ordinalsOf(block)]).toEqual(kept);
      const places = block.bits === undefined ? kept.map((_, at) => at) : kept;
      expect(places.map((place) => block.frequencies[place])).toEqual(
        list.map(() => Math.min(frequency, 255)),
      );
      if (isFrequent && list.length > 0) expect(block.bits).toBeDefined();
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
    fc.property(fc.array(step, { minLength: 50, maxLength: 200, size: "max" }), (steps) => {
      const memory = new BlockMemory(4 * 512, 512);
      const held: { block: KeptBlock; reading: Reading; first: number }[] = [];
      const ordinalsOf = ({ chunk, offset, documents }: KeptBlock) =>
        postingsAt(chunk.memory, offset, documents, 10_000).ordinals as Uint32Array;
      const wrong: string[] = [];
      for (const [at, { key, documents, isHeld }] of steps.entries()) {
        const reading = new Reading();
        let block = memory.get(`${key}`);
        if (block !== undefined) {
          reading.add(block);
          // What is found was written under this key.
          if (ordinalsOf(block)[0]! % 100 !== key) wrong.push(`${at}: another word's block`);
        } else {
          block = memory.reserve(`${key}`, documents, 10_000, reading);
          ordinalsOf(block).fill(100 * at + key);
          memory.keep(block);
        }
        if (memory.get(`${key}`) !== block) wrong.push(`${at}: not kept`);
        if (isHeld) held.push({ block, reading, first: ordinalsOf(block)[0]! });
        else reading.release();
        for (const { block, first } of held)
          if (!ordinalsOf(block).every((each) => each === first)) wrong.push(`${at}: overwritten`);
        if (held.length > 3) held.shift()?.reading.release();
        const kept = Array.from({ length: 41 }, (_, key) => memory.get(`${key}`)).filter((each) => each);
        // Up to four questions hold a chunk each, beyond the four of the limit.
        if (new Set(kept.map((each) => each!.chunk)).size > 4 + 4) wrong.push(`${at}: too many chunks`);
      }
      expect(wrong).toEqual([]);
    }),
    { seed: 9, numRuns: 30 },
  );
});

test("blocks fill a chunk to its end, what is unused for a turn goes, and what is read stays", () => {
  // A block of so many documents takes five bytes for each, in whole words.
  const memory = new BlockMemory(250, 100);
  const reserve = (key: string, bytes: number, reading = new Reading()) => {
    const block = memory.reserve(key, bytes / 5, 10_000, reading);
    memory.keep(block);
    return block;
  };
  const put = (key: string, bytes: number) => {
    const reading = new Reading();
    const block = reserve(key, bytes, reading);
    reading.release();
    return block;
  };
  const placeOf = ({ chunk, offset }: KeptBlock) => [chunk.id, offset];
  const left = () => [..."abcdeghiklmn"].filter((key) => memory.get(key) !== undefined).join("");
  const [a, b, c, d] = [put("a", 60), put("b", 40), put("c", 20), put("d", 80)];
  expect([a, b, c, d].map(placeOf)).toEqual([
    [1, 0],
    [1, 60],
    [2, 0],
    [2, 20],
  ]);
  new Uint8Array(b.chunk.memory).fill(7, 60);
  // Two questions decode a word at once; the first block is kept, and the second takes the place of c and d.
  const again = put("a", 60);
  expect([placeOf(again), memory.get("a") === a, left()]).toEqual([[2, 0], true, "ab"]);
  const reading = new Reading();
  for (let time = 0; time < 2; time++) reading.add(b);
  expect([b.chunk.readers, reading.chunks.size]).toEqual([1, 1]);
  reading.release();
  expect([b.chunk.readers, reading.chunks.size]).toEqual([0, 0]);
  // b was read since the last turn, and is moved to the front.
  const e = put("e", 60);
  expect([placeOf(b), placeOf(e), left()]).toEqual([[1, 0], [1, 40], "be"]);
  expect([...new Uint8Array(b.chunk.memory)]).toEqual(
    Array.from({ length: 100 }, (_, at) => (at < 40 || at >= 60 ? 7 : 0)),
  );
  const third = put("a", 20);
  expect([placeOf(third), placeOf(put("g", 20)), placeOf(put("h", 20)), left()]).toEqual([
    [2, 60],
    [2, 80],
    [1, 60],
    "aegh",
  ]);
  // The second block of a goes and the third, which is kept under its key, stays.
  const i = put("i", 70);
  expect([placeOf(i), placeOf(third), memory.get("a") === third, left()]).toEqual([
    [1, 20],
    [2, 0],
    true,
    "aghi",
  ]);
  // While all chunks are read, there is one more.
  const [one, two, three] = [new Reading(), new Reading(), new Reading()];
  one.add(i);
  const k = reserve("k", 60, two);
  const l = reserve("l", 60, three);
  expect([placeOf(k), placeOf(l), left()]).toEqual([[2, 0], [3, 0], "hikl"]);
  for (const each of [one, two, three]) each.release();
  // A block of a whole chunk has room in one. Then the additional chunk is gone.
  expect([placeOf(put("m", 100)), left(), placeOf(put("n", 20)), left()]).toEqual([
    [2, 0],
    "im",
    [1, 0],
    "mn",
  ]);
  // A larger one has a chunk of its own at once.
  const big = put("c", 105);
  expect([placeOf(big), big.chunk.memory.byteLength, left()]).toEqual([[4, 0], 108, "cmn"]);
  memory.allow(50);
  expect([placeOf(put("d", 60)), left()]).toEqual([[1, 20], "cdmn"]);
  memory.allow(400);
  expect([placeOf(put("e", 60)), placeOf(put("g", 60)), left()]).toEqual([[5, 0], [2, 0], "cdegn"]);
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
  expect(() => readBlock(writer.bytes().slice(0, -1), 3, large)).toThrow("damaged");
  expect(() => readBlock(writer.bytes(), 2, large)).toThrow("damaged");
  for (const documents of [20, 70_000])
    expect(() => readBlock(writer.bytes(), 3, { ...large, documents })).toThrow("damaged");
});

test("set algebra agrees with Set, for lists and bits", () => {
  const limit = 1_001;
  const members = fc
    .tuple(fc.uniqueArray(fc.nat(limit - 1), { maxLength: 200 }), fc.boolean())
    .map(([list, isMany]) => {
      const sorted = list.toSorted((a, b) => a - b);
      const ordinals = Uint32Array.from(sorted);
      return { list: sorted, set: isMany ? many(bitsOf(ordinals, limit)) : few(ordinals) };
    });
  fc.assert(
    fc.property(fc.array(members, { minLength: 1, maxLength: 4 }), fc.nat(3), (all, atLeast) => {
      const everything = Array.from({ length: limit }, (_, ordinal) => ordinal);
      const times = (ordinal: number) => all.filter(({ list }) => list.includes(ordinal)).length;
      const sets = all.map(({ set }) => set);
      const check = (set: DocumentSet, expected: readonly number[]) => {
        expect([...ordinalsOf(set)]).toEqual(expected);
        expect(set.size).toBe(expected.length);
      };
      const { list: first, set } = all[0]!;
      const { list: last, set: other } = all.at(-1)!;
      check(
        intersection(sets),
        first.filter((each) => times(each) === all.length),
      );
      check(
        union(sets, limit),
        everything.filter((each) => times(each) > 0),
      );
      check(
        inAtLeast(atLeast, sets, limit),
        everything.filter((each) => times(each) >= Math.max(1, atLeast)),
      );
      check(
        without(set, other, limit),
        first.filter((each) => !last.includes(each)),
      );
      check(
        without(allDocuments(limit), set, limit),
        everything.filter((each) => !first.includes(each)),
      );
      const values = Int32Array.from(everything, (each) => each % 10);
      check(
        between(set, values, 3, 5),
        first.filter((each) => each % 10 >= 3 && each % 10 <= 5),
      );
      for (const ordinal of [0, 31, 32, 500, limit - 1])
        expect(hasOrdinal(set, ordinal)).toBe(first.includes(ordinal));
    }),
    { seed: 4, numRuns: 40 },
  );
});

const words = Array.from({ length: 10 }, (_, number) => `w${number}`);

/** A segment whose documents have the words by chance; the last word is in every document. */
function wordedSegment(
  documents: number,
  seed: number,
  { isEven = false, withDead = true } = {},
): ReadSegment {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
  const of = (make: () => number) => Array.from({ length: documents }, make);
  const lengths = of(() => (isEven ? 120 : 20 + Math.floor(400 * next() ** 3)));
  const segment = segmentOf(
    lengths,
    of(() => 20_200_101 + Math.floor(4 * next())),
  );
  const postings = new Map<string, Postings>();
  for (const [number, word] of words.entries()) {
    const writer = new BlockWriter();
    const isIn = () => next() < [0.9, 0.6, 0.6, 0.3, 0.3, 0.15, 0.1, 0.05, 0.01, 1][number]!;
    for (let ordinal = 0; ordinal < documents; ordinal++)
      if (isIn()) writer.add(ordinal, 1 + Math.floor((number % 3) * 4 * next() ** 4));
    postings.set(word, readBlock(writer.bytes(), writer.documents, segment));
  }
  const dead = BitSet.ofSize(documents);
  for (let ordinal = 0; ordinal < documents; ordinal += 7) dead.add(ordinal);
  return {
    segment: { ...segment, dead: withDead ? dead : null },
    terms: { postings, places: new Map() },
  };
}

/** What questions want of these words and one that no document has, with these weights. */
function wantedWith(weight: fc.Arbitrary<number>): fc.Arbitrary<Wanted> {
  const word = fc.constantFrom(...words, "never");
  const plain = fc.record({ terms: fc.array(word, { minLength: 1, maxLength: 3 }), weight });
  const wording = fc.oneof(
    { weight: 5, arbitrary: plain },
    plain.map((each) => ({ ...each, isFlat: true as const })),
  );
  const some = (most: number) => fc.array(wording, { maxLength: most });
  return fc.record({
    alternatives: fc.array(
      fc.array(fc.array(wording, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      { minLength: 1, maxLength: 2 },
    ),
    hints: some(3),
    priors: some(2),
    exact: fc.array(word, { maxLength: 1 }),
    sufficient: fc.array(word, { maxLength: 1 }),
  });
}

test("the first documents of a page are those of a ranking that scores every document", () => {
  // In the second segment all lengths are equal, so that many scores are.
  const segments = [
    wordedSegment(1_999, 1),
    wordedSegment(2_048, 2, { isEven: true }),
    wordedSegment(700, 3, { withDead: false }),
  ];
  const wanted = wantedWith(fc.constantFrom(0.01, 0.25, 0.9, 1, 1, 7));
  const query = fc.constantFrom<Query>(
    { all: [] },
    { term: "w3" },
    { term: "w7" },
    { not: { term: "w4" } },
    { term: "w8" },
  );
  // The mean length of a snapshot is not that of each of its segments.
  const meanLength = fc.constantFrom(20, 120, 120, 500);
  const scratch = new Scratch();
  fc.assert(
    fc.property(
      wanted,
      query,
      fc.nat(150),
      meanLength,
      fc.boolean(),
      (wanted, query, depth, mean, isLast) => {
        const question = { query, wanted };
        const task = { question, from: 0, last: isLast ? "a" : undefined, near: [] };
        const opened = segments.map(({ segment, terms }) => ({
          segment: { ...segment, normPerLength: normPerLengthOf(mean, 1) },
          terms,
        }));
        const ranked = (depth: number) => rank({ ...task, depth }, opened, scratch, () => false);
        const page = ranked(depth);
        // With so many places on the page, every document is scored.
        const whole = ranked(10_000);
        expect([page.total, page.complete]).toEqual([whole.total, whole.complete]);
        expect(whole.ranked).toHaveLength(whole.total);
        const first = whole.ranked.slice(0, depth);
        const placeOf = ({ segment, ordinal }: Ranked) => `${segment} ${ordinal}`;
        expect(page.ranked.map(placeOf)).toEqual(first.map(placeOf));
        for (const [at, { score }] of page.ranked.entries()) expect(score).toBeCloseTo(first[at]!.score, 6);
      },
    ),
    { seed: 10, numRuns: 60 },
  );
});

test("no document scores above its bound, and some score a thousandth below it or less", () => {
  const segments = [wordedSegment(333, 4), wordedSegment(250, 5, { isEven: true })];
  const weight = fc.double({ min: 0.01, max: 7, noNaN: true });
  // The bounds of one common word are rounded up twice, by a hundredth at most. Beside a weight that is exact, some draws
  // need hardly any rounding.
  const common = fc.record({ terms: fc.constantFrom(...words.slice(0, 5)).map((word) => [word]), weight });
  const commonAlone = fc.tuple(fc.array(common, { minLength: 1, maxLength: 2 }), weight).map(
    ([concept, weight]): Wanted => ({
      alternatives: [[concept]],
      hints: [{ terms: ["w9"], weight, isFlat: true }],
      priors: [],
      exact: [],
      sufficient: [],
    }),
  );
  const wanted = fc.oneof(wantedWith(weight), commonAlone);
  // The mean length of a snapshot may be that of the segment, or another.
  const meanLength = fc.constantFrom(undefined, undefined, 20, 500);
  const scratch = new Scratch();
  let atBound = 0;
  fc.assert(
    fc.property(
      wanted,
      fc.constantFrom(...segments),
      meanLength,
      (wanted, { segment: plain, terms }, mean) => {
        const { documents, normPerLength } = plain;
        const segment = {
          ...plain,
          normPerLength: mean === undefined ? normPerLength : normPerLengthOf(mean, 1),
        };
        const { postings } = terms;
        const documentsWithTerm = new Map([...postings].map(([word, { size }]) => [word, size]));
        const statistics = { documents, documentsWithTerm };
        const bounds = boundsOf(wanted, segment, postings, statistics, scratch)!;
        const every = allDocuments(documents);
        const scores = scoresOf(wanted, segment, postings, statistics, ordinalsOf(every), scratch);
        const reaching = (score: number, among: DocumentSet) =>
          bounds.between(bounds.unitsOf(score), Number.POSITIVE_INFINITY, among, scratch);
        const above: number[] = [];
        for (const [ordinal, score] of scores.entries()) {
          const one = few(Uint32Array.of(ordinal));
          if (reaching(score, one).length === 0) above.push(ordinal);
          if (score > 0 && reaching(1.001 * score, one).length === 0) atBound++;
        }
        expect(above).toEqual([]);
        // The same documents as bits.
        const median = scores.toSorted()[documents >> 1]!;
        const found = new Set(reaching(median, every));
        expect(
          scores
            .entries()
            .filter(([ordinal, score]) => score >= median && !found.has(ordinal))
            .toArray(),
        ).toEqual([]);
      },
    ),
    { seed: 11, numRuns: 400 },
  );
  expect(atBound).toBeGreaterThan(100);
});

test("a bound is hardly above the score, of no words, of few, and of as many as are summed", () => {
  const { segment, terms } = wordedSegment(333, 4);
  const { postings } = terms;
  const documentsWithTerm = new Map([...postings].map(([word, { size }]) => [word, size]));
  const statistics = { documents: 333, documentsWithTerm };
  const scratch = new Scratch();
  const wantedOf = (count: number, isFlat: boolean): Wanted => ({
    alternatives: [],
    hints: Array.from({ length: count }, (_, at) => ({
      ...{ terms: [words[(7 * at) % 9]!], weight: 1 + (at % 3) / 2, ...(isFlat && { isFlat }) },
    })),
    priors: [],
    exact: [],
    sufficient: [],
  });
  const every = ordinalsOf(allDocuments(333));
  for (const count of [0, 1, 2, 4, 40, 300, 2_000])
    for (const isFlat of [false, true]) {
      const wanted = wantedOf(count, isFlat);
      const bounds = boundsOf(wanted, segment, postings, statistics, scratch)!;
      const most = wanted.hints.reduce((sum, { terms: [word], weight }) => {
        const size = documentsWithTerm.get(word!)!;
        return sum + weight * (isFlat ? 1 : 2.2 * Math.log(1 + (333 - size + 0.5) / (size + 0.5)));
      }, 0);
      // A word is rounded up by two of the hundred parts and four of the 24,000 that all words share.
      const slack = most * (0.02 + (4 * count) / 24_000);
      const scores = [...scoresOf(wanted, segment, postings, statistics, every, scratch)];
      const reaching = (units: number, ordinal: number) =>
        bounds.between(units, Number.POSITIVE_INFINITY, few(Uint32Array.of(ordinal)), scratch).length > 0;
      const wrong = scores.flatMap((score, ordinal) => {
        const isBelow = !reaching(bounds.unitsOf(score), ordinal);
        const isLoose = score === 0 ? reaching(1, ordinal) : reaching(bounds.unitsOf(score + slack), ordinal);
        return isBelow || (count > 0 && isLoose) ? [`${count} ${isFlat} ${ordinal}`] : [];
      });
      expect(wrong).toEqual([]);
    }
  expect(boundsOf(wantedOf(2_001, true), segment, postings, statistics, scratch)).toBeUndefined();
});

test("bounds name the documents from one up to another, of lists and of bits", () => {
  const scratch = new Scratch();
  const bound = fc.integer({ min: 0, max: 0x7fff });
  const near = fc.integer({ min: 0, max: 3 });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.tuple(fc.array(near, { minLength: 1, maxLength: 70, size: "max" }), near, near),
        fc.tuple(fc.array(bound, { minLength: 1, maxLength: 70, size: "max" }), bound, bound),
      ),
      fc.integer({ min: 1, max: 5 }),
      ([values, from, to], step) => {
        // Documents 0 and 2 of each four share the first word, 1 and 3 the second.
        const sums = new Uint32Array(16 * Math.ceil(values.length / 32));
        for (const [ordinal, value] of values.entries())
          sums[2 * (ordinal >> 2) + (ordinal % 2)]! |= value << (ordinal % 4 < 2 ? 0 : 16);
        const bounds = new Bounds(sums, 0.5, 3, 10);
        const members = values.flatMap((_, ordinal) => (ordinal % step === 0 ? [ordinal] : []));
        const list = few(Uint32Array.from(members));
        const expected = members.filter((ordinal) => from <= values[ordinal]! && values[ordinal]! < to);
        for (const set of [list, many(bitsOf(list.ordinals, values.length))]) {
          expect([...bounds.between(from, to, set, scratch)]).toEqual(expected);
          expect([...bounds.between(0x8000, Number.POSITIVE_INFINITY, set, scratch)]).toEqual([]);
          // As few steps of 128 as the best documents need.
          const count = 1 + (from % members.length);
          const best = members.map((ordinal) => values[ordinal]!).sort((a, b) => b - a)[count - 1]!;
          expect(bounds.unitsOfBest(count, set, scratch.take)).toBe(best - (best % 128));
        }
        // In half units, less ten that no bound contains and three that rounding took.
        expect(bounds.unitsOf(10 + from)).toBe(Math.max(0, 2 * from - 3 - (from === 0 ? 0 : 1)));
        scratch.reset();
      },
    ),
    { seed: 12 },
  );
});

/** How often a document has each word. */
function wordsOfDocument({ terms }: ReadSegment, ordinal: number): (word: string) => number {
  return (word) => {
    const postings = terms.postings.get(word);
    if (postings === undefined) return 0;
    if (postings.ordinals === undefined) return postings.frequencies[ordinal]!;
    const at = postings.ordinals.indexOf(ordinal);
    return at === -1 ? 0 : postings.frequencies[at]!;
  };
}

/** The score of a document as the definitions say it, one document at a time. */
function scoreByDefinition(
  wanted: Wanted,
  idf: (word: string) => number,
  norm: number,
  countOf: (word: string) => number,
): number {
  const ofTerm = (word: string, weight: number, isFlat: boolean) => {
    const count = countOf(word);
    if (isFlat) return count > 0 ? weight : 0;
    return (weight * idf(word) * 2.2 * count) / (count + norm);
  };
  const ofWording = ({ terms, weight, ...kind }: Wanted["hints"][number]) => {
    const isFlat = kind.isFlat === true;
    const share = isFlat ? weight / terms.length : weight / Math.sqrt(terms.length);
    const all = terms.map((word) => ofTerm(word, share, isFlat));
    const had = terms.filter((word) => countOf(word) > 0).length / terms.length;
    return all.reduce((sum, score) => sum + score, 0) * had;
  };
  const concepts = wanted.alternatives.flat().map((concept) => ({
    best: Math.max(...concept.map(ofWording)),
    worth: Math.max(1, ...concept[0]!.terms.map(idf)),
  }));
  const mass = concepts.reduce((sum, { worth }) => sum + worth, 0);
  const covered = concepts.reduce((sum, { best, worth }) => sum + (best > 0 ? worth : 0), 0);
  let score = concepts.reduce((sum, { best }) => sum + best, 0);
  if (concepts.length > 1) score *= 0.4 + (0.6 * covered) / mass;
  score += wanted.hints.reduce((sum, hint) => sum + ofWording(hint), 0);
  if (score > 0) score += wanted.priors.reduce((sum, prior) => sum + ofWording(prior), 0);
  return score + wanted.exact.filter((word) => countOf(word) > 0).length * 100_000;
}

test("a page has the documents, the scores and the counts that the definitions say", () => {
  const few = [
    wordedSegment(61, 31),
    wordedSegment(40, 32, { withDead: false }),
    wordedSegment(33, 33, { isEven: true }),
  ];
  const many = [wordedSegment(1_300, 34), few[1]!];
  const word = fc.constantFrom(...words, "never", "no such");
  const related = fc.record({
    terms: fc.array(word, { minLength: 1, maxLength: 2 }),
    weight: fc.constant(0.5),
  });
  const wanted = fc
    .tuple(
      wantedWith(fc.constantFrom(0.25, 1, 7)),
      fc.array(related, { maxLength: 2 }),
      fc.array(word, { maxLength: 1 }),
    )
    .map(
      ([own, more, sufficient]): Wanted => ({
        ...own,
        sufficient,
        // Some concepts have only words that no document has, or also words that are related.
        alternatives: own.alternatives.map((concepts) =>
          concepts.map((concept, at) =>
            at === 0 ? [...concept, ...more.map((one) => ({ ...one, isRelated: true as const }))] : concept,
          ),
        ),
      }),
    );
  const query = fc.constantFrom<Query>(
    { all: [] },
    { any: [{ term: "w3" }, { term: "w4" }] },
    { not: { term: "w4" } },
    { of: [{ term: "w1" }, { term: "w2" }, { term: "w3" }], atLeast: 2 },
    { all: [{ term: "w1" }, { not: { term: "w3" } }, { all: [{ any: [{ term: "w2" }, { term: "w9" }] }] }] },
    { term: "never" },
  );
  const holds = (query: Query, has: (word: string) => boolean): boolean => {
    if ("term" in query) return has(query.term);
    if ("not" in query) return !holds(query.not, has);
    if ("any" in query) return query.any.some((one) => holds(one, has));
    if ("all" in query) return query.all.every((one) => holds(one, has));
    if ("of" in query) return query.of.filter((one) => holds(one, has)).length >= query.atLeast;
    throw new Error("no phrase is asked for");
  };
  const scratch = new Scratch();
  const near = fc.uniqueArray(fc.nat(30), { maxLength: 5 });
  const day = fc.constantFrom("2020-01-02", "2020-01-03");
  const dates = fc.oneof(
    fc.constantFrom(undefined, undefined, "none" as const),
    fc.record({ from: day, to: day }, { requiredKeys: [] }),
  );
  const isWithin = (date: number, asked: Question["dates"]) => {
    if (asked === undefined) return true;
    if (asked === "none") return date === 0;
    const [from, to] = [asked.from ?? "2000-01-01", asked.to ?? "2030-01-01"].map((one) =>
      Number(one.replaceAll("-", "")),
    );
    return from! <= date && date <= to!;
  };
  fc.assert(
    fc.property(
      wanted,
      query,
      fc.constantFrom(few, few, few, many),
      near,
      dates,
      (wanted, query, segments, near, dates) => {
        const from = near.length * 7;
        const opened = segments.map(({ segment, terms }, at) => ({
          segment: { ...segment, dataset: at === 0 ? "a" : "b", normPerLength: normPerLengthOf(120, 1) },
          terms,
        }));
        const documents = opened.flatMap((read, segment) =>
          Array.from({ length: read.segment.documents }, (_, ordinal) => ({
            ...{ segment, ordinal, countOf: wordsOfDocument(read, ordinal) },
            norm: 0.3 + (0.9 / 120) * read.segment.lengths[ordinal]!,
            date: read.segment.dates[ordinal]! - (segment === 0 ? 1e8 : 0),
            isThere:
              read.segment.dead?.has(ordinal) !== true && isWithin(read.segment.dates[ordinal]!, dates),
          })),
        );
        const withWord = (word: string) => documents.filter(({ countOf }) => countOf(word) > 0).length;
        const counts = new Map([...words, "never", "no such"].map((word) => [word, withWord(word)]));
        const idf = (word: string) => {
          const count = counts.get(word)!;
          return Math.log(1 + (documents.length - count + 0.5) / (count + 0.5));
        };
        const isKnown = ({ terms }: Wanted["hints"][number]) => terms.every((word) => counts.get(word)! > 0);
        const all = wanted.alternatives.flat();
        const unknown = all.flatMap((concept, at) => (concept.some(isKnown) ? [] : [at]));
        const known = wanted.alternatives
          .map((concepts) => concepts.filter((concept) => concept.some(isKnown)))
          .filter((concepts) => concepts.length > 0);
        const own = known.map((concepts) =>
          concepts.map((concept) => {
            const words = concept.filter((wording) => wording.isRelated === undefined && isKnown(wording));
            return words.length > 0 ? words : concept;
          }),
        );
        const judged = documents
          .filter(({ isThere, countOf }) => isThere && holds(query, (word) => countOf(word) > 0))
          .map((document) => {
            const has = (word: string) => document.countOf(word) > 0;
            const isIn = (concepts: typeof known) =>
              concepts.some((each) =>
                each.every((concept) => concept.some(({ terms }) => terms.every(has))),
              ) || [...wanted.exact, ...wanted.sufficient].some(has);
            const finding = [...all.flat(), ...wanted.hints].flatMap(({ terms }) => terms);
            const hasWord = [...finding, ...wanted.exact].some(has);
            return { ...document, isComplete: isIn(known), isOwn: isIn(known) && isIn(own), hasWord };
          });
        const complete = judged.filter(({ isComplete }) => isComplete).length;
        const isEnough = complete >= 1_000;
        const what = isEnough ? { ...wanted, hints: wanted.hints.filter(({ isFlat }) => isFlat) } : wanted;
        const ranked = judged
          .filter(({ isComplete, hasWord }) => isComplete || (!isEnough && hasWord))
          .map((each) => ({
            ...each,
            score:
              scoreByDefinition(what, idf, each.norm, each.countOf) +
              (each.isComplete ? 10_000 : 0) +
              (each.isOwn ? 10_000 : 0),
          }));
        const places = near.map((ordinal) => ({ segment: 1, ordinal }));
        const question = { query, wanted, ...(dates === undefined ? {} : { dates }) };
        const answer = rank(
          { question, depth: 2_000, from, last: "a", near: places },
          opened,
          scratch,
          () => false,
        );
        expect(answer).toMatchObject({ total: ranked.length, complete, unknown });
        expect(answer.ranked).toHaveLength(Math.max(0, ranked.length - from));
        const key = ({ segment, ordinal }: { segment: number; ordinal: number }) => `${segment} ${ordinal}`;
        const expected = new Map(ranked.map((each) => [key(each), each]));
        let before = Number.POSITIVE_INFINITY;
        for (const one of answer.ranked) {
          const { score, date } = expected.get(key(one))!;
          expect([one.score, one.date]).toEqual([expect.closeTo(score, 4), date]);
          expect(one.score).toBeLessThanOrEqual(before);
          before = one.score;
        }
        const best = Math.max(0, ...ranked.map(({ score }) => score));
        expect(answer.best).toBeCloseTo(best, 4);
        const looked = places.map((place) => judged.find((each) => key(each) === key(place)));
        const findable = (at: number) => {
          const { countOf } = documents.find((each) => key(each) === key(places[at]!))!;
          const finding = [...all.flat(), ...wanted.hints].flatMap(({ terms }) => terms);
          return [...finding, ...wanted.exact].some((word) => countOf(word) > 0);
        };
        const isWhole = looked.map((each) => each?.isComplete === true);
        expect(answer.wordless).toEqual(near.flatMap((_, at) => (isWhole[at] || findable(at) ? [] : [at])));
        const counted = near.filter((_, at) => isWhole[at] || (!isEnough && findable(at))).length;
        expect(answer.uncounted).toBe(near.length - counted);
      },
    ),
    { seed: 41, numRuns: 50 },
  );
});

test("a question without words has what its filters allow, the newest first", () => {
  const segments = [wordedSegment(61, 31), wordedSegment(40, 32, { withDead: false })];
  const opened = segments.map(({ segment, terms }, at) => ({
    segment: { ...segment, dataset: at === 0 ? "a" : "b" },
    terms,
  }));
  const scratch = new Scratch();
  const ask = (query: Query, last?: string, depth = 200) => ({
    ...{ question: { query }, depth, from: 0, last, near: [{ segment: 0, ordinal: 3 }] },
  });
  const holding = (word: string | undefined) =>
    opened.flatMap(({ segment, terms }, at) =>
      Array.from({ length: segment.documents }, (_, ordinal) => ordinal)
        .filter((ordinal) => segment.dead?.has(ordinal) !== true)
        .filter((ordinal) => word === undefined || wordsOfDocument({ segment, terms }, ordinal)(word) > 0)
        .map((ordinal) => ({ segment: at, ordinal, date: segment.dates[ordinal]! })),
    );
  for (const last of [undefined, "a"])
    for (const word of ["w3", undefined]) {
      const query: Query = word === undefined ? { all: [] } : { term: word };
      const shifted = holding(word).map((one) => ({
        ...one,
        date: one.date - (last !== undefined && one.segment === 0 ? 1e8 : 0),
      }));
      const sorted = shifted.sort(
        (a, b) => b.date - a.date || a.segment - b.segment || a.ordinal - b.ordinal,
      );
      const answer = rank(ask(query, last), opened, scratch, () => false);
      expect(answer).toMatchObject({ total: sorted.length, complete: sorted.length, unknown: [], best: 0 });
      expect(answer.ranked).toEqual(sorted.map((one) => ({ ...one, score: 0 })));
      const isThere = sorted.some((one) => one.segment === 0 && one.ordinal === 3);
      expect([answer.wordless, answer.uncounted]).toEqual([isThere ? [] : [0], isThere ? 0 : 1]);
      const none = rank(ask(query, last, 0), opened, scratch, () => false);
      expect([none.total, none.ranked]).toEqual([sorted.length, []]);
      const bits = allow(ask(query), opened, scratch, () => false);
      const allowed = bits.map((own, at) =>
        own === undefined
          ? opened[at]!.segment.documents
          : [...own].reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0),
      );
      expect(allowed).toEqual([0, 1].map((at) => sorted.filter(({ segment }) => segment === at).length));
    }
  expect(allow(ask({ all: [] }), opened, scratch, () => false)[1]).toBeUndefined();
  expect(() => rank(ask({ all: [] }), opened, scratch, () => true)).toThrow("in time");
  expect(() => allow(ask({ all: [] }), opened, scratch, () => true)).toThrow("in time");
});

test("a phrase is where its words stand one after the other, as often as that is", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 });
  const asked = fc.uniqueArray(fc.record({ word: fc.constantFrom("a", "b", "c"), at: fc.nat(3) }), {
    ...{ minLength: 1, maxLength: 3, selector: ({ word }) => word },
  });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 30 }), asked, (texts, asked) => {
      const segment = segmentOf(texts.map(({ length }) => length));
      const read = (word: string): PhraseWord => {
        const [postings, places] = [new BlockWriter(), new PlaceWriter()];
        for (const [ordinal, own] of texts.entries()) {
          const at = own.flatMap((each, place) => (each === word ? [place] : []));
          if (at.length === 0) continue;
          postings.add(ordinal, at.length);
          for (const place of at) places.add(place);
          places.endDocument();
        }
        const { at } = asked.find((each) => each.word === word)!;
        return {
          at,
          postings: readBlock(postings.bytes(), postings.documents, segment),
          places: places.bytes(),
        };
      };
      const candidates = texts.flatMap((own, ordinal) =>
        asked.every(({ word }) => own.includes(word)) ? [ordinal] : [],
      );
      const found = withPhrase(
        Uint32Array.from(candidates),
        asked.map(({ word }) => read(word)),
      );
      const expected = candidates.filter((ordinal) =>
        texts[ordinal]!.some((_, start) =>
          asked.every(({ word, at }) => texts[ordinal]![start + at] === word),
        ),
      );
      expect([...found]).toEqual(expected);
    }),
    { seed: 41, numRuns: 200 },
  );
});

test("the best few are those of a full sort, in a total order", () => {
  const match = fc.record({
    score: fc.integer({ min: 0, max: 5 }),
    date: fc.integer({ min: 0, max: 3 }),
    segment: fc.integer({ min: 0, max: 2 }),
    ordinal: fc.integer({ min: 0, max: 1000 }),
  });
  const matches = fc.uniqueArray(match, {
    ...{ selector: (m) => `${m.segment} ${m.ordinal}`, maxLength: 200, size: "max" as const },
  });
  fc.assert(
    fc.property(matches, fc.integer({ min: 0, max: 50 }), (list, size) => {
      const top = new Top(size);
      for (const m of list) top.offer(m.score, m.date, m.segment, m.ordinal);
      const sorted = [...list].sort(
        (a, b) => b.score - a.score || b.date - a.date || a.segment - b.segment || a.ordinal - b.ordinal,
      );
      expect(top.ranked()).toEqual(sorted.slice(0, size));
      // No lower score is kept; a page without room keeps none.
      const last =
        sorted[size - 1]?.score ?? (size === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
      expect(top.leastScore).toBe(last);
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

test("scratch memory does not overlap until it is reset, however much is taken", () => {
  for (const length of [1 << 20, (1 << 20) + 1]) expect(new Scratch().take(length)).toHaveLength(length);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 60_000 }), { maxLength: 20 }), (lengths) => {
      const scratch = new Scratch();
      const taken = lengths.map((length, place) => scratch.take(length).fill(place));
      taken.forEach((array, place) => {
        expect(array.length).toBe(lengths[place]);
        expect(array.every((each) => each === place)).toBe(true);
      });
      scratch.scores("a", 10).fill(1);
      const more = scratch.scores("a", 100_000);
      expect(more).toHaveLength(100_000);
      expect(more.every((score) => score === 0)).toBe(true);
    }),
    { seed: 8, numRuns: 20 },
  );
});
