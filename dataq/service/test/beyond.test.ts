import { findOperation, type Operation, type OperationName, operations, type Params } from "@dataq/contract";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../src/database/database.ts";
import { findTarget } from "../src/operations/imports.ts";
import { regions } from "../src/operations/regions.ts";
import { corpusOf, registry } from "../src/operations/registry.ts";
import { createSources } from "../src/operations/sources.ts";
import { chargeFor } from "../src/query/tariff.ts";
import { embeddedIndex } from "../src/search/open-index.ts";
import type { IndexDocument, SearchIndex } from "../src/search/search-index.ts";
import { makeDataFolder, openFolder, removeDataFolder } from "./data-folder.ts";

/** A place in the world of an operation's questions: what a record is of, and what a question asks for. */
interface Spot {
  readonly region: string;
  readonly day: string;
  readonly name: string;
}

interface Kind {
  /** A record of a spot; `own` is a whole record of the operation. */
  record(spot: Spot, own: object, number: number): object;
  ask(spot: Spot): Params;
  /** What of a spot is counted. */
  counts: readonly (keyof Spot)[];
  /** How many days before its own a question asks for. */
  daysBefore?: number;
  /** Every question asks about all regions. */
  isNationwide?: true;
  /** A day without any record between others is told, too. */
  hasGaps?: true;
}

const dayMs = 86_400_000;
const codeOf = (region: string) => regions.find(({ zh }) => zh === region)?.code ?? "";
const credit = ({ region }: Spot, number = 0) => `91${codeOf(region)}0000MA${String(1e8 + number).slice(1)}X`;
const carriers: Record<string, string> = { 甲: "yuantong", 乙: "shunfeng", 丙: "jd" };

const byRegion = { counts: ["region"] } as const;
const byDay = { counts: ["day"] } as const;
const series: Kind = {
  ...byDay,
  daysBefore: 29,
  record: ({ day, name }, own) => ({ ...own, id: `${name}${day}`, keyword: name, date: day }),
  ask: ({ day, name }) => ({ keyword: name, date: day }),
};
const debtors: Kind = {
  ...byRegion,
  isNationwide: true,
  record: ({ region, name }, own, number) => ({
    ...own,
    id: `${number}`,
    name: `${region}${name}有限公司`,
    province: null,
    court: `${region}某某人民法院`,
    court_name: `${region}某某人民法院`,
  }),
  ask: ({ region, name }) => ({ company_name: `${region}${name}有限公司` }),
};

/** How each operation's questions reach beyond what is held; `null` where no question names a year, platform or region. */
const kinds: Record<OperationName, Kind | null> = {
  cloud_express_tracking: {
    counts: ["name"],
    record: ({ name }, own, number) => ({
      ...own,
      id: `${number}`,
      express_no: `${number}`,
      carrier_code: carriers[name],
    }),
    ask: ({ name }) => ({ express_no: "75310000000", carrier: carriers[name] as string }),
  },
  content_hot_rank: {
    counts: ["name", "day"],
    hasGaps: true,
    record: ({ name, day }) => ({ id: `${name}:${day}`, platform: name, date: day, items: [], source }),
    ask: ({ name, day }) => ({ platform: name, date: day }),
  },
  content_keyword_index: series,
  content_wechat_index: series,
  enterprise_company_detail: {
    ...byRegion,
    record: (spot, own, number) => ({ ...own, id: `${number}`, tax_id: credit(spot, number) }),
    ask: (spot) => ({ tax_id: credit(spot, 77_777_777) }),
  },
  enterprise_annual_report: {
    ...byRegion,
    record: (spot, own, number) => ({ ...own, id: `${number}`, tax_id: credit(spot, number) }),
    ask: (spot) => ({ tax_id: credit(spot, 77_777_777) }),
  },
  enterprise_tax_invoice: {
    counts: ["region", "day"],
    record: ({ region, day }, own, number) => ({
      ...own,
      id: `${number}`,
      invoice_code: `0${codeOf(region)}002100111`,
      invoice_number: String(10_000_000 + number),
      issue_date: day,
    }),
    ask: ({ region, day }) => ({
      invoice_code: `${codeOf(region)}00211301`,
      invoice_number: "99999999",
      issue_date: day,
    }),
  },
  enterprise_shixin_check: debtors,
  enterprise_zhixing_check: debtors,
  legal_cases: {
    counts: ["region", "day"],
    hasGaps: true,
    record: ({ region, day }, own, number) => ({
      ...own,
      id: `${number}`,
      court_name: `${region}某某人民法院`,
      province: null,
      city: null,
      judgment_date: day,
    }),
    ask: ({ region, day }) => ({
      query: "借款",
      court: `${region}某某人民法院`,
      date_from: day,
      date_to: day,
    }),
  },
  legal_laws: null,
  legal_law_catalog: null,
  legal_citation_check: null,
  research_paper_search: {
    ...byDay,
    hasGaps: true,
    record: ({ day }, own, number) => ({
      ...own,
      id: `${number}`,
      publication_date: day,
      year: Number(day.slice(0, 4)),
    }),
    ask: ({ day }) => ({ query: "无此词", date_from: day, date_to: day }),
  },
  research_patent_search: {
    ...byDay,
    hasGaps: true,
    record: ({ day }, own, number) => ({ ...own, id: `${number}`, application_date: day }),
    ask: ({ day }) => ({ query: "无此词", date_from: day, date_to: day }),
  },
  research_journal_search: null,
  research_scholar_search: null,
};

const source = {
  name: "测试",
  kind: "third_party" as const,
  retrieved_at: "2026-01-01T08:00:00+08:00",
  content_sha256: "",
};
const spot: fc.Arbitrary<Spot> = fc.record({
  region: fc.constantFrom("浙江", "内蒙古", "广西", "上海"),
  day: fc
    .integer({ min: 17_000, max: 17_400 })
    .map((day) => new Date(day * dayMs).toISOString().slice(0, 10)),
  name: fc.constantFrom("甲", "乙", "丙"),
});
const world = fc.record({
  held: fc.array(spot, { minLength: 1, maxLength: 5 }),
  asked: fc.array(spot, { minLength: 4, maxLength: 4 }),
});

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

const context = { signal: AbortSignal.timeout(600_000), now: new Date("2026-11-22"), sandbox: false };
const page = { page: 1, pageSize: 20 };

describe("what is held is told exactly where a question reaches beyond it, and is free where nothing could be found", () => {
  test.each(operations.map(({ name }) => name))("%s", async (name) => {
    const kind = kinds[name];
    const { params } = findOperation(name) as Operation;
    if (kind === null) {
      // Such a parameter would be a question about a part.
      const parts = Object.keys(params.shape).filter((each) =>
        /date|platform|region|tax_id|carrier/.test(each),
      );
      expect([name, parts]).toEqual([name, name === "legal_citation_check" ? ["date"] : []]);
      return;
    }
    const own = await sampleOf(name);
    const { document } = findTarget(name);
    for (const { held, asked } of fc.sample(world, { seed: 36, numRuns: 8 })) {
      const documents = held.map((each, number) =>
        document({ source, ...kind.record(each, own, number) } as never),
      );
      await index.refresh(corpusOf(name), each(documents), { dataset: "部分", mode: "replace" });
      index.forget(corpusOf(name));
      const answering = createSources({ index, samples: false }).find(name);
      for (const one of asked) {
        const answer = await answering?.run(kind.ask(one), page, context);
        const { tokens } = chargeFor({ tokens: 9, reason: null }, answer as never, true);
        const { isApart, isPart } = reachOf(one, held, kind);
        const isNothing = isApart && answer?.outcome !== "found";
        const wanted = {
          isTold: isApart || isPart,
          tokens: isNothing || answer?.outcome === "not_found" ? 0 : 9,
        };
        expect({ one, held, isTold: answer?.coverage !== undefined, tokens }).toEqual({
          one,
          held,
          ...wanted,
        });
        if (isApart && kind.isNationwide === undefined) expect(answer?.outcome).not.toBe("found");
      }
    }
    await index.refresh(corpusOf(name), each([]), { dataset: "部分", mode: "replace" });
    index.forget(corpusOf(name));
  });
});

test("a law that is not held is told with what is, and a text that cites one beside held ones has both", async () => {
  const { sample } = registry.legal_laws as { sample: { documents(): Iterable<IndexDocument> } };
  await index.refresh("legal_laws", each([...sample.documents()]), { dataset: "部分", mode: "replace" });
  index.forget("legal_laws");
  const sources = createSources({ index, samples: false });
  const ask = async (name: OperationName, params: Params) => {
    const answer = await sources.find(name)?.run(params, page, context);
    return [answer?.coverage !== undefined, answer?.notHeld === true];
  };
  expect(await ask("legal_laws", { query: "样例合同条例 第三条" })).toEqual([false, false]);
  expect(await ask("legal_laws", { query: "民法典 第三条" })).toEqual([true, true]);
  expect(await ask("legal_laws", { law: "样例合同条例", query: "", year: "1803" })).toEqual([true, true]);
  const check = (text: string) => ask("legal_citation_check", { text, date: "2026-11-20" });
  expect(await check("《样例合同条例》第三条")).toEqual([false, false]);
  expect(await check("《样例合同条例》第三条，《民法典》第三条")).toEqual([true, false]);
  expect(await check("《民法典》第三条")).toEqual([true, true]);
});

/** Reckoned from the records alone: whether a question is about nothing that is held, or about more than that. */
function reachOf(one: Spot, held: readonly Spot[], { counts, daysBefore = 0, isNationwide, hasGaps }: Kind) {
  const named = counts.filter((each) => each !== "day");
  const same = held.filter((each) => named.every((what) => each[what] === one[what]));
  const isElsewhere = same.length === 0;
  if (!counts.includes("day")) return { isApart: isElsewhere, isPart: isNationwide === true };
  // The days of a platform are its own; those of a region are all that are held.
  const counted = counts.includes("name") && !isElsewhere ? same : held;
  const days = counted.map(({ day }) => day).sort();
  const [oldest = "", newest = ""] = [days[0], days.at(-1)];
  const from = new Date(Date.parse(one.day) - daysBefore * dayMs).toISOString().slice(0, 10);
  const isGap = hasGaps === true && !days.includes(one.day);
  const isApart = isElsewhere || isGap || from > newest || one.day < oldest;
  return { isApart, isPart: from < oldest || one.day > newest };
}

/** A whole record of an operation, made by its samples. */
async function sampleOf(name: OperationName): Promise<object> {
  const { sample } = registry[name];
  if (sample !== undefined && "documents" in sample) {
    for (const { body } of sample.documents()) return body;
  }
  const params = (findOperation(name) as Operation).example;
  const answer = await createSources({ index, samples: true })
    .find(name)
    ?.run({ ...params, date: "2026-11-20" }, page, { ...context, sandbox: true });
  return (answer?.record ?? answer?.records?.[0]) as object;
}

async function* each(documents: readonly IndexDocument[]): AsyncGenerator<IndexDocument> {
  yield* documents;
}
