import type { OperationName } from "@dataq/contract";
import { journalsCorpus } from "../search/corpora/journals.ts";
import { judgmentsCorpus } from "../search/corpora/judgments.ts";
import { lawArticlesCorpus } from "../search/corpora/law-articles.ts";
import { lawEntriesCorpus } from "../search/corpora/law-entries.ts";
import { papersCorpus } from "../search/corpora/papers.ts";
import { patentsCorpus } from "../search/corpora/patents.ts";
import { scholarsCorpus } from "../search/corpora/scholars.ts";
import type { PostingIndex } from "../search/postings/posting-index.ts";
import { ImportedParcels } from "./cloud/express-tracking/imported.ts";
import { sampleParcels } from "./cloud/express-tracking/sample.ts";
import { ImportedRanks } from "./content/hot-rank/imported.ts";
import { sampleRanks } from "./content/hot-rank/sample.ts";
import { ImportedKeywords } from "./content/keyword-index/imported.ts";
import { sampleKeywords } from "./content/keyword-index/sample.ts";
import { ImportedWechat } from "./content/wechat-index/imported.ts";
import { sampleWechat } from "./content/wechat-index/sample.ts";
import { ImportedReports } from "./enterprise/annual-report/imported.ts";
import { sampleReports } from "./enterprise/annual-report/sample.ts";
import { ImportedCompanies } from "./enterprise/company-detail/imported.ts";
import { sampleCompanies } from "./enterprise/company-detail/sample.ts";
import { ImportedShixin } from "./enterprise/shixin-check/imported.ts";
import { sampleShixin } from "./enterprise/shixin-check/sample.ts";
import { ImportedInvoices } from "./enterprise/tax-invoice/imported.ts";
import { sampleInvoices } from "./enterprise/tax-invoice/sample.ts";
import { ImportedZhixing } from "./enterprise/zhixing-check/imported.ts";
import { sampleZhixing } from "./enterprise/zhixing-check/sample.ts";
import { LayeredSource, type Layers, type OptionalSource } from "./layered.ts";
import { cases } from "./legal/cases/cases.ts";
import { LawCatalogSource } from "./legal/law-catalog/law-catalog.ts";
import { laws } from "./legal/laws/laws.ts";
import { journals } from "./research/journals/journals.ts";
import { papers } from "./research/papers/papers.ts";
import { patents } from "./research/patents/patents.ts";
import { scholars } from "./research/scholars/scholars.ts";
import { sampleCorpus } from "./sample-corpora.ts";
import { type Searching, SearchSource } from "./search-source.ts";
import type { Source, Sources } from "./source.ts";

export interface SourceParts {
  readonly index: PostingIndex;
  /** Whether samples answer where nothing better is configured. */
  readonly samples: boolean;
  /** Sources behind the operator's contracts, by operation. */
  readonly connectors?: Readonly<Partial<Record<OperationName, Source>>>;
  /** Resolves when a corpus that a first start builds is there, or will not come. */
  readonly ready?: (corpus: string) => Promise<void>;
}

/** Every operation's sources, joined by hand. */
export function createSources(parts: SourceParts): Sources {
  const { index } = parts;
  const searched = (corpus: string, searching: Searching): Pick<Layers, "imported" | "sample"> => ({
    imported: awaited(corpus, new SearchSource(index, corpus, searching), parts),
    sample: awaited(sampleCorpus(corpus), new SearchSource(index, sampleCorpus(corpus), searching), parts),
  });
  const layers: Record<OperationName, Pick<Layers, "imported" | "sample">> = {
    legal_cases: searched(judgmentsCorpus, cases),
    legal_laws: searched(lawArticlesCorpus, laws),
    legal_law_catalog: {
      imported: awaited(lawEntriesCorpus, new LawCatalogSource(index, lawEntriesCorpus), parts),
      sample: awaited(
        sampleCorpus(lawEntriesCorpus),
        new LawCatalogSource(index, sampleCorpus(lawEntriesCorpus)),
        parts,
      ),
    },
    enterprise_company_detail: keyed(
      new ImportedCompanies(index, "enterprise_company_detail"),
      sampleCompanies,
    ),
    enterprise_annual_report: keyed(new ImportedReports(index, "enterprise_annual_report"), sampleReports),
    enterprise_tax_invoice: keyed(new ImportedInvoices(index, "enterprise_tax_invoice"), sampleInvoices),
    enterprise_shixin_check: keyed(new ImportedShixin(index, "enterprise_shixin_check"), sampleShixin),
    enterprise_zhixing_check: keyed(new ImportedZhixing(index, "enterprise_zhixing_check"), sampleZhixing),
    content_keyword_index: keyed(new ImportedKeywords(index), sampleKeywords),
    content_wechat_index: keyed(new ImportedWechat(index, "content_wechat_index"), sampleWechat),
    content_hot_rank: keyed(new ImportedRanks(index), sampleRanks),
    cloud_express_tracking: keyed(new ImportedParcels(index, "cloud_express_tracking"), sampleParcels),
    research_paper_search: searched(papersCorpus, papers),
    research_patent_search: searched(patentsCorpus, patents),
    research_journal_search: searched(journalsCorpus, journals),
    research_scholar_search: searched(scholarsCorpus, scholars),
  };
  const sources = new Map(
    Object.entries(layers).map(([operation, { imported, sample }]) => [
      operation,
      new LayeredSource(operation, {
        connector: parts.connectors?.[operation as OperationName],
        imported,
        sample: parts.samples ? sample : undefined,
      }),
    ]),
  );
  return { find: (operation) => sources.get(operation) };
}

function keyed(imported: OptionalSource, sample: Source) {
  return { imported, sample };
}

/** A first start builds some corpora in the background; who asks before then waits. */
function awaited(corpus: string, source: OptionalSource, parts: SourceParts): OptionalSource {
  const ready = async () => parts.ready?.(corpus);
  return {
    async exists() {
      await ready();
      return source.exists();
    },
    async version(sandbox) {
      await ready();
      return source.version(sandbox);
    },
    async run(params, page, context) {
      await ready();
      return source.run(params, page, context);
    },
  };
}
