import type { Worker } from "node:worker_threads";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dueCorpora, refreshCorpus } from "../src/background/refresh/refresh.ts";
import { startSchedule } from "../src/background/refresh/schedule.ts";
import type { Database } from "../src/database/database.ts";
import { courtTerm, judgmentDocument } from "../src/operations/legal/cases/corpus.ts";
import { sampleJudgment } from "../src/operations/legal/cases/sample/judgments.ts";
import { documentOf } from "../src/operations/registry.ts";
import { journalDocument } from "../src/operations/research/journal-search/corpus.ts";
import { Analyser, analysisRules, runs } from "../src/search/analysis/analyser.ts";
import { keyedDocument } from "../src/search/keyed-document.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { IndexDocument, Query, SearchIndex } from "../src/search/search-index.ts";
import { environmentOf, makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { conformance } from "./search-conformance.ts";

const judgments = Array.from({ length: 300 }, (_, number) => sampleJudgment(number));
const documents = judgments.map(judgmentDocument);

let folder: string;
let database: Database;
let index: SearchIndex;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  index = embeddedIndex(database, { now: () => Number.POSITIVE_INFINITY });
}, 120_000);

afterAll(async () => {
  await database.close();
  await removeDataFolder(folder);
});

async function* each(list: readonly IndexDocument[]): AsyncGenerator<IndexDocument> {
  yield* list;
}

conformance("posting blocks", () => index);

async function idsOf(corpus: string, query: Query, page = { offset: 0, limit: 10_000 }): Promise<string[]> {
  const found = await index.search(corpus, { query }, page);
  return (found?.hits ?? []).map(({ body }) => (body.parse() as { id: string }).id);
}

test("an empty index and a served one can be warmed", async () => {
  await index.warm();
  await index.refresh("test:warm", each(documents.slice(0, 3)), { dataset: "a", mode: "replace" });
  await embeddedIndex(database).warm();
});

describe("on 300 judgments", () => {
  const analyser = new Analyser();
  /** The same analysis, document by document. The index must agree with it. */
  const termSets = documents.map(({ texts, terms }) => {
    const words = texts.flatMap(({ text, isLong }) =>
      analyser.documentTerms(text, { withPairs: isLong !== true }),
    );
    return new Set([...words, ...terms]);
  });
  const plainTexts = documents.map(({ texts }) => texts.map(({ text }) => runs(text).join(" ")));
  const vocabulary = [...new Set(termSets.slice(0, 20).flatMap((set) => [...set]))].filter(
    (_, place) => place % 7 === 0,
  );

  beforeAll(async () => {
    await index.refresh("test:cases", each(documents), { dataset: "a", mode: "replace" });
  });

  const term = fc.constantFrom(...vocabulary, "没有的词").map((text): Query => ({ term: text }));
  const query = fc.oneof(
    term,
    fc.array(term, { minLength: 1, maxLength: 3 }).map((all): Query => ({ all })),
    fc.array(term, { minLength: 1, maxLength: 3 }).map((any): Query => ({ any })),
    fc.tuple(term, term).map(([a, b]): Query => ({ all: [a, { not: b }] })),
    fc.array(term, { minLength: 2, maxLength: 4 }).map((of): Query => ({ atLeast: 2, of })),
  );

  const wording = (text: string) => ({ terms: [text], weight: 1 });
  const concept = fc.array(fc.constantFrom(...vocabulary, "没有的词"), { minLength: 1, maxLength: 3 });
  const asked = fc.array(concept, { minLength: 1, maxLength: 4 });

  test("no word finds a document that is dead, filtered out or outside the dates", async () => {
    const corpus = "test:any";
    const dated = documents.slice(0, 40).map((document, place) => ({ ...document, id: `d${place}` }));
    await index.refresh(corpus, each(dated), { dataset: "a", mode: "replace" });
    await index.refresh(corpus, each([{ ...dated[0]!, texts: [], terms: [] }]), {
      dataset: "a",
      mode: "update",
    });
    const wanted = {
      alternatives: [[[wording("本院")], [wording("没有的词")]]],
      hints: [wording("法院")],
      priors: [],
      exact: [],
      sufficient: [],
    };
    const page = { offset: 0, limit: 100 };
    const found = await index.search(corpus, { query: { all: [] }, wanted }, page);
    expect(found?.total).toBe(39);
    const types = dated.slice(1).filter(({ terms }) => terms.includes("t:civil")).length;
    const civil = await index.search(corpus, { query: { term: "t:civil" }, wanted }, page);
    expect(civil?.total).toBe(types);
    const dates = { from: "2022-01-01", to: "2022-12-31" };
    const within = dated.slice(1).filter(({ date }) => date?.startsWith("2022")).length;
    expect((await index.search(corpus, { query: { all: [] }, wanted, dates }, page))?.total).toBe(within);
  });

  describe("in threads", () => {
    const threads = (options = {}) => embeddedIndex(database, { leastForThread: 0, threads: 2, ...options });
    const page = { offset: 0, limit: 20 };

    test("a question gets the same answer as without them, with little memory for blocks too", async () => {
      const inThreads = threads({ mostBlockBytes: 1 });
      const dates = fc.constantFrom(undefined, "none" as const, { from: "2021-06-01", to: "2023-03-31" });
      try {
        await fc.assert(
          fc.asyncProperty(asked, query, dates, fc.nat(60), async (concepts, filter, range, offset) => {
            const alternatives = [concepts.map((words) => words.map(wording))];
            const hints = concepts.flat().map((text) => ({ terms: [text, "本院"], weight: 0.25 }));
            const wanted = { alternatives, hints, priors: [wording("法院")], exact: [], sufficient: [] };
            const question = { query: filter, wanted, ...(range && { dates: range }) };
            const ask = async (one: SearchIndex) => {
              const found = await one.search("test:cases", question, { offset, limit: 20 });
              return { ...found, hits: found?.hits.map(({ body, score }) => [body.place, score]) };
            };
            const expected = await ask(index);
            const both = await Promise.all([ask(inThreads), ask(inThreads)]);
            expect(both).toEqual([expected, expected]);
            expect(await inThreads.vectors.allowed("test:cases", question, {})).toEqual(
              await index.vectors.allowed("test:cases", question, {}),
            );
          }),
          { seed: 21, numRuns: 25 },
        );
      } finally {
        await inThreads.close();
      }
    });

    test("a question that is not ranked in time is unavailable, here and in a thread", async () => {
      for (const leastForThread of [0, Number.POSITIVE_INFINITY]) {
        const late = threads({ leastForThread, limitMs: 0 });
        await expect(late.search("test:cases", { query: { all: [] } }, page)).rejects.toMatchObject({
          code: "unavailable",
          details: { retry_after: 1 },
        });
        await late.close();
      }
    });

    test("only so many questions wait; the others are unavailable at once", async () => {
      const busy = threads({ threads: 1, mostWaiting: 2 });
      const ask = () => busy.search("test:cases", { query: { all: [] } }, page);
      const asked = await Promise.allSettled(Array.from({ length: 10 }, ask));
      expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
      expect((await ask())?.total).toBe(300);
      await busy.close();
    });

    test("a thread that dies fails its question alone, and another one takes its place", async () => {
      const started: Worker[] = [];
      const onWorker = (worker: Worker) => {
        if (started.push(worker) === 1) void worker.terminate();
      };
      process.on("worker", onWorker);
      const mortal = threads({ threads: 1 });
      const ask = () => mortal.search("test:cases", { query: { term: "法院" } }, page);
      try {
        const asked = await Promise.allSettled([ask(), ask()]);
        const answered = asked.flatMap((each) => (each.status === "fulfilled" ? [each.value?.total] : []));
        expect(answered).toEqual([(await idsOf("test:cases", { term: "法院" })).length]);
        expect(asked).toContainEqual({
          status: "rejected",
          reason: expect.objectContaining({ code: "unavailable" }),
        });
        expect(started).toHaveLength(2);
      } finally {
        process.off("worker", onWorker);
        await mortal.close();
      }
    });
  });

  test("a phrase is found exactly where its words are adjacent", async () => {
    const words = fc.tuple(fc.integer({ min: 0, max: 299 }), fc.nat(), fc.integer({ min: 2, max: 5 }));
    let shorter = 0;
    await fc.assert(
      fc.asyncProperty(words, async ([place, from, count]) => {
        const { full_text: text } = judgments[place]!;
        const long = runs(text).filter((each) => each.length > 12);
        const run = long[from % long.length] as string;
        // Segmented like the document, so that the document contains its words.
        const cut = analyser.phraseTerms(run);
        const first = from % Math.max(1, cut.length - count);
        const part = run.slice(cut[first]!.at, cut[first + count]?.at);
        const phrase = analyser.phraseTerms(part);
        const found = new Set(await idsOf("test:cases", { phrase }));
        const having = judgments.filter((_, each) => plainTexts[each]?.some((one) => one.includes(part)));
        for (const id of found) expect(having.map((judgment) => judgment.id)).toContain(id);
        if (found.has(judgments[place]!.id)) shorter++;
        const apart = await idsOf("test:cases", {
          all: phrase.map(({ term }) => ({ term })),
        });
        expect(found.size).toBeLessThanOrEqual(apart.length);
      }),
      { seed: 11, numRuns: 40 },
    );
    // A part on its own is sometimes segmented differently than within its sentence.
    expect(shorter).toBeGreaterThan(32);
  });

  test("words in the wrong order, or with a stop in between, are not a phrase", async () => {
    const ask = (text: string) => idsOf("test:cases", { phrase: analyser.phraseTerms(text) });
    expect(await ask("依法适用普通程序")).not.toEqual([]);
    expect(await ask("普通程序依法适用")).toEqual([]);
    expect(await ask("依法适用，普通程序")).toEqual([]);
    expect(await ask("本院立案后，依法适用")).not.toEqual([]);
  });

  test("finds a court by its usual short forms", async () => {
    const court = judgments.find(({ court_name }) => court_name.endsWith("区人民法院"))?.court_name ?? "";
    const district = /([^市盟州]+?)区人民法院$/.exec(court)?.[1];
    for (const name of [court, `${district}区人民法院`, `${district}法院`]) {
      expect(await idsOf("test:cases", { term: courtTerm(name) })).not.toEqual([]);
    }
  });

  test("every two-character word in a title finds its judgment", async () => {
    for (const { id, cause_of_action } of judgments.slice(0, 20)) {
      const words = analyser.documentTerms(cause_of_action).filter((word) => [...word].length === 2);
      for (const word of words) expect(await idsOf("test:cases", { term: word })).toContain(id);
    }
  });
});

const keyed = (id: string, key: string): IndexDocument => keyedDocument({ id, key } as { id: string }, [key]);

test("a snapshot that is committed after another corpus's newer one is found on a replica", async () => {
  // It sees what was committed at the last pin and nothing later, like a replica that has replayed until then.
  const replica = await database.connect();
  const pin = async () => {
    await replica.query("commit; begin isolation level repeatable read; select from search_snapshot");
  };
  const reads = { fixed: replica, recent: replica, isReplica: true, pin, showWrites: () => {} };
  const other = embeddedIndex({ ...database, reads }, { now: () => Number.POSITIVE_INFINITY });
  const idsIn = async (corpus: string) => {
    const found = await other.search(corpus, { query: { all: [] } }, { offset: 0, limit: 9 });
    return found?.hits.map(({ body }) => (body.parse() as { id: string }).id);
  };
  const refresh = (corpus: string, atSwitch = async () => {}) =>
    index.refresh(corpus, each([keyedDocument({ id: corpus }, [])]), {
      dataset: "a",
      mode: "replace",
      atSwitch,
    });
  try {
    await refresh("test:slow", async () => {
      await refresh("test:quick");
      expect(await idsIn("test:quick")).toEqual(["test:quick"]);
    });
    expect(await idsIn("test:slow")).toEqual(["test:slow"]);
  } finally {
    await replica.end();
  }
});

test("a refresh deletes old snapshots and segments of its own corpus only", async () => {
  const corpora = ["test:swept", "test:other"];
  const refresh = (corpus: string, id: string) =>
    index.refresh(corpus, each([keyed(id, "x")]), { dataset: "d", mode: "replace" });
  for (const corpus of corpora) {
    await refresh(corpus, "first");
    await refresh(corpus, "second");
    // A segment that another process is building.
    await database.query(
      `insert into search_segment (corpus, dataset, analysis, is_ready, created_at)
       values ($1, 'building', 'x', true, now() - interval '25 hours')`,
      [corpus],
    );
  }
  await database.query(
    "update search_snapshot set retired_at = now() - interval '25 hours' where retired_at is not null",
  );
  await refresh("test:swept", "third");
  const counts = await database.query(
    `select corpus, (select count(*)::int from search_snapshot p where p.corpus = c.corpus) as snapshots,
       (select count(*)::int from search_segment s where s.corpus = c.corpus and s.dataset = 'building') as building
     from search_corpus c where corpus = any($1) order by corpus desc`,
    [corpora],
  );
  expect(counts.rows).toEqual([
    { corpus: "test:swept", snapshots: 2, building: 0 },
    { corpus: "test:other", snapshots: 2, building: 1 },
  ]);
});

describe("a large build", () => {
  const here = { threads: 1, here: 0, part: 50 };
  const sizes = { segment: 40, shared: 10, cut: here };
  const large = () => embeddedIndex(database, { now: () => Number.POSITIVE_INFINITY, sizes });
  const many = documents.slice(0, 100).map((document, place) => ({ ...document, id: `d${place}` }));

  async function tablesOf(corpus: string): Promise<string[]> {
    const found = await database.query<{ name: string }>(
      `select distinct i.inhrelid::regclass::text as name from search_posting d
         join search_segment s on s.id = d.segment join pg_inherits i on i.inhrelid = d.tableoid
        where s.corpus = $1 order by name`,
      [corpus],
    );
    return found.rows.map(({ name }) => name);
  }

  const pastDay = (corpus: string) =>
    Promise.all([
      database.query(
        "update search_snapshot set retired_at = retired_at - interval '25 hours' where corpus = $1",
        [corpus],
      ),
      database.query(
        "update search_segment set created_at = created_at - interval '25 hours' where corpus = $1",
        [corpus],
      ),
    ]);

  test("writes the same rows in threads as without them", async () => {
    const rowsOf = async (corpus: string, cut: typeof here) => {
      const cutting = embeddedIndex(database, { sizes: { segment: 60, shared: 10, cut } });
      const list = [...many, { ...many[0]!, id: "no text", texts: [], terms: [] }, ...many.slice(3, 9)];
      await cutting.refresh(corpus, each(list), { dataset: "a", mode: "replace" });
      const found = async (table: string, columns: string) => {
        const rows = await database.query(
          `select dense_rank() over (order by t.segment) as place, ${columns} from ${table} t
             join search_segment s on s.id = t.segment where s.corpus = $1 order by place, 2`,
          [corpus],
        );
        return rows.rows;
      };
      const segments = await database.query(
        "select documents, tokens, lengths, dates from search_segment where corpus = $1 order by id",
        [corpus],
      );
      return [
        segments.rows,
        await found("search_posting", "term, t.documents, data, places"),
        await found("search_document", "ordinal, t.id, body"),
      ];
    };
    const expected = await rowsOf("test:cut-here", here);
    expect(expected[0]).toHaveLength(2);
    const inThreads = await rowsOf("test:cut-in-threads", { threads: 2, here: 20, part: 7 });
    expect(JSON.stringify(inThreads) === JSON.stringify(expected)).toBe(true);
  });

  test("has tables of its own, which are dropped as a whole once nothing can name it", async () => {
    const corpus = "test:large";
    const refresh = (list: readonly IndexDocument[]) =>
      large().refresh(corpus, each(list), { dataset: "a", mode: "replace" });
    await refresh(many);
    const [table, ...others] = await tablesOf(corpus);
    expect(table).toMatch(/^search_posting_of_\d+$/);
    expect(others).toEqual([]);
    expect(await idsOf(corpus, { term: "t:civil" })).toHaveLength(
      many.filter(({ terms }) => terms.includes("t:civil")).length,
    );
    await refresh(many.slice(0, 5));
    expect(await tablesOf(corpus)).toEqual([table, "search_posting_shared"]);
    await pastDay(corpus);
    await refresh(many.slice(0, 6));
    expect(await tablesOf(corpus)).toEqual(["search_posting_shared"]);
    const left = await database.query("select to_regclass($1) as table", [table]);
    expect(left.rows).toEqual([{ table: null }]);
  });

  test("that is interrupted continues after its last full segment, and its tables are used", async () => {
    const corpus = "test:large-resumed";
    const options = { dataset: "a", mode: "replace", resumeKey: "same" } as const;
    let made = 0;
    async function* cutOff(at: number): AsyncGenerator<IndexDocument> {
      for (const document of many) {
        if (made++ === at) throw new Error("killed");
        yield document;
      }
    }
    await expect(large().refresh(corpus, cutOff(95), options)).rejects.toThrow("killed");
    made = 0;
    await large().refresh(corpus, cutOff(-1), options);
    // 80 documents in the first tables; the others are enough for tables of their own.
    expect(await tablesOf(corpus)).toHaveLength(2);
    const ids = await idsOf(corpus, { all: [] });
    expect(ids.toSorted()).toEqual(
      judgments
        .slice(0, 100)
        .map(({ id }) => id)
        .sort(),
    );
  });

  test("that is interrupted and not continued leaves no table", async () => {
    const corpus = "test:large-left";
    async function* cutOff(): AsyncGenerator<IndexDocument> {
      yield* many.slice(0, 60);
      throw new Error("killed");
    }
    const tables = async () => {
      const found = await database.query(
        "select relname from pg_class where relname ~ '^search_(posting|document)_of_\\d+$' and relkind = 'r'",
      );
      return found.rows.length;
    };
    const before = await tables();
    await expect(large().refresh(corpus, cutOff(), { dataset: "a", mode: "replace" })).rejects.toThrow(
      "killed",
    );
    expect(await tables()).toBe(before + 2);
    await large().refresh(corpus, each(many.slice(0, 3)), { dataset: "a", mode: "replace" });
    expect(await tables()).toBe(before);
  });

  test("beside an older version: its segments are found, and what it deletes row by row goes", async () => {
    const corpus = "test:large-older";
    await large().refresh(corpus, each(many), { dataset: "a", mode: "replace" });
    const [table] = await tablesOf(corpus);
    // The statements of the version before partitions.
    const made = await database.query<{ id: number }>(
      "insert into search_segment (corpus, dataset, analysis, resume_key) values ($1, 'b', $2, null) returning id",
      [corpus, analysisRules],
    );
    const id = made.rows[0]!.id;
    await database.query(
      `insert into search_document (segment, ordinal, id, body)
       select $1, ordinal, id, body from unnest($2::int[], $3::text[], $4::bytea[]) as d(ordinal, id, body)`,
      [id, [0], ["older"], [Buffer.from('{"id":"older"}')]],
    );
    await database.query(
      `insert into search_posting (term, segment, documents, data, places)
       select term, $1, documents, data, places
         from unnest($2::text[], $3::int[], $4::bytea[], $5::bytea[]) as p(term, documents, data, places)`,
      [id, ["k:older"], [1], [Buffer.from([0, 1])], [null]],
    );
    await database.query(
      "update search_segment set documents = 1, tokens = 0, lengths = $2, dates = $2, is_ready = true where id = $1",
      [id, Buffer.alloc(4)],
    );
    const snapshot = (await index.state(corpus))!.snapshot;
    await database.query("insert into search_snapshot_segment (snapshot, segment) values ($1, $2)", [
      snapshot,
      id,
    ]);
    const fresh = embeddedIndex(database);
    const found = await fresh.search(corpus, { query: { term: "k:older" } }, { offset: 0, limit: 10 });
    expect(found?.hits.map(({ body }) => body.parse())).toEqual([{ id: "older" }]);
    // It removes the large build.
    await fresh.refresh(corpus, each([keyed("x", "y")]), { dataset: "a", mode: "replace" });
    await database.query("delete from search_snapshot where corpus = $1 and retired_at is not null", [
      corpus,
    ]);
    const gone = await database.query<{ id: number }>(
      `select id from search_segment s where corpus = $1
          and not exists (select from search_snapshot_segment p where p.segment = s.id)`,
      [corpus],
    );
    const ids = gone.rows.map((row) => row.id);
    await database.query("delete from search_posting where segment = any($1)", [ids]);
    await database.query("delete from search_document where segment = any($1)", [ids]);
    await database.query("delete from search_segment where id = any($1)", [ids]);
    await fresh.refresh(corpus, each([keyed("x", "z")]), { dataset: "a", mode: "replace" });
    const left = await database.query("select to_regclass($1) as table", [table]);
    expect(left.rows).toEqual([{ table: null }]);
  });

  test("questions do not wait for a build that waits for a long reader", async () => {
    const corpus = "test:large-backup";
    await index.refresh(corpus, each(many.slice(0, 3)), { dataset: "a", mode: "replace" });
    const backup = await database.connect();
    try {
      await backup.query("begin");
      await backup.query("select count(*) from search_posting");
      let isDone = false;
      const building = large()
        .refresh(corpus, each(many), { dataset: "b", mode: "replace" })
        .finally(() => {
          isDone = true;
        });
      const waits = async () => {
        const found = await database.query(
          "select from pg_locks where not granted and relation = 'search_posting_shared'::regclass",
        );
        return found.rows.length;
      };
      await expect.poll(waits, { timeout: 20_000, interval: 10 }).toBe(1);
      const other = embeddedIndex(database);
      expect(
        await other.search(corpus, { query: { term: "t:civil" } }, { offset: 0, limit: 1 }),
      ).toBeDefined();
      expect(isDone).toBe(false);
      await backup.query("commit");
      await building;
      expect(await tablesOf(corpus)).toHaveLength(2);
    } finally {
      await backup.end();
    }
  }, 30_000);
});

test("imported records replace generated ones from the end, and the size stays", async () => {
  const every: Query = { term: "k:f" };
  const documentsOf = (name: string, count: number) =>
    each(Array.from({ length: count }, (_, number) => keyed(`${name}${number}`, "f")));
  const fill = { dataset: "fill", upTo: 5 };
  await index.refresh("test:fill", documentsOf("g", 5), { dataset: "fill", mode: "replace" });
  const bring = (dataset: string, count: number) =>
    index.refresh("test:fill", documentsOf(dataset, count), { dataset, mode: "replace", fill });
  expect((await bring("a", 2)).size).toBe(5);
  expect((await idsOf("test:fill", every)).sort()).toEqual(["a0", "a1", "g0", "g1", "g2"]);
  expect((await bring("b", 1)).size).toBe(5);
  expect((await idsOf("test:fill", every)).sort()).toEqual(["a0", "a1", "b0", "g0", "g1"]);
  // If there are more real documents than the size, all of them are served and no generated ones.
  expect((await bring("a", 7)).size).toBe(8);
  expect((await idsOf("test:fill", every)).sort()).toEqual(["a0", "a1", "a2", "a3", "a4", "a5", "a6", "b0"]);
  // Generated documents return when real ones are removed.
  expect((await bring("a", 0)).size).toBe(5);
  expect((await idsOf("test:fill", every)).sort()).toEqual(["b0", "g0", "g1", "g2", "g3"]);
});

describe("a record in two data sets", () => {
  const every: Query = { term: "k:two" };
  const put = (corpus: string, dataset: string, ...ids: string[]) =>
    index.refresh(corpus, each(ids.map((id) => keyed(id, "two"))), { dataset, mode: "replace" });

  test("is served once, even after the later data set is removed or replaced", async () => {
    await put("test:both", "one", "a", "b");
    await put("test:both", "two", "b", "c");
    expect((await idsOf("test:both", every)).sort()).toEqual(["a", "b", "c"]);
    await put("test:both", "two", "c");
    expect((await idsOf("test:both", every)).sort()).toEqual(["a", "b", "c"]);
    expect((await put("test:both", "two")).size).toBe(2);
    expect((await idsOf("test:both", every)).sort()).toEqual(["a", "b"]);
  });

  test("is kept in both by a rebuild, and the later one still counts", async () => {
    const corpus = "research_journal_search";
    const put2 = async (dataset: string, ids: readonly number[]) =>
      index.refresh(
        corpus,
        each(
          ids.map((number) =>
            journalDocument({
              id: `j${number}`,
              name: `${dataset} ${number}`,
              cn_no: null,
              name_en: null,
              issn: null,
              eissn: null,
              subjects: [],
            } as never),
          ),
        ),
        { dataset, mode: "update" },
      );
    await put2("one", [1, 2]);
    await put2("two", [2, 3]);
    await put2("one", [1, 4]);
    expect(await index.rebuild(corpus, documentOf(corpus))).toBe(4);
    const namesOf = async () => {
      const found = await index.search(corpus, { query: { all: [] } }, { offset: 0, limit: 10 });
      return found?.hits.map(({ body }) => (body.parse() as { name: string }).name).sort();
    };
    expect(await namesOf()).toEqual(["one 1", "one 4", "two 2", "two 3"]);
    await index.refresh(corpus, each([]), { dataset: "two", mode: "replace" });
    expect(await namesOf()).toEqual(["one 1", "one 2", "one 4"]);
    await index.refresh(corpus, each([]), { dataset: "one", mode: "replace" });
    expect(await index.state(corpus)).toBeUndefined();
  });
});

test("a rebuild that is interrupted between data sets leaves one dictionary", async () => {
  const corpus = "legal_cases#sample";
  for (const [dataset, from] of [
    ["one", 0],
    ["two", 20],
  ] as const)
    await index.refresh(corpus, each(documents.slice(from, from + 20)), { dataset, mode: "replace" });
  await index.lexicons.set(["立案后"]);
  const dictionaries = async () => {
    const found = await database.pool.query<{ analysis: string }>(
      `select distinct s.analysis from search_corpus c join search_snapshot_segment p on p.snapshot = c.snapshot
         join search_segment s on s.id = p.segment where c.corpus = $1`,
      [corpus],
    );
    return found.rows.map(({ analysis }) => analysis);
  };
  const before = await dictionaries();
  let documentsLeft = 25;
  const signal = {
    throwIfAborted() {
      if (documentsLeft-- === 0) throw new Error("stopped");
    },
  } as AbortSignal;
  await expect(index.rebuild(corpus, documentOf(corpus), { signal })).rejects.toThrow("stopped");
  expect(await dictionaries()).toEqual(before);
  expect(await index.rebuild(corpus, documentOf(corpus))).toBe(40);
  const after = await dictionaries();
  expect(after).toHaveLength(1);
  expect(after).not.toEqual(before);
});

test("daily imports do not postpone the refresh", async () => {
  const corpus = "test:daily";
  const bring = () => index.refresh(corpus, each([keyed("a", "x")]), { dataset: "d", mode: "update" });
  await bring();
  await database.pool.query(
    "update search_corpus set next_refresh_at = next_refresh_at - interval '29 days' where corpus = $1",
    [corpus],
  );
  const before = await index.state(corpus);
  await bring();
  expect((await index.state(corpus))?.next_refresh_at).toBe(before?.next_refresh_at);
});

test("an index is refreshed 30 days after its last refresh, not before", async () => {
  const laws = "test:due";
  await index.refresh(laws, each([keyed("a", "x")]), { dataset: "d", mode: "replace" });
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
  expect(await dueCorpora(database, inDays(29.9))).not.toContain(laws);
  expect(await dueCorpora(database, inDays(30.1))).toContain(laws);
  await database.pool.query("update search_corpus set next_refresh_at = now() where corpus = $1", [laws]);
  expect(await dueCorpora(database, inDays(0.1))).toContain(laws);
  await refreshCorpus({ database, index, dataFolder: folder, progress: () => {} }, laws);
  expect(await dueCorpora(database, inDays(29.9))).not.toContain(laws);
  expect(await idsOf(laws, { term: "k:x" })).toEqual(["a"]);
});

test("an index under older rules is still searched, and is rebuilt at once", async () => {
  const corpus = "legal_cases#sample";
  await index.lexicons.set(["立案后"]);
  await index.refresh(corpus, each(documents.slice(0, 20)), { dataset: "old", mode: "replace" });
  await index.rebuild(corpus, documentOf(corpus));
  await database.pool.query(
    "update search_segment set analysis = replace(analysis, $2, 'words-1') where corpus = $1",
    [corpus, analysisRules],
  );
  const old = embeddedIndex(database);
  expect(await dueCorpora(database, new Date(0))).toContain(corpus);
  expect(await old.search(corpus, { query: { term: "原告" } }, { offset: 0, limit: 1 })).toMatchObject({
    hits: [{}],
  });
  expect((await old.analyser(corpus))?.queryTerms("本院立案后")).toEqual(["本院", "立案后"]);
  await refreshCorpus({ database, index: old, dataFolder: folder, progress: () => {} }, corpus);
  expect(await dueCorpora(database, new Date(0))).not.toContain(corpus);
  expect((await old.analyser(corpus))?.version).toMatch(`${analysisRules}+`);
});

test("a service whose clock is 31 days ahead refreshes an index by itself, in its thread", async () => {
  const corpus = "test:schedule";
  await index.refresh(corpus, each(documents.slice(0, 20)), { dataset: "d", mode: "replace" });
  await database.pool.query(
    "update search_corpus set next_refresh_at = next_refresh_at - interval '1 day' where corpus = $1",
    [corpus],
  );
  const before = await index.state(corpus);
  const lines: string[] = [];
  const stop = startSchedule(database, {
    databaseUrl: environmentOf(folder)["DATABASE_URL"],
    databaseDirectUrl: undefined,
    search: undefined,
    dataFolder: folder,
    clock: () => new Date(Date.now() + 31 * 86_400_000),
    progress: (line) => void lines.push(line),
  });
  await expect.poll(() => lines, { timeout: 60_000 }).toContain(`${corpus}: refreshed, 20 documents`);
  await stop();
  const after = await index.state(corpus);
  const due = (state: typeof before) => Date.parse(state?.next_refresh_at as string);
  expect(due(after)).toBeGreaterThan(due(before));
  expect((await idsOf(corpus, { all: [] })).length).toBe(20);
});

test("merging the segments changes no answer", async () => {
  const parts = [documents.slice(0, 40), documents.slice(30, 60), documents.slice(60, 80)];
  for (const part of parts) await index.refresh("legal_cases", each(part), { dataset: "m", mode: "update" });
  const query: Query = { term: "合同" };
  const before = await idsOf("legal_cases", query);
  expect(await index.rebuild("legal_cases", judgmentDocument)).toBe(80);
  expect((await idsOf("legal_cases", query)).sort()).toEqual(before.sort());
});
