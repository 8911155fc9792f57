import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";
import { carriersOf, type OperationName, type Params } from "@dataq/contract";
import { parcel } from "../src/operations/cloud/express-tracking/sample.ts";
import { hotRank } from "../src/operations/content/hot-rank/sample.ts";
import { keywordIndex } from "../src/operations/content/keyword-index/sample.ts";
import { wechatIndex } from "../src/operations/content/wechat-index/sample.ts";
import { annualReport } from "../src/operations/enterprise/annual-report/sample.ts";
import { companyDetail } from "../src/operations/enterprise/company-detail/sample.ts";
import { shixinRecords } from "../src/operations/enterprise/shixin-check/sample.ts";
import { sampleInvoice } from "../src/operations/enterprise/tax-invoice/sample.ts";
import { zhixingRecords } from "../src/operations/enterprise/zhixing-check/sample.ts";
import { sampleJudgment } from "../src/operations/legal/cases/sample/judgments.ts";
import type { StoredArticle } from "../src/operations/legal/laws/corpus.ts";
import { articleRecord } from "../src/operations/legal/laws/record.ts";
import { registry } from "../src/operations/registry.ts";
import { sampleJournal } from "../src/operations/research/journal-search/sample.ts";
import { samplePaper } from "../src/operations/research/paper-search/sample.ts";
import { samplePatent } from "../src/operations/research/patent-search/sample.ts";
import { sampleScholars } from "../src/operations/research/scholar-search/sample.ts";
import { sampleCompany } from "../src/sample/companies.ts";

/** The thread that vendor.ts starts: a vendor for every operation. It ends with its process. */
const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://vendor");
  const name = url.pathname.slice(1) as OperationName;
  const answer = answers[name] ?? fromSamples(name);
  const found = answer(Object.fromEntries(url.searchParams));
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(pageOf(found, url.searchParams)));
});
server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));

function pageOf(found: object | readonly object[] | undefined, query: URLSearchParams): object {
  if (!Array.isArray(found)) return { data: found ?? null };
  const size = Number(query.get("page_size") || found.length);
  const from = (Number(query.get("page") || 1) - 1) * size;
  return { total: found.length, data: found.slice(from, from + size) };
}

type Answer = (params: Params) => object | readonly object[] | undefined;
type Answers = Partial<Record<OperationName, Answer>>;

const companies = lazily(() => Array.from({ length: 2_000 }, (_, number) => sampleCompany(number)));
const journals = lazily(() => Array.from({ length: 300 }, (_, number) => sampleJournal(number)));
const judgments = lazily(() => Array.from({ length: 300 }, (_, number) => sampleJudgment(number)));
const papers = lazily(() => Array.from({ length: 1_500 }, (_, number) => samplePaper(number)));
const patents = lazily(() => Array.from({ length: 300 }, (_, number) => samplePatent(number)));
const scholars = lazily(() => sampleScholars(papers()));
const articles = lazily(() => {
  const { sample } = registry.legal_laws;
  if (sample === undefined || !("documents" in sample)) return [];
  return [...sample.documents()].map(({ body }) => articleRecord(body as StoredArticle, new Date()));
});

const byTaxId = ({ tax_id }: Params) => companies().find(({ taxId }) => taxId === tax_id);
const named = ({ company_name }: Params) => companies().filter(({ name }) => name === company_name);

const answers: Answers = {
  legal_cases: ({ query }) => holding(judgments(), query),
  legal_laws: ({ query }) => holding(articles(), query),
  legal_law_catalog: () => [{ domain_code: "other", domain_name: "其他", count: 0, laws: [], id: "other" }],
  enterprise_company_detail: (params) => only(byTaxId(params), companyDetail),
  enterprise_annual_report: (params) => only(byTaxId(params), annualReport),
  enterprise_tax_invoice: ({ invoice_code = "", invoice_number }) =>
    only(
      invoice_code.length === 20
        ? sampleInvoice(null, invoice_code)
        : sampleInvoice(invoice_code, invoice_number ?? ""),
      (invoice) => ({ ...invoice, result: "match", authentic: true, missing: [], checked_at: "2026-01-01" }),
    ),
  enterprise_shixin_check: (params) => named(params).flatMap(shixinRecords),
  enterprise_zhixing_check: (params) => named(params).flatMap(zhixingRecords),
  content_keyword_index: ({ keyword = "", date = "" }) => keywordIndex(keyword, date),
  content_wechat_index: ({ keyword = "", date = "" }) => wechatIndex(keyword, date),
  content_hot_rank: ({ platform = "", date = "" }) => hotRank(platform, date),
  cloud_express_tracking: ({ express_no = "" }) =>
    only(carriersOf(express_no)[0], (carrier) => ({
      ...parcel(express_no, carrier),
      carrier_candidates: null,
    })),
  research_paper_search: ({ query }) => holding(papers(), query),
  research_patent_search: ({ query }) => holding(patents(), query),
  research_journal_search: ({ query }) => holding(journals(), query),
  research_scholar_search: ({ name }) => holding(scholars(), name),
};

/** An operation that is not listed above answers from its samples. */
function fromSamples(name: OperationName): Answer {
  const { sample } = registry[name];
  const bodies =
    sample !== undefined && "documents" in sample ? [...sample.documents()].map(({ body }) => body) : [];
  return ({ query }) => holding(bodies, query);
}

/** Records whose text contains every word. */
function holding(records: readonly object[], query = ""): object[] {
  const words = query.split(/\s+/).filter(Boolean);
  return records.filter((record) => {
    const text = JSON.stringify(record);
    return words.every((word) => text.includes(word));
  });
}

function only<Item, Out>(item: Item | undefined, map: (item: Item) => Out): Out | undefined {
  return item === undefined ? undefined : map(item);
}

function lazily<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
