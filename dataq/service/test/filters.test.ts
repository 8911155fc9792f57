import { findOperation, type OperationName, type Params, readParams } from "@dataq/contract";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFullSize } from "../../../testing/test-size.ts";
import type { Database } from "../src/database/database.ts";
import { judgmentDocument } from "../src/operations/legal/cases/corpus.ts";
import { sampleJudgment } from "../src/operations/legal/cases/sample/judgments.ts";
import { legalLaws } from "../src/operations/legal/laws/operation.ts";
import type { SampleDocuments } from "../src/operations/operation.ts";
import { paperDocument } from "../src/operations/research/paper-search/corpus.ts";
import { samplePaper } from "../src/operations/research/paper-search/sample.ts";
import { patentDocument } from "../src/operations/research/patent-search/corpus.ts";
import { samplePatent } from "../src/operations/research/patent-search/sample.ts";
import { createSources } from "../src/operations/sources.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { IndexDocument, SearchIndex } from "../src/search/search-index.ts";
import { WrittenRecord } from "../src/sources/written-record.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { told } from "./told.ts";

const judgments = Array.from({ length: 300 }, (_, number) => sampleJudgment(number));
const papers = [
  ...Array.from({ length: 100 }, (_, number) => samplePaper(number)),
  { ...samplePaper(100), id: "with-doi", doi: "10.1000/1" },
];
const patents = Array.from({ length: 100 }, (_, number) => samplePatent(number));
const now = new Date("2026-11-22T04:00:00Z");

let folder: string;
let database: Database;
let index: SearchIndex;

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  database = await openFolder(folder);
  index = embeddedIndex(database, { now: () => Number.POSITIVE_INFINITY });
  const fill = async (corpus: OperationName, documents: readonly IndexDocument[]) => {
    const each = async function* () {
      yield* documents;
    };
    await index.refresh(corpus, each(), { dataset: "test", mode: "replace" });
  };
  await fill("legal_cases", judgments.map(judgmentDocument));
  await fill("legal_laws", [...(legalLaws.sample as SampleDocuments).documents()]);
  await fill("research_paper_search", papers.map(paperDocument));
  await fill("research_patent_search", patents.map(patentDocument));
}, 120_000);

afterAll(async () => {
  await database.close();
  await removeDataFolder(folder);
});

/** Reads the parameters as a call does, and asks. */
async function ask(name: OperationName, given: Params) {
  const read = readParams(findOperation(name)!, given, "2026-11-22");
  if ("code" in read) return { problem: read.details[0]!, ids: [], total: 0 };
  const source = createSources({ index, samples: false }).find(name)!;
  await source.check?.(read.params, false);
  const context = { signal: AbortSignal.timeout(20_000), now, sandbox: false };
  const answer = await source.run(read.params, { page: 1, pageSize: 200 }, context);
  const records = (answer.records ?? []).map((each) => (each instanceof WrittenRecord ? each.parse() : each));
  const ids = records.map((record) => (record as { id: string }).id);
  return { ids, total: answer.total, warnings: told(answer.warnings), notHeld: answer.notHeld };
}

/** The question as the cache sees it. */
async function normalised(name: OperationName, given: Params): Promise<Params> {
  const read = readParams(findOperation(name)!, given, "2026-11-22");
  if ("code" in read) throw new Error(read.details[0]!.message);
  return createSources({ index, samples: false }).find(name)!.normalised!(read.params, false, now);
}

interface Filter {
  readonly params: Params;
  readonly field: string;
}

/** Every filter that fits a judgment, as parameters and as a field of the query. */
function filtersOf(judgment: (typeof judgments)[number]): Filter[] {
  const day = judgment.judgment_date;
  const [basis] = judgment.legal_basis;
  const [judge] = judgment.judges;
  return [
    { params: { court: judgment.court_name }, field: `court:${judgment.court_name}` },
    ...(judge ? [{ params: { judge: judge.name }, field: `judge:${judge.name}` }] : []),
    { params: { case_type: judgment.case_type }, field: `type:${judgment.case_type}` },
    ...(judgment.cause_of_action
      ? [{ params: { cause: judgment.cause_of_action }, field: `案由:"${judgment.cause_of_action}"` }]
      : []),
    ...(basis
      ? [
          { params: { law: basis.law_name }, field: `basis:${basis.law_name}` },
          {
            params: { law: basis.law_name, article: basis.article_no! },
            field: `basis:"${basis.law_name}${basis.article_no}"`,
          },
        ]
      : []),
    ...(day
      ? [
          { params: { date_from: day.slice(0, 4) }, field: `date:${day.slice(0, 4)}..` },
          { params: { date_to: day.slice(0, 7) }, field: `date:..${day.slice(0, 7)}` },
          { params: { date_from: day, date_to: day }, field: `date:${day}` },
        ]
      : []),
  ];
}

describe("filters of judgments", () => {
  test("find what the fields of the same meaning find, alone and beside words", async () => {
    const words = fc.constantFrom("", "本院认为", '"本院认为"', "借款 -利息", "合同 OR 盗窃", "上海 诈骗");
    const place = fc.integer({ min: 0, max: judgments.length - 1 });
    let found = 0;
    await fc.assert(
      fc.asyncProperty(place, words, fc.nat(), fc.nat(), async (at, query, first, second) => {
        const all = filtersOf(judgments[at]!);
        const one = all[first % all.length]!;
        const other = all[second % all.length]!;
        // One `law` fits in a call, but two fields do.
        const isOne = Object.keys(one.params).some((name) => name in other.params);
        const chosen = isOne ? [one] : [one, other];
        const params = Object.assign({}, ...chosen.map((each) => each.params)) as Params;
        const asParams = await ask("legal_cases", { ...(query !== "" && { query }), ...params });
        const asFields = await ask("legal_cases", {
          query: [query, ...chosen.map(({ field }) => field)].join(" ").trim(),
        });
        expect(asParams.ids.toSorted()).toEqual(asFields.ids.toSorted());
        expect(asParams.total).toBe(asFields.total);
        if (query === "") expect(asParams.ids).toContain(judgments[at]!.id);
        found += asParams.ids.length;
      }),
      { seed: 16, numRuns: isFullSize ? 400 : 60 },
    );
    expect(found).toBeGreaterThan(50);
  });

  test("narrow what the query's own fields find", async () => {
    const [first] = judgments;
    const { court_name: court, judgment_date: day } = first!;
    const both = await ask("legal_cases", { query: `court:${court}`, date_from: day!, date_to: day! });
    expect(both.ids).toContain(first!.id);
    expect(
      (await ask("legal_cases", { query: `court:${court}`, court: "杭州市西湖区人民法院" })).ids,
    ).toEqual(
      judgments
        .filter(({ court_name }) => court_name === court && court.endsWith("西湖区人民法院"))
        .map(({ id }) => id),
    );
    expect((await ask("legal_cases", { query: "date:2018..2019", date_from: "2020" })).ids).toEqual([]);
  });

  test.each([
    ["an unknown court", { court: "月球人民法院" }, "court"],
    ["dates without judgments", { date_from: "1901", date_to: "1902-03" }, "1901-01-01..1902-03-31"],
  ])("%s gives an empty list, free", async (_, params, what) => {
    const answer = await ask("legal_cases", params);
    expect(answer).toMatchObject({ ids: [], notHeld: true });
    expect(answer.warnings?.join()).toContain(what);
  });
});

/** Values that would change the question if they were read as query language, a term or SQL. */
const hostile = [
  '"',
  "”“",
  "x OR 借款",
  "OR",
  "-借款",
  'x" OR court:"上海市浦东新区人民法院',
  "court:上海市浦东新区人民法院",
  "x) or (1=1",
  "'; drop table entry; --",
  "《民法典》",
  "《》",
  "*",
  "%",
  "..",
  "a|b:c",
  "c:x",
  "$1",
  "\\u0000",
  "\u202e月球",
  "😀法院",
  "суд",
  "ＯＲ　借款",
  "借款\n合同",
  "__proto__",
  "x".repeat(10_000),
  "法".repeat(201),
  "\ud800",
  "\u0000",
];

test.each([
  [
    "legal_cases",
    "本院认为",
    ["court", "judge", "case_type", "cause", "law", "article", "date_from", "date_to"],
  ],
  ["research_paper_search", "研究", ["author", "year", "date_from", "date_to"]],
  ["research_patent_search", "方法", ["applicant", "date_from", "date_to"]],
] as const)("%s: no value of a filter widens the question", async (name, query, filters) => {
  const whole = await ask(name, { query });
  expect(whole.total).toBeGreaterThan(30);
  for (const filter of filters)
    for (const value of hostile) {
      const asked = `${filter}: ${JSON.stringify(value).slice(0, 40)}`;
      const answer = await ask(name, { query, [filter]: value }).catch((error) => ({
        ids: [],
        total: 0,
        problem: error.details.details[0],
      }));
      if ("problem" in answer) expect(answer.problem?.param, asked).toBe(`params.${filter}`);
      // 《民法典》 is the name of a law that judgments cite, and 借款 means a cause, as in the field.
      else if (filter === "law" || filter === "cause") expect(answer.total, asked).toBeLessThan(whole.total!);
      else expect(answer.ids, asked).toEqual([]);
    }
});

describe("questions that mean the same", () => {
  test.each<[OperationName, Params, Params]>([
    ["legal_cases", { query: "借款 court:浦东法院" }, { query: "借款", court: "浦东法院" }],
    [
      "legal_cases",
      { query: "借款 法院:浦东法院 judge:王刚" },
      { query: "借款", judge: "王 刚", court: "浦东 法院" },
    ],
    ["legal_cases", { query: "借款　date:2024" }, { query: "借款", date_from: "2024", date_to: "2024-12" }],
    ["legal_cases", { query: "借款 date:2024-02.." }, { query: "借款", date_from: "2024-02-01" }],
    ["legal_cases", { query: "type:civil" }, { case_type: "civil" }],
    ["legal_cases", { query: '借款 cause:"民间借贷纠纷"' }, { query: "借款", cause: "民間借貸糾紛" }],
    [
      "legal_cases",
      { law: "民法典", article: "577" },
      { law: "《中华人民共和国民法典》", article: "第五百七十七条" },
    ],
    ["legal_laws", { law: "样例合同条例", article: "第三條" }, { law: "《样例合同条例》", article: "３" }],
    ["legal_laws", { law: "样例合同条例" }, { query: "《样例合同条例》" }],
  ])("%s %j and %j share an answer in the cache", async (name, one, other) => {
    expect(await normalised(name, one)).toEqual(await normalised(name, other));
  });

  test.each<[Params, Params]>([
    [
      { query: "借款 court:甲法院", court: "乙法院" },
      { query: "借款", court: "乙法院" },
    ],
    [{ query: "借款 court:甲法院 court:乙法院" }, { query: "借款", court: "乙法院" }],
    [{ query: '借款 "court:甲法院"' }, { query: "借款", court: "甲法院" }],
    [
      { query: "借款", date_from: "2024" },
      { query: "借款", date_to: "2024" },
    ],
  ])("%j and %j do not", async (one, other) => {
    expect(await normalised("legal_cases", one)).not.toEqual(await normalised("legal_cases", other));
  });
});

test("papers are filtered by author and date, with words or without", async () => {
  const paper = papers.find(({ publication_date }) => publication_date !== null)!;
  const [author] = paper.authors;
  const year = paper.publication_date!.slice(0, 4);
  const of = (keep: (each: (typeof papers)[number]) => boolean) =>
    papers
      .filter(keep)
      .map(({ id }) => id)
      .sort();
  const isBy = (each: (typeof papers)[number]) => each.authors.some(({ name }) => name === author!.name);
  expect((await ask("research_paper_search", { author: author!.name })).ids.sort()).toEqual(of(isBy));
  expect((await ask("research_paper_search", { author: author!.name, year })).ids.sort()).toEqual(
    of((each) => isBy(each) && each.publication_date?.startsWith(year) === true),
  );
  expect((await ask("research_paper_search", { year, date_from: `${year}-07` })).ids.sort()).toEqual(
    of(({ publication_date: day }) => day !== null && day >= `${year}-07` && day < `${year}-13`),
  );
  const beside = await ask("research_paper_search", { query: paper.title, author: author!.name });
  expect(beside.ids[0]).toBe(paper.id);
  expect(beside.ids.every((id) => of(isBy).includes(id))).toBe(true);
});

test("a number that the filters exclude is not reported as missing", async () => {
  const paper = papers.find(({ doi }) => doi !== null)!;
  const answer = await ask("research_paper_search", { query: paper.doi!, author: "无此人" });
  expect(answer).toMatchObject({ ids: [], notHeld: undefined });
  expect((await ask("research_paper_search", { year: "2999" })).warnings).toEqual([
    "This service has no paper from 2999-01-01..2999-12-31.",
    expect.stringMatching(/^Held here: \d+ papers, \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d\.$/),
  ]);
});

test("patents are filtered by applicant and application date", async () => {
  const patent = patents.find(({ application_date }) => application_date !== null)!;
  const [applicant] = patent.applicants;
  const answer = await ask("research_patent_search", {
    applicant: ` ${applicant} `,
    date_from: patent.application_date!,
    date_to: patent.application_date!,
  });
  expect(answer.ids).toContain(patent.id);
  const wanted = patents.filter(({ applicants, application_date: day }) => {
    return applicants.includes(applicant!) && day === patent.application_date;
  });
  expect(answer.ids.sort()).toEqual(wanted.map(({ id }) => id).sort());
});
