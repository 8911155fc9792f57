import fc from "fast-check";
import { expect, test } from "vitest";
import { courtTerm, judgmentDocument } from "../src/operations/legal/cases/corpus.ts";
import { sampleJudgment } from "../src/operations/legal/cases/sample/judgments.ts";
import { Analyser, runs } from "../src/search/analysis/analyser.ts";
import { sizeWithout } from "../src/search/contents.ts";
import type {
  Concept,
  IndexDocument,
  Query,
  Question,
  RefreshOptions,
  SearchIndex,
  SearchPage,
  Wanted,
  Wording,
} from "../src/search/search-index.ts";

const judgments = Array.from({ length: 120 }, (_, number) => sampleJudgment(number));
const documents = judgments.map(judgmentDocument);
const analyser = new Analyser();
/** The same analysis, document by document. Every engine must agree with it. */
const termSets = documents.map(({ texts, terms }) => {
  const words = texts.flatMap(({ text, isLong }) =>
    analyser.documentTerms(text, { withPairs: isLong !== true }),
  );
  return new Set([...words, ...terms]);
});
const plainTexts = documents.map(({ texts }) => texts.map(({ text }) => runs(text).join(" ")));
/** The positions of the terms of each text. */
const placeSets = documents.map(({ texts }) =>
  texts.map(({ text, isLong }) => {
    const places = new Map<string, number[]>();
    let begin = 0;
    for (const run of runs(text)) {
      for (const { term, at } of analyser.runPlaces(run, { withPairs: isLong !== true }))
        places.set(term, [...(places.get(term) ?? []), begin + at]);
      begin += run.length + 1;
    }
    return places;
  }),
);
const vocabulary = [...new Set(termSets.slice(0, 12).flatMap((set) => [...set]))].filter(
  (_, place) => place % 9 === 0,
);

/** What every engine must do, with inputs that nobody sensible would send. */
export function conformance(name: string, engine: () => SearchIndex): void {
  const replace = (dataset: string): RefreshOptions => ({ dataset, mode: "replace" });
  const ask = async (corpus: string, question: Question, page: Partial<SearchPage> = {}) => {
    const found = await engine().search(corpus, question, { offset: 0, limit: 1_000, ...page });
    const ids = (found?.hits ?? []).map(({ body }) => (body.parse() as { id: string }).id);
    return { found, total: found?.total, ids };
  };
  const idsOf = async (corpus: string, query: Query, page: Partial<SearchPage> = {}) =>
    (await ask(corpus, { query }, page)).ids;

  test(`${name}: finds what a scan with the same analysis finds, counted exactly, on pages without gaps`, async () => {
    await engine().refresh("test:scan", each(documents), replace("a"));
    const term = fc
      .constantFrom(...vocabulary, "没有的词", "k:none", "")
      .map((text): Query => ({ term: text }));
    const some = (most: number) => fc.array(term, { minLength: 0, maxLength: most });
    const query = fc.oneof(
      term,
      some(3).map((all): Query => ({ all })),
      some(3).map((any): Query => ({ any })),
      fc.tuple(term, term).map(([a, b]): Query => ({ all: [a, { not: b }] })),
      fc.tuple(some(3), some(2)).map(([any, all]): Query => ({ all: [{ any }, { not: { all } }] })),
      fc.array(term, { minLength: 2, maxLength: 4 }).map((of): Query => ({ atLeast: 2, of })),
    );
    await fc.assert(
      fc.asyncProperty(query, fc.integer({ min: 7, max: 60 }), async (asked, size) => {
        const expected = judgments.flatMap(({ id }, place) => (holds(asked, place) ? [id] : []));
        const { total, ids } = await ask("test:scan", { query: asked });
        expect(total).toBe(expected.length);
        expect(ids.toSorted()).toEqual(expected.sort());
        const paged: string[] = [];
        for (let offset = 0; offset <= ids.length; offset += size)
          paged.push(...(await idsOf("test:scan", asked, { offset, limit: size })));
        expect(paged).toEqual(ids);
      }),
      { seed: 9, numRuns: 25 },
    );
  });

  test(`${name}: any word matches, documents with every known concept come first, and unknown concepts are named`, async () => {
    const concept = fc.array(fc.constantFrom(...vocabulary, "没有的词"), { minLength: 1, maxLength: 3 });
    const shape = fc.array(concept, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(shape, fc.integer({ min: 5, max: 50 }), async (concepts, size) => {
        const wanted = wantedOf(concepts.map((words) => words.map(wording)));
        const hasAny = (place: number, words: readonly string[]) =>
          words.some((word) => termSets[place]?.has(word));
        const places = judgments.map((_, place) => place);
        const known = concepts.filter((words) => places.some((place) => hasAny(place, words)));
        const complete = places.filter(
          (place) => known.length > 0 && known.every((words) => hasAny(place, words)),
        );
        const any = places.filter((place) => concepts.some((words) => hasAny(place, words)));
        const ids: string[] = [];
        const scores: number[] = [];
        for (let offset = 0; offset <= any.length; offset += size) {
          const page = await ask("test:scan", { query: { all: [] }, wanted }, { offset, limit: size });
          expect(page.found).toMatchObject({
            total: any.length,
            totalRelation: "eq",
            complete: complete.length,
          });
          expect(page.found?.unknown.size).toBe(concepts.length - known.length);
          scores.push(...(page.found?.hits ?? []).map(({ score }) => score));
          ids.push(...page.ids);
        }
        const idsAt = (list: readonly number[]) => list.map((place) => judgments[place]!.id).sort();
        expect(ids.toSorted()).toEqual(idsAt(any));
        expect(ids.slice(0, complete.length).sort()).toEqual(idsAt(complete));
        // Over all pages the score falls with the rank, and says whether a record has everything.
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        expect(scores.filter((score) => score >= 100)).toHaveLength(complete.length);
        for (const score of scores) expect(score).toBeGreaterThanOrEqual(0);
      }),
      { seed: 14, numRuns: 12 },
    );
  });

  test(`${name}: a phrase is found exactly where its words are adjacent`, async () => {
    const phrases = documents.slice(0, 25).map(({ texts }, place) => {
      const text = texts.at(-1)!.text.replace(/\s/g, "");
      return text.slice(30 + 7 * place, 30 + 7 * place + 4 + (place % 9));
    });
    for (const phrase of [...phrases, "本院认为，", "，。", "被告人 被告人 被告人"]) {
      const words = analyser.phraseTerms(phrase);
      const ids = await idsOf("test:scan", { phrase: words });
      const where = (holds: (place: number, words: PhraseWords) => boolean) =>
        judgments.flatMap(({ id }, place) => (words.length > 0 && holds(place, words) ? [id] : []));
      // An engine may also find the phrase where the text was split otherwise.
      expect(ids, phrase).toEqual(expect.arrayContaining(where(isSplitSo)));
      expect(where(hasPhrase), phrase).toEqual(expect.arrayContaining(ids));
    }
  });

  test(`${name}: ranks titles above texts, short texts above long ones, wordings by weight, and exact terms first`, async () => {
    const filler = "今天天气很好大家都去公园散步".repeat(12);
    const of = (id: string, title: string, text: string, terms: string[] = []): IndexDocument => ({
      id,
      texts: [
        { text: title, weight: 3 },
        { text, weight: 1 },
      ],
      terms,
      date: null,
      body: { id },
    });
    await engine().refresh(
      "test:rank",
      each([
        of("long", "其他", `盗窃${filler}`),
        of("title", "盗窃", "其他事情"),
        of("short", "其他", "盗窃"),
        of("other", "其他", `诈骗${filler}`),
        of("exact", "无关", "无关", ["n:1"]),
        ...Array.from({ length: 30 }, (_, number) => of(`f${number}`, "买卖合同", "价款")),
      ]),
      replace("a"),
    );
    const all: Query = { all: [] };
    expect((await ask("test:rank", { query: all, wanted: wantedOf([[wording("盗窃")]]) })).ids).toEqual([
      "title",
      "short",
      "long",
    ]);
    const light = wantedOf([[wording("盗窃"), { terms: ["诈骗"], weight: 0.5 }]]);
    expect((await ask("test:rank", { query: all, wanted: light })).ids).toEqual([
      "title",
      "short",
      "long",
      "other",
    ]);
    const both = wantedOf([[wording("盗窃")], [wording("其他")]]);
    expect((await ask("test:rank", { query: all, wanted: both })).ids.slice(0, 3).sort()).toEqual([
      "long",
      "short",
      "title",
    ]);
    const exact = { ...wantedOf([[wording("盗窃")]]), exact: ["n:1"] };
    const { ids, found } = await ask("test:rank", { query: all, wanted: exact });
    expect(ids).toEqual(["exact", "title", "short", "long"]);
    expect(found?.hits[0]?.score).toBeGreaterThanOrEqual(300);
    expect(found?.hits[1]?.score).toBeLessThan(300);
    const prior = { ...wantedOf([[wording("盗窃")]]), priors: [{ terms: ["无关"], weight: 9 }] };
    expect((await ask("test:rank", { query: all, wanted: prior })).total).toBe(3);
    // Two of three words count less than two thirds, but more than one.
    const three = wantedOf([[{ terms: ["买卖", "合同", "价款"], weight: 1 }]]);
    expect((await ask("test:rank", { query: all, wanted: three })).total).toBe(30);
    // As many as a quotation can have.
    const many = Array.from({ length: 200 }, (_, number) => `词${number}`);
    const words200 = wantedOf([[{ terms: ["诈骗", "其他", "价款", "盗窃", ...many], weight: 1 }]]);
    const quotation = await ask("test:rank", { query: all, wanted: words200 });
    expect(quotation).toMatchObject({ total: 34, found: { complete: 0 } });
    expect(quotation.ids.slice(0, 4).sort()).toEqual(["long", "other", "short", "title"]);
    // A hundred words, each with another word and a meaning, and a hint of little weight that finds a document.
    const meaning = () => ({ terms: ["义", "意义", "价款"], weight: 0.5 });
    const hints = many.map((word) => ({ terms: [word], weight: 0.1 }));
    const long = {
      ...wantedOf(many.slice(0, 100).map((word) => [wording("盗窃"), wording(word), meaning()])),
      hints: [...hints, { terms: ["诈骗"], weight: 0.01 }],
    };
    const longest = await ask("test:rank", { query: all, wanted: long });
    expect(longest).toMatchObject({ total: 34, found: { complete: 3 } });
    expect(longest.ids.slice(0, 3)).toEqual(["title", "short", "long"]);
  });

  test(`${name}: every document with the question's own words stands before those with related ones`, async () => {
    const words = ["盗窃", "偷窃", "诈骗", "欺诈", "赔偿", "补偿"];
    const filler = "公园";
    const text = fc
      .tuple(fc.subarray(words), fc.nat({ max: 40 }))
      .map(([has, length]) => [...has, ...Array.from({ length }, () => filler)].join("，"));
    const texts = fc.sample(text, { seed: 41, numRuns: 300 });
    await engine().refresh(
      "test:own",
      each(texts.map((text, at) => ({ ...looked(`${at}`, ["t:x"]), texts: [{ text, weight: 1 }] }))),
      replace("a"),
    );
    const has = (id: string, word: string) => (texts[Number(id)] as string).includes(word);
    const related = (word: string, weight: number) => ({ terms: [word], weight, isRelated: true as const });
    const questions: [string, Wording[]][][] = [
      [["盗窃", [related("偷窃", 5)]]],
      [
        ["盗窃", [related("偷窃", 0.5)]],
        ["赔偿", [related("补偿", 3)]],
      ],
      // A word that no document has is looked for in related words, and the others count as before.
      [
        ["鱻", [related("欺诈", 2)]],
        ["诈骗", [related("偷窃", 4)]],
      ],
    ];
    for (const concepts of questions) {
      const wanted = wantedOf(concepts.map(([own, others]) => [wording(own), ...others]));
      const tierOf = (id: string) => {
        const known = concepts.filter(([own]) => texts.some((text) => text.includes(own)));
        const isWhole = concepts.every(
          ([own, others]) => has(id, own) || others.some(({ terms }) => has(id, terms[0] as string)),
        );
        return !isWhole ? 2 : known.every(([own]) => has(id, own)) ? 0 : 1;
      };
      const ids: string[] = [];
      const scores: number[] = [];
      for (let offset = 0; ; offset += 50) {
        const page = await ask("test:own", { query: { all: [] }, wanted }, { offset, limit: 50 });
        if (page.ids.length === 0) break;
        ids.push(...page.ids);
        scores.push(...(page.found?.hits.map(({ score }) => Math.fround(score)) ?? []));
      }
      const tiers = ids.map(tierOf);
      expect(tiers).toEqual(tiers.toSorted());
      expect(new Set(tiers)).toEqual(new Set(concepts.length === 1 ? [0, 1] : [0, 1, 2]));
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    }
  });

  test(`${name}: filters by dates; at equal scores the newer comes first, and a data set can be put last or left out`, async () => {
    const dated = (id: string, date: string | null) => ({
      ...looked(id, ["t:x"]),
      texts: [{ text: "案件", weight: 1 }],
      date,
    });
    await engine().refresh(
      "test:dates",
      each([
        dated("old", "1999-12-31"),
        dated("none", null),
        dated("new", "2024-02-29"),
        dated("mid", "2010-01-01"),
      ]),
      replace("real"),
    );
    await engine().refresh("test:dates", each([dated("made", "2030-01-01")]), replace("made"));
    const query = { term: "t:x" };
    expect(await idsOf("test:dates", query)).toEqual(["made", "new", "mid", "old", "none"]);
    expect(await idsOf("test:dates", query, { datasets: { last: "made" } })).toEqual([
      "new",
      "mid",
      "old",
      "none",
      "made",
    ]);
    expect(await idsOf("test:dates", query, { datasets: { without: "made" }, limit: 2 })).toEqual([
      "new",
      "mid",
    ]);
    const within = async (dates: Question["dates"]) =>
      (await ask("test:dates", { query, dates: dates! })).ids;
    expect(await within({ from: "2010-01-01", to: "2024-02-29" })).toEqual(["new", "mid"]);
    expect(await within({ to: "1999-12-31" })).toEqual(["old"]);
    expect(await within({ from: "2025-01-01", to: "2020-01-01" })).toEqual([]);
    expect(await within({})).toHaveLength(4);
    expect(await within("none")).toEqual(["none"]);
    const contents = await engine().contents("test:dates");
    expect(contents.get("real")).toEqual({
      documents: 4,
      hasUndated: true,
      oldestDay: "1999-12-31",
      newestDay: "2024-02-29",
    });
    expect(contents.get("made")).toEqual({
      documents: 1,
      hasUndated: false,
      oldestDay: "2030-01-01",
      newestDay: "2030-01-01",
    });
    expect(sizeWithout(contents, ["made"])).toBe(4);
    const words = wantedOf([[wording("案件")]]);
    const ranked = await ask(
      "test:dates",
      { query: { all: [] }, wanted: words },
      { datasets: { last: "made" } },
    );
    expect(ranked.ids).toEqual(["new", "mid", "old", "none", "made"]);
    expect(new Set(ranked.found?.hits.map(({ score }) => score)).size).toBe(1);
  });

  test(`${name}: terms, words and IDs may contain anything`, async () => {
    const odd = [
      'k:a"b\\c',
      "k:*",
      "k:.*",
      "k:\n\t",
      "k:😀𠮷",
      "k:<em>",
      "k:a/b#c@d&e~f",
      `k:${"长".repeat(300)}`,
      "k: ",
    ];
    const list = odd.map((term, place) => ({
      ...looked(`id"${place}\\.*😀`, [term]),
      texts: [{ text: "𠮷野家 ... the quick-brown fox_1 é ﬁ 第3條 Ａ", weight: 1 }],
    }));
    // Rare characters whose halves and first 64 units are the same, or differ in one half only.
    const long = (last: string) => `a${"𐌰".repeat(31)}${last}${last}`;
    const rare = ["𡈽野家", "𠮷𡈽野", long("𐌰"), long("𐌱"), "y".repeat(5_000)].map((text, place) => ({
      ...looked(`rare${place}`, []),
      texts: [{ text, weight: 1 }],
    }));
    const manyTerms = Array.from({ length: 12_000 }, (_, number) => `m:${number}`);
    const wide = looked("wide", manyTerms);
    await engine().refresh("test:odd", each([...list, ...rare, wide]), replace('a"b'));
    expect(await engine().terms("test:odd", "m:")).toEqual(manyTerms.toSorted());
    for (const [place, term] of odd.entries()) {
      expect(await idsOf("test:odd", { term }), term).toEqual([`id"${place}\\.*😀`]);
      expect(await engine().count("test:odd", [term])).toBe(1);
      expect(await engine().terms("test:odd", term)).toContain(term);
    }
    expect(await engine().terms("test:odd", "k:.")).toEqual(["k:.*"]);
    expect(await engine().terms("test:odd", "z:")).toEqual([]);
    for (const phrase of ["𠮷野家", "quick-brown", "brown fox_1", "第3条", "a"])
      expect((await idsOf("test:odd", { phrase: analyser.phraseTerms(phrase) })).length, phrase).toBe(
        odd.length,
      );
    expect(await idsOf("test:odd", { phrase: analyser.phraseTerms("quick fox") })).toEqual([]);
    for (const [text, found] of [
      ["𡈽野家", "rare0"],
      ["𠮷𡈽", "rare1"],
      ["y".repeat(200), "rare4"],
    ] as const)
      expect(await idsOf("test:odd", { phrase: analyser.phraseTerms(text) }), text).toEqual([found]);
    expect(await engine().count("test:odd", [])).toBe(odd.length + rare.length + 1);
    const many = { any: Array.from({ length: 3_000 }, (_, number) => ({ term: `k:${number}` })) };
    expect(await idsOf("test:odd", many)).toEqual([]);
    expect(await engine().count("test:odd", ["k:*"], 'a"b')).toBe(0);
    expect(await engine().mostFrequent("test:odd", ["quick", "", "没有", "fox"], 5)).toEqual([
      "fox",
      "quick",
    ]);
  });

  test(`${name}: an ID is served once, the last one counts, and a removed data set uncovers those it hid`, async () => {
    const of = (id: string, word: string) => ({
      ...looked(id, [`k:${word}`]),
      texts: [{ text: "词语", weight: 1 }],
    });
    await engine().refresh("test:sets", each([of("a", "one"), of("b", "one")]), replace("one"));
    const added = await engine().refresh("test:sets", each([of("b", "two"), of("c", "two")]), replace("two"));
    expect(added.size).toBe(3);
    const have = async (word: string) => (await idsOf("test:sets", { term: `k:${word}` })).sort();
    expect([await have("one"), await have("two")]).toEqual([["a"], ["b", "c"]]);
    let hidden: readonly string[] = [];
    await engine().refresh("test:sets", each([of("a", "three"), of("a", "four")]), {
      dataset: "one",
      mode: "update",
      atSwitch: async (change) => {
        hidden = await change.hiddenIds(9);
        expect(change).toMatchObject({ before: 1, after: 1 });
      },
    });
    expect(hidden).toEqual(["a"]);
    expect([await have("one"), await have("three"), await have("four")]).toEqual([[], [], ["a"]]);
    await engine().refresh("test:sets", each([]), replace("two"));
    expect(await have("one")).toEqual(["b"]);
    expect(await engine().count("test:sets", ["k:one"], "one")).toBe(0);
    const all: string[] = [];
    for await (const body of engine().documents("test:sets")) all.push((body as { id: string }).id);
    expect(all.sort()).toEqual(["a", "b"]);
    expect(await engine().rebuild("test:sets", (record: { id: string }) => of(record.id, "made"))).toBe(2);
    expect(await have("made")).toEqual(["a", "b"]);
    await engine().refresh("test:sets", each([]), replace("one"));
    expect(await engine().state("test:sets")).toBeUndefined();
    expect(
      await engine().search("test:sets", { query: { all: [] } }, { offset: 0, limit: 1 }),
    ).toBeUndefined();
  });

  test(`${name}: generated documents make way for real ones, the last first, and come back`, async () => {
    const of = (prefix: string, count: number) =>
      each(
        Array.from({ length: count }, (_, number) => ({
          ...looked(`${prefix}${number}`, ["k:x"]),
          texts: [{ text: "词语", weight: 1 }],
        })),
      );
    const fill = { dataset: "fill", upTo: 70 };
    await engine().refresh("test:fill", of("g", 70), replace("fill"));
    const { size } = await engine().refresh("test:fill", of("r", 40), { ...replace("real"), fill });
    expect(size).toBe(70);
    const ids = await idsOf("test:fill", { term: "k:x" });
    expect(
      ids
        .filter((id) => id.startsWith("g"))
        .map((id) => Number(id.slice(1)))
        .sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 30 }, (_, number) => number));
    expect(
      (await ask("test:fill", { query: { all: [] }, wanted: wantedOf([[wording("词语")]]) })).total,
    ).toBe(70);
    await engine().refresh("test:fill", each([]), { ...replace("real"), fill });
    expect(await idsOf("test:fill", { term: "k:x" })).toHaveLength(70);
  });

  test(`${name}: a snapshot keeps its pages, whatever is switched, and an unknown one has expired`, async () => {
    const of = (id: string) => ({ ...looked(id, ["k:x"]), texts: [{ text: id, weight: 1 }] });
    await engine().refresh("test:snap", each([of("a"), of("b")]), replace("d"));
    const before = await ask("test:snap", { query: { term: "k:x" } }, { limit: 1 });
    const snapshot = before.found!.index.snapshot;
    const places = before.found!.hits.map(({ body }) => body.place);
    await engine().refresh("test:snap", each([of("c")]), replace("d"));
    expect(await idsOf("test:snap", { term: "k:x" })).toEqual(["c"]);
    expect(await idsOf("test:snap", { term: "k:x" }, { offset: 1, snapshot })).toEqual(["b"]);
    expect((await engine().contents("test:snap", snapshot)).get("d")?.documents).toBe(2);
    expect(await engine().mostFrequent("test:snap", ["a", "c"], 5, snapshot)).toEqual(["a"]);
    expect((await engine().read(places))[0]?.parse()).toEqual({ id: "a" });
    expect(await engine().read(["", "nonsense", "999999999.1"])).toEqual([undefined, undefined, undefined]);
    for (const unknown of ["999999999", "x", "", "1e3", "-1", "9".repeat(400)])
      await expect(ask("test:snap", { query: { all: [] } }, { snapshot: unknown })).rejects.toMatchObject({
        code: "snapshot_expired",
      });
  });

  test(`${name}: a refresh that fails changes nothing; repeated, it continues and serves each document once`, async () => {
    const of = (id: string) => ({ ...looked(id, ["k:x"]), texts: [{ text: `文本 ${id}`, weight: 1 }] });
    await engine().refresh("test:fail", each([of("before")]), replace("d"));
    const state = await engine().state("test:fail");
    async function* breaking(at: number): AsyncGenerator<IndexDocument> {
      for (let number = 0; number < 250; number++) {
        if (number === at) throw new Error("broken");
        yield of(`n${number}`);
      }
    }
    const options = { ...replace("d"), resumeKey: "the same" };
    for (const at of [0, 1, 210])
      await expect(engine().refresh("test:fail", breaking(at), options)).rejects.toThrow("broken");
    await expect(
      engine().refresh("test:fail", each([of("late")]), {
        ...replace("d"),
        atSwitch: () => Promise.reject(new Error("not now")),
      }),
    ).rejects.toThrow("not now");
    expect(await engine().state("test:fail")).toEqual(state);
    expect(await idsOf("test:fail", { term: "k:x" })).toEqual(["before"]);
    const { size } = await engine().refresh("test:fail", breaking(9_999), options);
    expect(size).toBe(250);
    expect(await engine().count("test:fail", ["k:x"])).toBe(250);
    expect((await ask("test:fail", { query: { phrase: analyser.phraseTerms("文本 n249") } })).ids).toEqual([
      "n249",
    ]);
  });

  test(`${name}: fuses documents found by meaning with those of the words, and knows which a question allows`, async () => {
    const corpus = "test:meaning";
    const of = (number: number): IndexDocument => ({
      ...looked(`m${number}`, [number % 2 === 0 ? "k:even" : "k:odd"]),
      texts: [{ text: number < 30 ? "盗窃 手机" : number < 40 ? "手机" : "天气", weight: 1 }],
      date: `20${10 + (number % 10)}-01-01`,
    });
    const list = Array.from({ length: 50 }, (_, number) => of(number));
    await engine().refresh(corpus, each(list), replace("a"));
    await engine().refresh(corpus, each([of(0), { ...of(49), id: "other" }]), replace("b"));
    const { vectors } = engine();
    const served = (await vectors.segments(corpus))!.segments;
    const allowedOf = async (question: Pick<Question, "query" | "dates">) => {
      const allowed = await vectors.allowed(corpus, question, {});
      const ids: string[] = [];
      for (const { id, documents, allowed: bits } of allowed)
        for (const { ordinal, id: own } of await vectors.stored(id, 0, documents))
          if (bits === undefined || bits[ordinal >> 3]! & (1 << (ordinal & 7))) ids.push(own);
      return ids.sort();
    };
    const everything = [...list.map(({ id }) => id), "other"].sort();
    expect(await allowedOf({ query: { all: [] } })).toEqual(everything);
    const even = list.filter((_, number) => number % 2 === 0).map(({ id }) => id);
    expect(await allowedOf({ query: { all: [{ term: "k:even" }] } })).toEqual(even.toSorted());
    expect(await allowedOf({ query: { all: [{ term: "k:even" }] }, dates: { from: "2018-01-01" } })).toEqual([
      "m18",
      "m28",
      "m38",
      "m48",
      "m8",
    ]);
    expect(await allowedOf({ query: { any: [] } })).toEqual([]);
    const placeOf = (ordinal: number) => vectors.place({ segment: served[0]!.id, ordinal });
    // One has both words, one has a word, and two have none.
    const near = [5, 45, 35, 46].map(placeOf);
    const wanted = wantedOf([[wording("盗窃")], [wording("手机")]]);
    const query: Query = { all: [] };
    const words = await ask(corpus, { query, wanted });
    expect(words.total).toBe(40);
    const fused = await ask(corpus, { query, wanted }, { near });
    expect(fused.found).toMatchObject({ total: 42, complete: 30, isFused: true });
    expect(fused.ids).toHaveLength(42);
    expect(fused.ids.toSorted()).toEqual([...words.ids, "m45", "m46"].sort());
    const without = fused.found!.hits.filter(({ byMeaning }) => byMeaning).map(({ body }) => body.parse());
    expect(without).toEqual([{ id: "m45" }, { id: "m46" }]);
    expect(fused.ids[0]).toBe("m5");
    const paged: string[] = [];
    for (let offset = 0; offset < 42; offset += 9)
      paged.push(...(await ask(corpus, { query, wanted }, { near, offset, limit: 9 })).ids);
    expect(paged).toEqual(fused.ids);
    // Documents of other segments, or of none, are left out.
    const lost = ["", "nonsense", "999999999.1"];
    expect((await ask(corpus, { query, wanted }, { near: lost })).found).toMatchObject({
      total: 40,
      isFused: false,
    });
    const unknown = wantedOf([[wording("没有的词")]]);
    expect((await ask(corpus, { query, wanted: unknown }, { near })).ids).toEqual([
      "m5",
      "m45",
      "m35",
      "m46",
    ]);
    const exact = { ...wanted, exact: ["k:odd"] };
    expect((await ask(corpus, { query, wanted: exact }, { near })).found?.isFused).toBe(false);
  });

  test(`${name}: answers while a refresh runs, from the old documents until the switch`, async () => {
    const of = (id: string) => ({ ...looked(id, ["k:x"]), texts: [{ text: id, weight: 1 }] });
    await engine().refresh("test:live", each([of("old")]), replace("d"));
    const seen: string[][] = [];
    async function* slow(): AsyncGenerator<IndexDocument> {
      for (const id of ["new1", "new2"]) {
        yield of(id);
        seen.push(await idsOf("test:live", { term: "k:x" }));
      }
    }
    await engine().refresh("test:live", slow(), replace("d"));
    expect(seen).toEqual([["old"], ["old"]]);
    expect(await idsOf("test:live", { term: "k:x" })).toEqual(["new1", "new2"]);
  });

  test(`${name}: a corpus that does not exist is empty everywhere, and the engine is healthy`, async () => {
    const corpus = "test:none";
    expect(await engine().search(corpus, { query: { all: [] } }, { offset: 0, limit: 1 })).toBeUndefined();
    expect(await engine().count(corpus, ["k:x"])).toBe(0);
    expect(await engine().terms(corpus, "")).toEqual([]);
    expect(await engine().mostFrequent(corpus, ["a"], 1)).toEqual([]);
    expect(await engine().analyser(corpus)).toBeUndefined();
    expect([...(await engine().contents(corpus))]).toEqual([]);
    expect((await engine().corpora()).map((each) => each.corpus)).not.toContain(corpus);
    expect(await engine().health()).toMatchObject({ trouble: null });
    expect(await engine().count("test:scan", [courtTerm("没有的法院")])).toBe(0);
  });
}

function holds(query: Query, place: number): boolean {
  if ("term" in query) return (termSets[place] as Set<string>).has(query.term);
  if ("not" in query) return !holds(query.not, place);
  if ("of" in query) return query.of.filter((part) => holds(part, place)).length >= query.atLeast;
  if ("phrase" in query) throw new Error("A phrase is compared with the text itself.");
  return "all" in query
    ? query.all.every((part) => holds(part, place))
    : query.any.some((part) => holds(part, place));
}

type PhraseWords = ReturnType<Analyser["phraseTerms"]>;

/** Whether the analyser splits a text so that the words have the same distances. */
function isSplitSo(place: number, words: PhraseWords): boolean {
  const [first, ...others] = words;
  return placeSets[place]!.some((places) =>
    (places.get(first!.term) ?? []).some((from) =>
      others.every(({ term, at }) => places.get(term)?.includes(from + at - first!.at)),
    ),
  );
}

/** Whether the words are in the text, at the same distances. */
function hasPhrase(place: number, words: PhraseWords): boolean {
  return (plainTexts[place] ?? []).some((text) => {
    const [first] = words;
    for (let at = text.indexOf(first!.term); at !== -1; at = text.indexOf(first!.term, at + 1))
      if (words.every(({ term, at: from }) => text.startsWith(term, at - first!.at + from))) return true;
    return false;
  });
}

function wantedOf(alternative: readonly Concept[]): Wanted {
  return { alternatives: [alternative], hints: [], priors: [], exact: [], sufficient: [] };
}

function wording(text: string) {
  return { terms: [text], weight: 1 };
}

/** A record that is found by these terms. */
function looked(id: string, terms: readonly string[]): IndexDocument {
  return { id, texts: [], terms, date: null, body: { id } };
}

async function* each(list: readonly IndexDocument[]): AsyncGenerator<IndexDocument> {
  yield* list;
}
