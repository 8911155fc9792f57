import type { Operation } from "./operation.ts";
import { cloudExpressTracking } from "./operations/cloud/express-tracking.ts";
import { contentHotRank } from "./operations/content/hot-rank.ts";
import { contentKeywordIndex } from "./operations/content/keyword-index.ts";
import { contentWechatIndex } from "./operations/content/wechat-index.ts";
import { enterpriseAnnualReport } from "./operations/enterprise/annual-report.ts";
import { enterpriseCompanyDetail } from "./operations/enterprise/company-detail.ts";
import { enterpriseShixinCheck } from "./operations/enterprise/shixin-check.ts";
import { enterpriseTaxInvoice } from "./operations/enterprise/tax-invoice.ts";
import { enterpriseZhixingCheck } from "./operations/enterprise/zhixing-check.ts";
import { legalCases } from "./operations/legal/cases.ts";
import { legalCitationCheck } from "./operations/legal/citation-check.ts";
import { legalLawCatalog } from "./operations/legal/law-catalog.ts";
import { legalLaws } from "./operations/legal/laws.ts";
import { researchJournalSearch } from "./operations/research/journal-search.ts";
import { researchPaperSearch } from "./operations/research/paper-search.ts";
import { researchPatentSearch } from "./operations/research/patent-search.ts";
import { researchScholarSearch } from "./operations/research/scholar-search.ts";

/** All operations: those of the specification in its order, and the citation check with the law. */
export const operations = [
  legalCases,
  legalLaws,
  legalLawCatalog,
  legalCitationCheck,
  enterpriseCompanyDetail,
  enterpriseAnnualReport,
  enterpriseTaxInvoice,
  enterpriseShixinCheck,
  enterpriseZhixingCheck,
  contentKeywordIndex,
  contentWechatIndex,
  contentHotRank,
  cloudExpressTracking,
  researchPaperSearch,
  researchPatentSearch,
  researchJournalSearch,
  researchScholarSearch,
] as const satisfies readonly Operation[];

export type OperationName = (typeof operations)[number]["name"];

/** The operation with this full name, if there is one. */
export function findOperation(name: string): Operation | undefined {
  return byName.get(name);
}

const byName = new Map<string, Operation>(operations.map((operation) => [operation.name, operation]));
