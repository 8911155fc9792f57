import type { OperationName } from "@dataq/contract";
import type { MakeDocument } from "../search/search-index.ts";
import { expressTracking } from "./cloud/express-tracking/operation.ts";
import { hotRank } from "./content/hot-rank/operation.ts";
import { keywordIndex } from "./content/keyword-index/operation.ts";
import { wechatIndex } from "./content/wechat-index/operation.ts";
import { annualReport } from "./enterprise/annual-report/operation.ts";
import { companyDetail } from "./enterprise/company-detail/operation.ts";
import { shixinCheck } from "./enterprise/shixin-check/operation.ts";
import { taxInvoice } from "./enterprise/tax-invoice/operation.ts";
import { zhixingCheck } from "./enterprise/zhixing-check/operation.ts";
import { legalCases } from "./legal/cases/operation.ts";
import { citationCheck } from "./legal/citation-check/operation.ts";
import { lawCatalog } from "./legal/law-catalog/operation.ts";
import { legalLaws } from "./legal/laws/operation.ts";
import type { OperationParts } from "./operation.ts";
import { journalSearch } from "./research/journal-search/operation.ts";
import { paperSearch } from "./research/paper-search/operation.ts";
import { patentSearch } from "./research/patent-search/operation.ts";
import { scholarSearch } from "./research/scholar-search/operation.ts";

/** Every operation of the contract and what answers it: the only place that joins the folders. */
export const registry: Readonly<Record<OperationName, OperationParts>> = {
  legal_cases: legalCases,
  legal_laws: legalLaws,
  legal_law_catalog: lawCatalog,
  legal_citation_check: citationCheck,
  enterprise_company_detail: companyDetail,
  enterprise_annual_report: annualReport,
  enterprise_tax_invoice: taxInvoice,
  enterprise_shixin_check: shixinCheck,
  enterprise_zhixing_check: zhixingCheck,
  content_keyword_index: keywordIndex,
  content_wechat_index: wechatIndex,
  content_hot_rank: hotRank,
  cloud_express_tracking: expressTracking,
  research_paper_search: paperSearch,
  research_patent_search: patentSearch,
  research_journal_search: journalSearch,
  research_scholar_search: scholarSearch,
};

/** The corpus of imported records that answers an operation. */
export function corpusOf(operation: string): string {
  return registry[operation as OperationName]?.reads ?? operation;
}

/** How the records of a corpus become documents; undefined if they are only looked up by key. */
export function documentOf(corpus: string): MakeDocument | undefined {
  const name = corpus.replace(/#sample$/, "");
  return Object.hasOwn(registry, name) ? registry[name as OperationName].document : undefined;
}
