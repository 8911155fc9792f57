import type { OperationName, Params } from "@dataq/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import { legalIndexFill } from "../src/operations/legal/cases/corpus.ts";
import { buildLegalIndex } from "../src/operations/legal/cases/fill.ts";
import { sampleJudgment } from "../src/operations/legal/cases/sample/judgments.ts";
import { createSources } from "../src/operations/sources.ts";
import { chargeFor } from "../src/query/tariff.ts";
import { newestDayWithout, sizeWithout } from "../src/search/contents.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { SearchIndex } from "../src/search/search-index.ts";
import type { Answer } from "../src/sources/source.ts";
import { WrittenRecord } from "../src/sources/written-record.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";
import { importRowsInto } from "./pack.ts";
import { told } from "./told.ts";

let folder: string;
let database: Database;
let index: SearchIndex;

/** Real records of a few operations, made for this test: some questions are about data that is there, others are not. */
const held: Partial<Record<OperationName, readonly object[]>> = {
  legal_laws: [
    {
      law_id: "l1",
      law_name: "中华人民共和国测试法",
      article_no: "第一条",
      article_text: "为了保护测试者的权益，制定本法。",
    },
  ],
  legal_cases: [2018, 2019].map((year) => ({
    id: `c${year}`,
    court: "浙江省杭州市西湖区人民法院",
    case_no: `（${year}）浙0106民初41号`,
    case_type: "民事案件",
    date: `${year}-05-07`,
    charges: ["借款合同纠纷"],
    text: "浙江省杭州市西湖区人民法院 民事判决书。本院认为，被告应当返还借款和利息。",
  })),
  content_hot_rank: [{ platform: "weibo", date: "2024-05-01", items: [["地铁"]] }],
  enterprise_shixin_check: [
    {
      case_no: "（2024）浙0106执1号",
      name: "某某公司",
      subject_type: "company",
      court: "杭州市西湖区人民法院",
      performance: "全部未履行",
      performance_code: "none",
      conduct: [],
    },
  ],
  research_journal_search: [{ title: "测试学报", issn: "1000-0003" }],
  research_paper_search: [{ id: "p1", title: "测试的研究", doi: "10.1000/1" }],
};

beforeAll(async () => {
  folder = await makeDataFolder("tables");
  await importRowsInto(folder, held);
  database = await openFolder(folder);
  index = embeddedIndex(database);
}, 120_000);
afterAll(async () => {
  await database.close();
  await removeDataFolder(folder);
});

const ask = async (operation: OperationName, params: Params, samples = true): Promise<Answer> => {
  const source = createSources({ index, samples }).find(operation)!;
  await source.check?.(params, false);
  const context = { signal: new AbortController().signal, now: new Date("2026-03-01"), sandbox: false };
  return source.run(params, { page: 1, pageSize: 200 }, context);
};
const quoted = { tokens: 5_000, reason: null };
const recordsOf = ({ records = [] }: Answer) =>
  records.map((record) => (record instanceof WrittenRecord ? record.parse() : record)) as {
    id: string;
    source: { kind: string };
  }[];

test.each<[OperationName, Params, string]>([
  ["legal_laws", { query: "海商法 第四条" }, "海商法"],
  ["legal_laws", { query: "中华人民共和国民法典" }, "民法典"],
  ["legal_laws", { query: "测试法 第九百条" }, "测试法 has no article 900"],
  ["legal_cases", { query: "借款 date:2031" }, "2031"],
  ["legal_cases", { query: "date:1990..1999" }, "1990"],
  ["legal_cases", { query: "(2017)京01刑终9999号" }, "case number"],
  ["legal_cases", { query: "court:长沙市岳麓区人民法院 借款" }, "court"],
  ["content_hot_rank", { platform: "weibo", date: "2024-05-02" }, "2024-05-02"],
  ["content_hot_rank", { platform: "zhihu", date: "2024-05-01" }, "zhihu"],
  ["research_journal_search", { query: "1672-4461" }, "number"],
  ["research_paper_search", { query: "10.1000/999" }, "DOI"],
])(
  "%s %j is free: what it asks about is not in the data, and a warning names it",
  async (name, params, what) => {
    const answer = await ask(name, params);
    expect(answer).toMatchObject({ outcome: "empty", notHeld: true });
    expect(told(answer.warnings).join()).toContain(what);
    expect(chargeFor(quoted, answer, true)).toEqual({ tokens: 0, reason: "not_held" });
    expect(chargeFor(quoted, answer, false)).toEqual({ tokens: 0, reason: "not_held" });
  },
);

test.each<[OperationName, Params]>([
  ["legal_cases", { query: "望远镜 date:2018" }],
  ["legal_cases", { query: "court:杭州市西湖区人民法院 望远镜" }],
  ["enterprise_shixin_check", { company_name: "一家清白的公司" }],
])("%s %j is charged: the data is there and has no match", async (name, params) => {
  const answer = await ask(name, params);
  expect(answer.outcome).toBe("empty");
  expect(answer.notHeld).toBeUndefined();
  expect(chargeFor(quoted, answer, true)).toEqual(quoted);
  expect(chargeFor(quoted, answer, false)).toEqual({ tokens: 0, reason: "no_result" });
});

test.each(["legal_laws", "legal_cases", "research_paper_search", "research_journal_search"] as const)(
  "%s: emoji, wildcards and punctuation alone are no_words, and never match the whole index",
  async (name) => {
    for (const query of [
      "😀",
      "%",
      "_",
      "。",
      "——",
      '""',
      "*?",
      "（）",
      "\u3000·",
      "👨‍👩‍👧",
      "!!!1".slice(0, 3),
    ])
      await expect(ask(name, { query }), query).rejects.toMatchObject({ code: "no_words" });
  },
);

test.each([
  "OR",
  "or",
  "AND NOT",
  "court:",
  "date:",
  "court: OR",
  "什么是",
  "什么是什么",
  "第条",
  "第 条 OR",
  "是什么？",
])("legal_laws %s: operators, empty fields and asking words alone are no_words", async (query) => {
  await expect(ask("legal_laws", { query })).rejects.toMatchObject({ code: "no_words" });
});

test("real judgments precede generated ones of equal rank; an answer with a real one has its price", async () => {
  // The generated judgments are newer than the imported ones, so only the rule ranks them last.
  expect(sampleJudgment(0).judgment_date! > "2019-12-31").toBe(true);
  await buildLegalIndex(database, index, { size: 42 });
  const all = await ask("legal_cases", { query: "date:2000..2026" });
  const kinds = recordsOf(all).map(({ source }) => source.kind);
  expect(all.total).toBe(42);
  expect(kinds.slice(0, 2)).toEqual(["third_party", "third_party"]);
  expect(new Set(kinds.slice(2))).toEqual(new Set(["sample"]));
  expect(all.sample).toBeUndefined();
  expect(told(all.warnings).join()).toContain("40 of these records are generated samples");
  expect(chargeFor(quoted, all, true)).toEqual(quoted);

  const [generated] = recordsOf(all).slice(2) as unknown as { case_no: string }[];
  const alone = await ask("legal_cases", { query: generated!.case_no });
  expect(alone).toMatchObject({ total: 1, sample: true });
  expect(chargeFor(quoted, alone, true)).toEqual({ tokens: 0, reason: "sample" });
});

test("what only generated judgments contain counts as missing: free", async () => {
  // The generated judgments have courts and years that no real one has.
  const [, , { court_name, judgment_date }] = recordsOf(
    await ask("legal_cases", { query: "date:2000..2026" }),
  ) as unknown as [unknown, unknown, { court_name: string; judgment_date: string }];
  for (const question of [`court:${court_name} 望远镜`, `date:${judgment_date.slice(0, 4)} 望远镜`])
    expect(await ask("legal_cases", { query: question }), question).toMatchObject({
      outcome: "empty",
      notHeld: true,
    });
  expect(newestDayWithout(await index.contents("legal_cases"), [legalIndexFill.dataset])).toBe("2019-05-07");
});

test("with samples off, generated judgments are left out of results and of the index size", async () => {
  const all = await ask("legal_cases", { query: "date:2000..2026" }, false);
  expect(all).toMatchObject({ total: 2, index: { size: 2 } });
  expect(recordsOf(all).map(({ source }) => source.kind)).toEqual(["third_party", "third_party"]);
});

test("an index of only generated judgments is a sample: free, and it never denies", async () => {
  await index.refresh("legal_cases", none(), { dataset: "legal_cases", mode: "replace" });
  expect(sizeWithout(await index.contents("legal_cases"), [legalIndexFill.dataset])).toBe(0);
  const sources = createSources({ index, samples: true });
  expect(await sources.find("legal_cases")?.answeredBy?.("call")).toBe("sample");
  expect(await ask("legal_cases", { query: "date:2000..2026" })).toMatchObject({ sample: true, total: 40 });
  for (const query of ["恒大地产集团有限公司", "望远镜", "(2017)京01刑终9999号"])
    await expect(ask("legal_cases", { query })).rejects.toMatchObject({ code: "not_configured" });
  await expect(ask("legal_cases", { query: "借款" }, false)).rejects.toMatchObject({
    code: "not_configured",
  });
});

test("catalogue and status do not wait for the laws of a first start, and calls do", async () => {
  const building = Promise.withResolvers<void>();
  const sources = createSources({ index, samples: true, ready: () => building.promise });
  const laws = sources.find("legal_laws");
  let isAnswered = false;
  const call = laws?.answeredBy?.("call").finally(() => {
    isAnswered = true;
  });
  expect(await laws?.answeredBy?.("now")).toBe("imported");
  expect(isAnswered).toBe(false);
  building.resolve();
  expect(await call).toBe("imported");
});

async function* none() {}
