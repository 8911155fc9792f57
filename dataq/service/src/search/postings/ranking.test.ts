import { Worker } from "node:worker_threads";
import { expect, test, vi } from "vitest";
import type { Queries } from "../../database/database.ts";
import { normPerLengthOf } from "../bm25.ts";
import type { Query, Question } from "../search-index.ts";
import { BitSet } from "../snapshots/bitset.ts";
import type { OpenSegment, OpenSnapshot } from "../snapshots/open-snapshot.ts";
import { BlockWriter } from "./blocks/codec.ts";
import { PlaceWriter } from "./blocks/places.ts";
import type { RankTask } from "./ranking/rank.ts";
import { Ranking, type RankingOptions } from "./ranking/ranking.ts";

interface Row {
  readonly term: string;
  readonly segment: number;
  readonly documents: number;
  readonly data: Buffer;
  readonly places: Buffer | null;
}

/** The rows of the table of posting blocks, and which words and segments were asked for. */
function tableOf(rows: readonly Row[]) {
  const asked: { readonly name: string; readonly terms: readonly string[]; readonly segments: number[] }[] =
    [];
  const query = async ({ name, values }: { name: string; values: [string[], number[]] }) => {
    const [terms, segments] = values;
    asked.push({ name, terms, segments });
    return { rows: rows.filter((row) => terms.includes(row.term) && segments.includes(row.segment)) };
  };
  return { pool: { query } as unknown as Queries, asked };
}

/** Segments 11, 12, … of these texts, whose words are letters, and the rows of their words. */
function segmentsOf(texts: readonly (readonly string[])[]) {
  const rows: Row[] = [];
  const all = texts.flat();
  const tokens = all.reduce((sum, text) => sum + text.length, 0);
  const segments = texts.map((own, at): OpenSegment => {
    const id = 11 + at;
    for (const word of new Set(own.join(""))) {
      const [postings, places] = [new BlockWriter(), new PlaceWriter()];
      for (const [ordinal, text] of own.entries()) {
        const found = [...text].flatMap((each, place) => (each === word ? [place] : []));
        if (found.length === 0) continue;
        postings.add(ordinal, found.length);
        for (const place of found) places.add(place);
        places.endDocument();
      }
      const data = Buffer.from(postings.bytes());
      rows.push({
        term: word,
        segment: id,
        documents: postings.documents,
        data,
        places: Buffer.from(places.bytes()),
      });
    }
    return {
      id,
      dataset: "a",
      documents: own.length,
      tokens: own.join("").length,
      lengths: new Uint32Array(new SharedArrayBuffer(4 * own.length)).map((_, place) => own[place]!.length),
      dates: new Int32Array(new SharedArrayBuffer(4 * own.length)).map((_, place) => 20_200_101 + place),
      isDated: true,
      home: null,
      normPerLength: normPerLengthOf(tokens, all.length),
      dead: at === 0 ? null : new BitSet(Uint8Array.of(1)),
    };
  });
  const snapshot: OpenSnapshot = {
    id: 1,
    corpus: "c",
    size: all.length,
    refreshedAt: new Date(0),
    nextRefreshAt: null,
    segments,
    isElsewhere: false,
    analysis: "1",
  };
  return { rows, snapshot, segments };
}

const texts = [
  ["abc", "acb", "bbb", "cab", "d", "abab", "bca", "ccab"],
  ["ab", "abcabc", "bac", "abd", "aab", "eab", "bab", "abe", "eee"],
];

function taskOf(question: Question, depth = 20): RankTask {
  return { question, depth, from: 0, last: undefined, near: [] };
}

const wants = (word: string): Question => ({
  query: { all: [] },
  wanted: {
    alternatives: [[[{ terms: [word], weight: 1 }]]],
    hints: [],
    priors: [],
    exact: [],
    sufficient: [],
  },
});

const phrase = (words: string): Query => ({ phrase: [...words].map((term, at) => ({ term, at })) });

/** The documents that have the words in a row, as "segment ordinal". */
function holding(words: string): string[] {
  return texts
    .flatMap((own, segment) => own.map((text, ordinal) => ({ text, segment, ordinal })))
    .filter(({ text, segment, ordinal }) => text.includes(words) && !(segment === 1 && ordinal === 0))
    .map(({ segment, ordinal }) => `${segment} ${ordinal}`);
}

/** Long enough for any machine; by default a question may take five seconds. */
const limitMs = 120_000;
const here = { leastForThread: Number.POSITIVE_INFINITY, limitMs };
const inThread = { leastForThread: 0, threads: 1, limitMs };

test.each<readonly [string, RankingOptions]>([
  ["here", here],
  ["in a thread", inThread],
])("what is ranked %s is what the texts say, also again and beside others", async (_, options) => {
  const { rows, snapshot, segments } = segmentsOf(texts);
  const { pool, asked } = tableOf(rows);
  const ranking = new Ranking(pool, options);
  const read = { snapshot, segments };
  const placesOf = async (question: Question, of = read) =>
    (await ranking.rank(of, taskOf(question))).ranked.map(({ segment, ordinal }) => `${segment} ${ordinal}`);
  try {
    ranking.start();
    for (let round = 0; round < 2; round++) {
      const found = await Promise.all(
        ["ab", "e", "bca", "zz", "abd"].map(async (words) => {
          const query = phrase(words);
          expect((await placesOf({ query })).sort()).toEqual(holding(words).sort());
          return [words, ...(await ranking.allow(read, { query })).map((bits) => bits && [...bits])];
        }),
      );
      // All of a segment is told as undefined; else a bit for each document.
      expect(found[1]).toEqual(["e", [0], [0b1010_0000, 1]]);
      // A word that no document has finds none.
      expect(await ranking.rank(read, taskOf(wants("z")))).toMatchObject({
        total: 0,
        ranked: [],
        unknown: [0],
      });
      // A phrase without words is nowhere, and what is not there may be a phrase or a word.
      expect(await placesOf({ query: phrase("") })).toEqual([]);
      const isNot = (words: string) => (place: string) => !holding(words).includes(place);
      const without = { all: [{ any: [{ term: "a" }] }, { not: phrase("ab") }, { not: { term: "d" } }] };
      expect((await placesOf({ query: without })).sort()).toEqual(
        holding("a").filter(isNot("ab")).filter(isNot("d")).sort(),
      );
      const [first] = (await ranking.rank(read, taskOf(wants("e")))).ranked;
      expect(first).toMatchObject({ segment: 1, ordinal: 8 });
      // The positions of segments are those of what is read.
      expect(await placesOf({ query: { term: "e" } }, { snapshot, segments: segments.slice(1) })).toEqual([
        ...["0 8", "0 7", "0 5"],
      ]);
      expect(await ranking.allow(read, { query: { all: [] } })).toEqual([undefined, Uint8Array.of(0xfe, 1)]);
    }
    // Each word is read once, whether a segment has it or not.
    const before = asked.length;
    await placesOf({ query: { any: ["a", "d", "e", "z"].map((term) => ({ term })) } });
    expect(asked.slice(before)).toEqual([]);
    ranking.forget(snapshot.id);
    expect(await placesOf({ query: { term: "d" } })).toEqual(["0 4", "1 3"]);
  } finally {
    await ranking.close();
  }
});

test("only missing words are read, and only where they are missing", async () => {
  const { rows, snapshot, segments } = segmentsOf(texts);
  const { pool, asked } = tableOf(rows);
  const ranking = new Ranking(pool, here);
  const terms = (...all: string[]) => taskOf({ query: { any: all.map((term) => ({ term })) } });
  await ranking.rank({ snapshot, segments: segments.slice(1) }, terms("d", "z"));
  await ranking.rank({ snapshot, segments }, terms("d", "e"));
  await ranking.rank({ snapshot, segments }, terms("e", "z"));
  expect(asked).toEqual([
    { name: "search-postings", terms: ["d", "z"], segments: [12] },
    { name: "search-postings", terms: ["d", "e"], segments: [11, 12] },
    { name: "search-postings", terms: ["z"], segments: [11] },
  ]);
  await ranking.close();
});

test("that words are missing is known of so many only, long ones too", async () => {
  const { rows, snapshot, segments } = segmentsOf(texts);
  const { pool, asked } = tableOf(rows);
  const ranking = new Ranking(pool, here);
  const read = { snapshot, segments: segments.slice(1) };
  const ask = (from: number, count: number) => {
    const words = Array.from({ length: count }, (_, at) => ({ term: String(from + at).padStart(300, "z") }));
    return ranking.allow(read, { query: { any: words } });
  };
  await ask(0, 1);
  await ask(0, 1);
  expect(asked).toHaveLength(1);
  // Each takes about 700 bytes of eight MiB.
  await ask(1, 15_000);
  await ask(0, 1);
  expect(asked).toHaveLength(3);
  await ranking.close();
});

test("a question goes to a thread if it reads so many postings, a quarter of the documents and positions", async () => {
  const { rows, snapshot, segments } = segmentsOf(texts);
  const block = (term: string) => rows.filter((row) => row.term === term);
  const postings = (...terms: string[]) =>
    terms.flatMap(block).reduce((sum, { documents }) => sum + documents, 0);
  const positions = (...terms: string[]) =>
    terms.flatMap(block).reduce((sum, { places }) => sum + places!.length, 0);
  for (const [query, work] of [
    [{ all: [] }, 17 / 4],
    [{ any: [{ term: "d" }, { term: "e" }] }, 17 / 4 + postings("d", "e")],
    [phrase("abd"), 17 / 4 + postings("a", "b", "d") + positions("a", "b", "d")],
  ] as const) {
    for (const [leastForThread, isHere] of [
      [work, false],
      [work + 0.1, true],
    ] as const) {
      // No question may wait, so that one for a thread fails.
      const ranking = new Ranking(tableOf(rows).pool, { leastForThread, mostWaiting: 0 });
      const outcome = await ranking.rank({ snapshot, segments }, taskOf({ query })).then(
        () => true,
        (error: Error) => (error.cause as Error).message,
      );
      expect(outcome).toBe(isHere || "Too many searches wait to be ranked.");
      await ranking.close();
    }
  }
});

test("questions wait in turn for a thread, so many at most, and fail when it closes or their time is up", async () => {
  const { rows, snapshot, segments } = segmentsOf(texts);
  const read = { snapshot, segments };
  const outcomes = async (options: RankingOptions, count: number, close = false) => {
    const ranking = new Ranking(tableOf(rows).pool, { ...inThread, ...options });
    const asked = Array.from({ length: count }, () =>
      ranking.rank(read, taskOf({ query: { term: "e" } })).then(
        ({ total }) => total,
        (error: Error) => `${(error as { code?: string }).code}: ${(error.cause as Error).message}`,
      ),
    );
    if (close) {
      // The blocks are read first; no message of a thread comes between promises.
      for (let turn = 0; turn < 100; turn++) await null;
      await ranking.close();
    }
    const all = await Promise.all(asked);
    if (!close) await ranking.close();
    return all;
  };
  const full = "unavailable: Too many searches wait to be ranked.";
  expect(await outcomes({ mostWaiting: 2 }, 5)).toEqual([3, 3, 3, full, full]);
  expect(await outcomes({ threads: 2, mostWaiting: 1 }, 4)).toEqual([3, 3, 3, full]);
  expect(await outcomes({}, 2, true)).toEqual([
    "unavailable: The thread that ranks has ended.",
    "unavailable: The service stops.",
  ]);
  const late = await outcomes({ limitMs: 0 }, 1);
  expect(late).toEqual([expect.stringContaining("in time")]);
  const lateHere = new Ranking(tableOf(rows).pool, { ...here, limitMs: 0 });
  await expect(lateHere.rank(read, taskOf({ query: { term: "e" } }))).rejects.toMatchObject({
    code: "unavailable",
  });
});

test("a question that waits longer than its time leaves the queue alone", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const { rows, snapshot, segments } = segmentsOf(texts);
  const ranking = new Ranking(tableOf(rows).pool, inThread);
  try {
    const asked: Promise<number | string>[] = [];
    for (const wait of [0, limitMs / 2, limitMs / 2]) {
      asked.push(
        ranking.rank({ snapshot, segments }, taskOf({ query: { term: "e" } })).then(
          ({ total }) => total,
          (error: Error) => (error.cause as Error).message,
        ),
      );
      // The blocks are read, and no message of the thread comes between promises.
      for (let turn = 0; turn < 100; turn++) await null;
      vi.advanceTimersByTime(wait);
    }
    expect(await Promise.all(asked)).toEqual([3, "No thread was free to rank the question in time.", 3]);
  } finally {
    vi.useRealTimers();
    await ranking.close();
  }
});

test("a thread is told once of a snapshot and of memory, and once to let go of what nobody reads", async () => {
  const told = vi.spyOn(Worker.prototype, "postMessage");
  const { rows, snapshot, segments } = segmentsOf(texts);
  const ranking = new Ranking(tableOf(rows).pool, inThread);
  try {
    for (const term of ["d", "e"]) await ranking.rank({ snapshot, segments }, taskOf({ query: { term } }));
    for (let time = 0; time < 2; time++) ranking.forget(snapshot.id);
    const kinds = told.mock.calls.map(([one]) => Object.keys(one as object)[0]);
    expect(kinds).toEqual(["snapshot", "chunk", "what", "what", "close"]);
  } finally {
    told.mockRestore();
    await ranking.close();
  }
});

test("a word that is kept without its places is in no phrase", async () => {
  const { rows, snapshot, segments } = segmentsOf(texts);
  const bare = rows.map((row) => (row.term === "b" ? { ...row, places: null } : row));
  const ranking = new Ranking(tableOf(bare).pool, here);
  const totalOf = async (query: Query) =>
    (await ranking.rank({ snapshot, segments }, taskOf({ query }))).total;
  expect([await totalOf(phrase("ab")), await totalOf({ term: "b" })]).toEqual([0, holding("b").length]);
  await ranking.close();
});

test.each<readonly [string, RankingOptions]>([
  ["here", here],
  ["in a thread", inThread],
])("a damaged block fails its question %s, is not kept, and others are answered", async (_, options) => {
  const { rows, snapshot, segments } = segmentsOf(texts);
  const damaged = rows.map((row) => (row.term === "d" ? { ...row, data: row.data.subarray(1) } : row));
  const { pool, asked } = tableOf(damaged);
  const ranking = new Ranking(pool, options);
  const ask = (term: string) => ranking.rank({ snapshot, segments }, taskOf({ query: { term } }));
  for (let round = 0; round < 2; round++) {
    await expect(ask("d")).rejects.toThrow("damaged");
    expect((await ask("e")).total).toBe(3);
  }
  expect(asked.map(({ terms }) => terms)).toEqual([["d"], ["e"], ["d"]]);
  await ranking.close();
});

test.each([
  [1_000, 1_000],
  [999, 999 + 1],
])(
  "beside %d documents with every word, others count only if those are too few: %d",
  async (count, total) => {
    const { rows, snapshot, segments } = segmentsOf([[...Array.from({ length: count }, () => "ab"), "a"]]);
    const ranking = new Ranking(tableOf(rows).pool, here);
    const both = wants("a");
    const [a, b] = ["a", "b"].map((word) => [{ terms: [word], weight: 1 }]);
    const question = { ...both, wanted: { ...both.wanted!, alternatives: [[a!, b!]] } };
    const found = await ranking.rank({ snapshot, segments }, taskOf(question));
    expect([found.complete, found.total]).toEqual([count, total]);
    await ranking.close();
  },
);
