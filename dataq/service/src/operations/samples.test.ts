import { findOperation, type Operation, platforms } from "@dataq/contract";
import { expect, test } from "vitest";
import { sampleCompany } from "../sample/companies.ts";
import { parcel } from "./cloud/express-tracking/sample.ts";
import { hotRank } from "./content/hot-rank/sample.ts";
import { keywordIndex } from "./content/keyword-index/sample.ts";
import { wechatIndex } from "./content/wechat-index/sample.ts";
import { annualReport } from "./enterprise/annual-report/sample.ts";
import { companyDetail } from "./enterprise/company-detail/sample.ts";
import { shixinRecords } from "./enterprise/shixin-check/sample.ts";
import { sampleInvoice } from "./enterprise/tax-invoice/sample.ts";
import { zhixingRecords } from "./enterprise/zhixing-check/sample.ts";
import { sampleJudgment } from "./legal/cases/sample/judgments.ts";
import { articleRecord } from "./legal/laws/record.ts";
import { sampleJournal } from "./research/journal-search/sample.ts";
import { samplePaper } from "./research/paper-search/sample.ts";
import { samplePatent } from "./research/patent-search/sample.ts";
import { sampleScholars } from "./research/scholar-search/sample.ts";

const numbers = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233];
const found = { highlights: [], score: null };
const companies = numbers.map(sampleCompany);
const date = "2026-02-03";

/** A record of each kind as its source gives it. */
const records: Readonly<Record<string, () => readonly object[]>> = {
  legal_cases: () => numbers.map((n) => ({ ...sampleJudgment(n), ...found })),
  enterprise_company_detail: () => companies.map(companyDetail),
  enterprise_annual_report: () => companies.map(annualReport),
  enterprise_tax_invoice: () =>
    numbers.map((n) => ({
      ...sampleInvoice("033002100111", String(10_000_001 + n)),
      result: "match",
      authentic: true,
      missing: [],
      checked_at: "x",
    })),
  enterprise_shixin_check: () => companies.flatMap(shixinRecords),
  enterprise_zhixing_check: () => companies.flatMap(zhixingRecords),
  content_keyword_index: () => [keywordIndex("借贷", date)],
  content_wechat_index: () => [wechatIndex("借贷", date)],
  content_hot_rank: () => platforms.flatMap((platform) => hotRank(platform, date)),
  cloud_express_tracking: () =>
    numbers.map((n) => ({
      ...parcel(`YT${1_000_000_000_000 + n}`, { code: "yuantong", name: "圆通速递" }),
      carrier_candidates: null,
    })),
  research_paper_search: () => numbers.map((n) => ({ ...samplePaper(n), ...found })),
  research_patent_search: () => numbers.map((n) => ({ ...samplePatent(n), ...found })),
  research_journal_search: () => numbers.map((n) => ({ ...sampleJournal(n), ...found })),
  research_scholar_search: () =>
    sampleScholars(numbers.map(samplePaper)).map((scholar) => ({ ...scholar, ...found })),
};

test.each(Object.keys(records))("samples of %s match the contract and say that they are samples", (name) => {
  const { record } = findOperation(name) as Operation;
  const list = records[name]?.() ?? [];
  expect(list.length).toBeGreaterThan(0);
  for (const item of list) {
    expect(record.strict().safeParse(item).error).toBeUndefined();
    expect(item).toMatchObject({ source: { kind: "sample" } });
  }
});

test("the same number gives the same sample", () => {
  expect(sampleJudgment(7)).toEqual(sampleJudgment(7));
  expect(companyDetail(sampleCompany(7))).toEqual(companyDetail(sampleCompany(7)));
  expect(sampleJudgment(7)).not.toEqual(sampleJudgment(8));
});

test("judgments are as long as real ones and cite articles", () => {
  const list = Array.from({ length: 200 }, (_, n) => sampleJudgment(n));
  const mean = list.reduce((sum, { full_text }) => sum + full_text.length, 0) / list.length;
  expect(mean).toBeGreaterThan(1_700);
  expect(mean).toBeLessThan(3_800);
  expect(new Set(list.map(({ case_no }) => case_no)).size).toBe(list.length);
  for (const { full_text, legal_basis } of list) {
    expect(full_text).not.toMatch(/\{\w\}|undefined/);
    for (const { law_name, article_no } of legal_basis)
      expect(full_text).toContain(`《${law_name}》${article_no}`);
  }
});

test("a law's article shows the version in force on the day", () => {
  const facts = { law_id: "x", law_name: "试法", level_text: "法律", issuing_body: null, department: null };
  const source = sampleJournal(0).source;
  const version = (
    version_date: string,
    effective_date: string,
    content: string | null,
    status_text: string,
    change: "original" | "amended" | "repealed",
  ) => ({
    ...facts,
    change,
    since: effective_date,
    version_date,
    effective_date,
    promulgated_date: version_date,
    status_text,
    chapter: null,
    section: null,
    content,
    source,
  });
  const article = {
    id: "试法:1",
    law_name: "试法",
    article_no: "第一条",
    article: { number: 1, sub: null },
    versions: [
      version("2010-01-01", "2010-06-01", "旧文", "历史版本", "original"),
      version("2020-01-01", "2020-06-01", "新文", "现行有效", "amended"),
      version("2027-01-01", "2027-06-01", null, "现行有效", "repealed"),
    ],
  };
  const on = (day: string) => articleRecord(article, new Date(`${day}T04:00:00Z`));
  expect(on("2015-01-01")).toMatchObject({ content: "旧文", expired_date: "2020-06-01" });
  expect(on("2026-01-01")).toMatchObject({ content: "新文", status: "in_force", expired_date: "2027-06-01" });
  expect(on("2028-01-01")).toMatchObject({ content: "新文", status: "repealed" });
  expect(on("2009-01-01")).toMatchObject({ status: "not_yet_effective" });
  expect(on("2026-01-01").revisions.map(({ change }) => change)).toEqual(["original", "amended", "repealed"]);
});
