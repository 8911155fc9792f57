import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createModelStore, embeddingModelPath } from "../../../locallm/test/model-store.ts";
import { startServer } from "../../../locallm/test/server-process.ts";
import { buildVectors } from "../src/background/vectors/build-vectors.ts";
import { VectorSchedule } from "../src/background/vectors/schedule.ts";
import type { Database } from "../src/database/database.ts";
import {
  type PaperRecord,
  paperDocument,
  papersCorpus,
} from "../src/operations/research/paper-search/corpus.ts";
import { samplePaper } from "../src/operations/research/paper-search/sample.ts";
import { createSources } from "../src/operations/sources.ts";
import { Embedder } from "../src/search/meaning/embedder.ts";
import { Meaning } from "../src/search/meaning/meaning.ts";
import { Nearest } from "../src/search/meaning/nearest.ts";
import { unitVector } from "../src/search/meaning/vector.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { IndexDocument, SearchIndex } from "../src/search/search-index.ts";
import type { Answer } from "../src/sources/source.ts";
import { WrittenRecord } from "../src/sources/written-record.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { type ModelServer, startModelServer, vectorOf } from "./model-server.ts";
import { told } from "./told.ts";

/** Words that no question uses. */
const filler = Array.from(
  { length: 150 },
  (_, at) => `w${String.fromCharCode(97 + (at % 26))}${"xyzuv"[at % 5]}${"kmnpqr"[at % 6]}`,
);

function paper(number: number, title: string, date = "2020-01-01"): IndexDocument {
  const { source, ...fields } = samplePaper(0) as PaperRecord & { source: object };
  const words = Array.from({ length: 6 }, (_, at) => filler[(number * 7 + at * 31) % filler.length]);
  return paperDocument({
    ...fields,
    id: `p${number}`,
    doi: null,
    title,
    title_en: null,
    authors: [],
    keywords: [],
    abstract: `${title} ${words.join(" ")}`,
    publication_date: date,
    source,
  } as PaperRecord);
}

const titles = new Map<number, string>([
  [10, "physician"],
  [11, "doctor"],
  [300, "automobile"],
  [301, "car"],
  [302, "vehicle vehicle"],
]);
const papers = Array.from({ length: 600 }, (_, number) => paper(number, titles.get(number) ?? "study"));

let folder: string;
let database: Database;
let index: SearchIndex;
let server: ModelServer;
let embedder: Embedder;
let now = 0;
const open: Meaning[] = [];

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  index = embeddedIndex(database);
  server = await startModelServer();
  embedder = new Embedder({ address: server.url, name: "words" });
  await index.refresh(papersCorpus, each(papers), { dataset: "a", mode: "replace" });
}, 120_000);

afterEach(() => server.behave("well"));

afterAll(async () => {
  for (const meaning of open) await meaning.close();
  await server.close();
  await database.close();
  await removeDataFolder(folder);
});

async function* each(list: readonly IndexDocument[]): AsyncGenerator<IndexDocument> {
  yield* list;
}

async function build(over: Partial<Parameters<typeof buildVectors>[0]> = {}) {
  return buildVectors({
    database,
    space: index.vectors,
    embedder,
    model: await embedder.identity(AbortSignal.timeout(10_000)),
    corpus: papersCorpus,
    document: paperDocument,
    withoutDataset: "generated",
    signal: new AbortController().signal,
    progress: () => {},
    onRejected: () => {},
    ...over,
  });
}

/** A search by meaning whose model the server has. Failures are collected. */
async function searching(limitMs = 30_000) {
  const troubles: string[] = [];
  const meaning = new Meaning({
    space: index.vectors,
    database,
    embedder,
    withoutDataset: "generated",
    limitMs,
    now: () => now,
    onTrouble: (message) => troubles.push(message),
  });
  open.push(meaning);
  meaning.use("words:latest@d1");
  const source = createSources({ index, samples: false, meaning }).find(papersCorpus)!;
  const ask = async (query: string, page: { page?: number; pageSize?: number; snapshot?: string } = {}) => {
    const answer = await source.run(
      { query },
      { page: 1, pageSize: 20, ...page },
      { signal: new AbortController().signal, now: new Date(), sandbox: false },
    );
    return withRecords(answer);
  };
  return { meaning, source, ask, troubles };
}

/** The answer without any search by meaning. */
async function byWords(query: string) {
  const source = createSources({ index, samples: false }).find(papersCorpus)!;
  const page = { page: 1, pageSize: 20 };
  const context = { signal: new AbortController().signal, now: new Date(), sandbox: false };
  return withRecords(await source.run({ query }, page, context));
}

function withRecords(answer: Answer) {
  const records = (answer.records ?? []).map((record) =>
    record instanceof WrittenRecord ? record.parse() : record,
  ) as { id: string; highlights: string[]; score: number }[];
  return { ...answer, warnings: told(answer.warnings), records, ids: records.map(({ id }) => id) };
}

describe("before all vectors exist", () => {
  test("words answer alone, and the version does not name the model", async () => {
    const stop = new AbortController();
    const building = build({
      signal: stop.signal,
      progress: ({ done }) => done > 0 && stop.abort(),
    });
    await expect(building).rejects.toThrow();
    const { source, ask, troubles } = await searching();
    const answer = await ask("car");
    expect(answer).toEqual(await byWords("car"));
    expect(answer.index?.snapshot).toMatch(/^\d+$/);
    expect(await source.version(false)).toMatch(/^imported \d+$/);
    expect(troubles).toEqual([]);
  });

  test("a build that was interrupted continues with the blocks that lack", async () => {
    server.texts.length = 0;
    const counts = await build();
    expect(counts).toMatchObject({ done: 600, total: 600 });
    expect(counts.made).toBeLessThan(600);
    expect(server.texts).toHaveLength(counts.made);
    expect((await build()).made).toBe(0);
  });
});

describe("with all vectors", () => {
  test("finds what has none of the words, without a highlight, and says so", async () => {
    const { source, ask } = await searching();
    const found = await ask("car");
    expect(found.ids[0]).toBe("p301");
    expect(new Set(found.ids.slice(0, 3))).toEqual(new Set(["p300", "p301", "p302"]));
    expect(found.total).toBe(found.ids.length);
    expect(found.records.find(({ id }) => id === "p301")?.highlights.join()).toContain("<em>car</em>");
    for (const record of found.records) if (record.id !== "p301") expect(record.highlights).toEqual([]);
    const scores = found.records.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(found.index?.snapshot).toMatch(/^\d+-[0-9a-f]{8}$/);
    expect(await source.version(false)).toBe(`imported ${found.index?.snapshot}`);
  });

  test("a question without any word of a record says that meaning alone answers", async () => {
    await index.refresh(papersCorpus, each([paper(900, "joyful")]), { dataset: "b", mode: "replace" });
    await build();
    const found = await (await searching()).ask("happy");
    expect(found.ids[0]).toBe("p900");
    expect(found.warnings).toEqual([
      "No record has these words; the records are close to the question in meaning.",
    ]);
    expect(found.relaxed).toBe(true);
  });

  test.each(["car study", "doctor", "vehicle study wakx"])(
    "pages of %j neither repeat nor skip a record",
    async (query) => {
      const { ask } = await searching();
      const first = await ask(query, { pageSize: 7 });
      const snapshot = first.index!.snapshot;
      const whole = await ask(query, { pageSize: 700, snapshot });
      expect(new Set(whole.ids).size).toBe(whole.ids.length);
      expect(whole.ids).toHaveLength(whole.total);
      const pages: string[] = [];
      for (let page = 1; pages.length < whole.total; page++)
        pages.push(...(await ask(query, { page, pageSize: 97, snapshot })).ids);
      expect(pages).toEqual(whole.ids);
      expect(first.ids).toEqual(whole.ids.slice(0, 7));
      expect((await ask(query, { page: 9_999, pageSize: 7, snapshot })).outcome).toBe("past_end");
    },
  );

  test("a filter also holds for what is found by meaning, and a look-up never asks the model", async () => {
    const { meaning, ask } = await searching();
    const near = async (filter: object) =>
      (await meaning.near(
        papersCorpus,
        "car",
        { query: { all: [] }, ...filter },
        {},
        AbortSignal.timeout(30_000),
      ))!;
    expect((await near({})).length).toBeGreaterThan(0);
    expect(await near({ dates: { from: "2021-01-01" } })).toEqual([]);
    server.texts.length = 0;
    expect((await ask("10.1000/nothing")).notHeld).toBe(true);
    expect(server.texts).toEqual([]);
  });

  test("a record that changed gets a new vector, and the others keep theirs", async () => {
    const changed = papers.map((document, number) => (number === 7 ? paper(7, "joyful") : document));
    await index.refresh(papersCorpus, each(changed), { dataset: "a", mode: "replace" });
    const { ask } = await searching();
    expect((await ask("happy")).index?.snapshot).toMatch(/^\d+$/);
    server.texts.length = 0;
    expect((await build()).made).toBe(1);
    expect(server.texts).toEqual([expect.stringContaining("joyful")]);
    now += 5_000;
    expect((await ask("happy")).ids).toContain("p7");
    await index.refresh(papersCorpus, each(papers), { dataset: "a", mode: "replace" });
    expect((await build()).made).toBe(0);
  });
});

describe("when the model fails", () => {
  test.each(["never", "error", "redirect", "too few", "not numbers"] as const)(
    "%s: the words answer, nothing is kept for the model, and the model is left alone for a while",
    async (how) => {
      const { source, ask, troubles } = await searching(how === "never" ? 2_000 : 30_000);
      server.behave(how);
      const found = await ask("car");
      const { version, ...answer } = found;
      expect(version).toMatch(/^imported \d+$/);
      expect(answer).toEqual(await byWords("car"));
      expect(troubles).toHaveLength(1);
      expect(await source.version(false)).toBe(version);
      server.behave("well");
      expect((await ask("doctor")).index?.snapshot).not.toContain("-");
      now += 60_000;
      expect((await ask("doctor")).index?.snapshot).toContain("-");
      expect(troubles).toHaveLength(1);
    },
  );

  test("a further page says that it is ranked otherwise than the first", async () => {
    const { meaning, ask } = await searching();
    const { index: state } = await ask("study car");
    meaning.use(undefined);
    const second = await ask("study car", { page: 2, snapshot: state!.snapshot });
    expect(second.warnings.join()).toContain("records of earlier pages may repeat");
    await expect(ask("car", { snapshot: "999999-abcdef12" })).rejects.toMatchObject({
      code: "snapshot_expired",
    });
  });

  test("vectors of another length are never compared", async () => {
    const { ask } = await searching();
    server.behave("other dimension");
    expect((await ask("vehicle")).ids).toEqual(["p302"]);
  });

  test("a text that the model rejects does not delay the others", async () => {
    server.behave("rejects x-rejected");
    await index.refresh(papersCorpus, each([paper(901, "x-rejected"), paper(902, "joyful")]), {
      dataset: "b",
      mode: "replace",
    });
    const rejected: string[] = [];
    expect(await build({ onRejected: (id) => rejected.push(id) })).toMatchObject({ done: 602, total: 602 });
    expect(rejected).toEqual(["p901"]);
    expect((await (await searching()).ask("happy")).ids[0]).toBe("p902");
  });

  test("the schedule tells how far it is, and each failure once", async () => {
    const { meaning } = await searching();
    const troubles: string[] = [];
    const schedule = new VectorSchedule({
      database,
      space: index.vectors,
      meaning,
      corpora: [papersCorpus],
      lookEveryMs: 5,
      progress: () => {},
      onTrouble: (message) => troubles.push(message),
    });
    const until = async (state: object) =>
      expect.poll(() => schedule.state(papersCorpus), { timeout: 20_000 }).toEqual(state);
    await until({ done: 602, total: 602, isFailing: false });
    server.behave("no model");
    await until({ done: 602, total: 602, isFailing: true });
    expect(troubles).toEqual([`The server at ${server.url} does not have the model words.`]);
    expect(await meaning.mark(papersCorpus)).toBeUndefined();
    server.behave("well");
    await until({ done: 602, total: 602, isFailing: false });
    expect(schedule.state("legal_cases")).toBeUndefined();
    await schedule.close();
  });
});

test("vectors that do not fit into memory give the same answer as those that do", async () => {
  const found = await index.vectors.segments(papersCorpus);
  const segments = found!.segments.map((segment) => ({ ...segment, allowed: undefined }));
  const vector = unitVector(vectorOf("car study wakx"));
  const find = async (keptBytes: number) => {
    const nearest = new Nearest(database.pool, { keptBytes });
    try {
      const once = () => nearest.find("words:latest@d1", segments, vector, 50, AbortSignal.timeout(30_000));
      const all = await Promise.all([once(), once(), once()]);
      expect(all[1]).toEqual(all[0]);
      expect(all[2]).toEqual(all[0]);
      return all[0];
    } finally {
      await nearest.close();
    }
  };
  const whole = await find(1 << 30);
  expect(whole?.near).toHaveLength(50);
  for (const bytes of [0, 1_000, 40_000]) expect(await find(bytes)).toEqual(whole);
  const sure = whole!.near.slice(0, 2).map(({ similarity }) => similarity);
  expect(sure[0]).toBeCloseTo(
    Math.max(...papers.map(({ meaning }) => cosine(vectorOf(meaning!), vector))),
    2,
  );
});

function cosine(text: number[], question: Float32Array): number {
  return unitVector(text).reduce((sum, value, at) => sum + value * question[at]!, 0);
}

test.skipIf(embeddingModelPath === null)(
  "a real locallm makes the vectors (needs TEST_MODELS)",
  async () => {
    const store = await createModelStore();
    await store.add("all-minilm:22m", embeddingModelPath!);
    const locallm = await startServer({ models: store.folder });
    try {
      const real = new Embedder({ address: locallm.url, name: "all-minilm:22m" });
      const signal = AbortSignal.timeout(60_000);
      const model = await real.identity(signal);
      expect(model).toMatch(/^all-minilm:22m@[0-9a-f]{64}$/);
      const corpus = "test:real";
      const few = [...papers.slice(0, 60), paper(903, "A physician treats patients in a hospital")];
      await index.refresh(corpus, each(few), { dataset: "a", mode: "replace" });
      expect(await build({ embedder: real, model, corpus })).toMatchObject({ made: 61 });
      const meaning = new Meaning({
        space: index.vectors,
        database,
        embedder: real,
        withoutDataset: "generated",
        limitMs: 60_000,
        onTrouble: (message) => expect.unreachable(message),
      });
      open.push(meaning);
      meaning.use(model);
      expect(await meaning.mark(corpus)).toBeDefined();
      const near = await meaning.near(corpus, "medical doctor", { query: { all: [] } }, {}, signal);
      const [first] = await index.read(near!.slice(0, 1));
      expect(first?.parse()).toMatchObject({ id: "p903" });
    } finally {
      await locallm.stop();
      await store.remove();
    }
  },
  120_000,
);
