// Written by scripts/generate.ts; change the contract, or the script, and run it again.

import type { OperationName } from "./operations.ts";
import type { AsyncQueryOptions, QueryOptions } from "./request.ts";
import type { ParamsOf, Result } from "./result.ts";

export abstract class AsyncOperations {
  abstract query<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options?: AsyncQueryOptions,
  ): Promise<Result<Name>>;

  /** Judgments by keywords, court, judge or legal basis. query supports the fields court:, judge:, basis:, type:, cause: and date:2024..2025, quotes, OR and minus; the other parameters are the same filters as values. */
  legal_cases(params: ParamsOf<"legal_cases">, options?: AsyncQueryOptions): Promise<Result<"legal_cases">> {
    return this.query("legal_cases", params, options);
  }

  /** Articles of laws with their revision history, by law name and article number (Chinese or Arabic numerals) or by keywords. A year selects an older version. */
  legal_laws(params: ParamsOf<"legal_laws">, options?: AsyncQueryOptions): Promise<Result<"legal_laws">> {
    return this.query("legal_laws", params, options);
  }

  /** Catalogue of laws and regulations by legal domain. */
  legal_law_catalog(
    params: ParamsOf<"legal_law_catalog"> = {},
    options?: AsyncQueryOptions,
  ): Promise<Result<"legal_law_catalog">> {
    return this.query("legal_law_catalog", params, options);
  }

  /** Checks every citation in a text: whether the law and the article exist and are in force on a date, whether the quoted words agree with the article, and whether a cited judgment is in the data. No language model is involved. */
  legal_citation_check(
    params: ParamsOf<"legal_citation_check">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"legal_citation_check">> {
    return this.query("legal_citation_check", params, options);
  }

  /** Registration details of a company by unified social credit code. */
  enterprise_company_detail(
    params: ParamsOf<"enterprise_company_detail">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"enterprise_company_detail">> {
    return this.query("enterprise_company_detail", params, options);
  }

  /** Latest annual report of a company, with public financial figures and employee count. */
  enterprise_annual_report(
    params: ParamsOf<"enterprise_annual_report">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"enterprise_annual_report">> {
    return this.query("enterprise_annual_report", params, options);
  }

  /** Authenticity check of a tax invoice by code and number. Invoices from today or older than 5 years cannot be checked. */
  enterprise_tax_invoice(
    params: ParamsOf<"enterprise_tax_invoice">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"enterprise_tax_invoice">> {
    return this.query("enterprise_tax_invoice", params, options);
  }

  /** Whether a company or person is on the courts' list of dishonest debtors. An empty list means that none was found. */
  enterprise_shixin_check(
    params: ParamsOf<"enterprise_shixin_check">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"enterprise_shixin_check">> {
    return this.query("enterprise_shixin_check", params, options);
  }

  /** Enforcement cases against a company or person, with status and amount. */
  enterprise_zhixing_check(
    params: ParamsOf<"enterprise_zhixing_check">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"enterprise_zhixing_check">> {
    return this.query("enterprise_zhixing_check", params, options);
  }

  /** Search volume trend of a keyword over the 30 days up to a date. */
  content_keyword_index(
    params: ParamsOf<"content_keyword_index">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"content_keyword_index">> {
    return this.query("content_keyword_index", params, options);
  }

  /** Popularity of a keyword on a messaging platform over the 30 days up to a date. */
  content_wechat_index(
    params: ParamsOf<"content_wechat_index">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"content_wechat_index">> {
    return this.query("content_wechat_index", params, options);
  }

  /** Trending topics of a platform on a day: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, and every platform with an imported archive. */
  content_hot_rank(
    params: ParamsOf<"content_hot_rank">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"content_hot_rank">> {
    return this.query("content_hot_rank", params, options);
  }

  /** Where a parcel is, for the major carriers. SF Express and ZTO require the last four digits of the phone number. */
  cloud_express_tracking(
    params: ParamsOf<"cloud_express_tracking">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"cloud_express_tracking">> {
    return this.query("cloud_express_tracking", params, options);
  }

  /** Papers by words in the title, abstract or keywords, by author or by DOI. */
  research_paper_search(
    params: ParamsOf<"research_paper_search">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"research_paper_search">> {
    return this.query("research_paper_search", params, options);
  }

  /** Patents by keywords, number or applicant. */
  research_patent_search(
    params: ParamsOf<"research_patent_search">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"research_patent_search">> {
    return this.query("research_patent_search", params, options);
  }

  /** Journals by name, ISSN or CN number. */
  research_journal_search(
    params: ParamsOf<"research_journal_search">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"research_journal_search">> {
    return this.query("research_journal_search", params, options);
  }

  /** Researchers by name, with their publications. */
  research_scholar_search(
    params: ParamsOf<"research_scholar_search">,
    options?: AsyncQueryOptions,
  ): Promise<Result<"research_scholar_search">> {
    return this.query("research_scholar_search", params, options);
  }

  readonly legal = {
    /** Judgments by keywords, court, judge or legal basis. query supports the fields court:, judge:, basis:, type:, cause: and date:2024..2025, quotes, OR and minus; the other parameters are the same filters as values. */
    cases: (params: ParamsOf<"legal_cases">, options?: AsyncQueryOptions): Promise<Result<"legal_cases">> =>
      this.query("legal_cases", params, options),
    /** Articles of laws with their revision history, by law name and article number (Chinese or Arabic numerals) or by keywords. A year selects an older version. */
    laws: (params: ParamsOf<"legal_laws">, options?: AsyncQueryOptions): Promise<Result<"legal_laws">> =>
      this.query("legal_laws", params, options),
    /** Catalogue of laws and regulations by legal domain. */
    lawCatalog: (
      params: ParamsOf<"legal_law_catalog"> = {},
      options?: AsyncQueryOptions,
    ): Promise<Result<"legal_law_catalog">> => this.query("legal_law_catalog", params, options),
    /** Checks every citation in a text: whether the law and the article exist and are in force on a date, whether the quoted words agree with the article, and whether a cited judgment is in the data. No language model is involved. */
    citationCheck: (
      params: ParamsOf<"legal_citation_check">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"legal_citation_check">> => this.query("legal_citation_check", params, options),
  };

  readonly enterprise = {
    /** Registration details of a company by unified social credit code. */
    companyDetail: (
      params: ParamsOf<"enterprise_company_detail">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"enterprise_company_detail">> =>
      this.query("enterprise_company_detail", params, options),
    /** Latest annual report of a company, with public financial figures and employee count. */
    annualReport: (
      params: ParamsOf<"enterprise_annual_report">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"enterprise_annual_report">> => this.query("enterprise_annual_report", params, options),
    /** Authenticity check of a tax invoice by code and number. Invoices from today or older than 5 years cannot be checked. */
    taxInvoice: (
      params: ParamsOf<"enterprise_tax_invoice">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"enterprise_tax_invoice">> => this.query("enterprise_tax_invoice", params, options),
    /** Whether a company or person is on the courts' list of dishonest debtors. An empty list means that none was found. */
    shixinCheck: (
      params: ParamsOf<"enterprise_shixin_check">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"enterprise_shixin_check">> => this.query("enterprise_shixin_check", params, options),
    /** Enforcement cases against a company or person, with status and amount. */
    zhixingCheck: (
      params: ParamsOf<"enterprise_zhixing_check">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"enterprise_zhixing_check">> => this.query("enterprise_zhixing_check", params, options),
  };

  readonly content = {
    /** Search volume trend of a keyword over the 30 days up to a date. */
    keywordIndex: (
      params: ParamsOf<"content_keyword_index">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"content_keyword_index">> => this.query("content_keyword_index", params, options),
    /** Popularity of a keyword on a messaging platform over the 30 days up to a date. */
    wechatIndex: (
      params: ParamsOf<"content_wechat_index">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"content_wechat_index">> => this.query("content_wechat_index", params, options),
    /** Trending topics of a platform on a day: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, and every platform with an imported archive. */
    hotRank: (
      params: ParamsOf<"content_hot_rank">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"content_hot_rank">> => this.query("content_hot_rank", params, options),
  };

  readonly cloud = {
    /** Where a parcel is, for the major carriers. SF Express and ZTO require the last four digits of the phone number. */
    expressTracking: (
      params: ParamsOf<"cloud_express_tracking">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"cloud_express_tracking">> => this.query("cloud_express_tracking", params, options),
  };

  readonly research = {
    /** Papers by words in the title, abstract or keywords, by author or by DOI. */
    paperSearch: (
      params: ParamsOf<"research_paper_search">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"research_paper_search">> => this.query("research_paper_search", params, options),
    /** Patents by keywords, number or applicant. */
    patentSearch: (
      params: ParamsOf<"research_patent_search">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"research_patent_search">> => this.query("research_patent_search", params, options),
    /** Journals by name, ISSN or CN number. */
    journalSearch: (
      params: ParamsOf<"research_journal_search">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"research_journal_search">> => this.query("research_journal_search", params, options),
    /** Researchers by name, with their publications. */
    scholarSearch: (
      params: ParamsOf<"research_scholar_search">,
      options?: AsyncQueryOptions,
    ): Promise<Result<"research_scholar_search">> => this.query("research_scholar_search", params, options),
  };
}

export abstract class SyncOperations {
  abstract query<Name extends OperationName>(
    operation: Name,
    params: ParamsOf<Name>,
    options?: QueryOptions,
  ): Result<Name>;

  /** Judgments by keywords, court, judge or legal basis. query supports the fields court:, judge:, basis:, type:, cause: and date:2024..2025, quotes, OR and minus; the other parameters are the same filters as values. */
  legal_cases(params: ParamsOf<"legal_cases">, options?: QueryOptions): Result<"legal_cases"> {
    return this.query("legal_cases", params, options);
  }

  /** Articles of laws with their revision history, by law name and article number (Chinese or Arabic numerals) or by keywords. A year selects an older version. */
  legal_laws(params: ParamsOf<"legal_laws">, options?: QueryOptions): Result<"legal_laws"> {
    return this.query("legal_laws", params, options);
  }

  /** Catalogue of laws and regulations by legal domain. */
  legal_law_catalog(
    params: ParamsOf<"legal_law_catalog"> = {},
    options?: QueryOptions,
  ): Result<"legal_law_catalog"> {
    return this.query("legal_law_catalog", params, options);
  }

  /** Checks every citation in a text: whether the law and the article exist and are in force on a date, whether the quoted words agree with the article, and whether a cited judgment is in the data. No language model is involved. */
  legal_citation_check(
    params: ParamsOf<"legal_citation_check">,
    options?: QueryOptions,
  ): Result<"legal_citation_check"> {
    return this.query("legal_citation_check", params, options);
  }

  /** Registration details of a company by unified social credit code. */
  enterprise_company_detail(
    params: ParamsOf<"enterprise_company_detail">,
    options?: QueryOptions,
  ): Result<"enterprise_company_detail"> {
    return this.query("enterprise_company_detail", params, options);
  }

  /** Latest annual report of a company, with public financial figures and employee count. */
  enterprise_annual_report(
    params: ParamsOf<"enterprise_annual_report">,
    options?: QueryOptions,
  ): Result<"enterprise_annual_report"> {
    return this.query("enterprise_annual_report", params, options);
  }

  /** Authenticity check of a tax invoice by code and number. Invoices from today or older than 5 years cannot be checked. */
  enterprise_tax_invoice(
    params: ParamsOf<"enterprise_tax_invoice">,
    options?: QueryOptions,
  ): Result<"enterprise_tax_invoice"> {
    return this.query("enterprise_tax_invoice", params, options);
  }

  /** Whether a company or person is on the courts' list of dishonest debtors. An empty list means that none was found. */
  enterprise_shixin_check(
    params: ParamsOf<"enterprise_shixin_check">,
    options?: QueryOptions,
  ): Result<"enterprise_shixin_check"> {
    return this.query("enterprise_shixin_check", params, options);
  }

  /** Enforcement cases against a company or person, with status and amount. */
  enterprise_zhixing_check(
    params: ParamsOf<"enterprise_zhixing_check">,
    options?: QueryOptions,
  ): Result<"enterprise_zhixing_check"> {
    return this.query("enterprise_zhixing_check", params, options);
  }

  /** Search volume trend of a keyword over the 30 days up to a date. */
  content_keyword_index(
    params: ParamsOf<"content_keyword_index">,
    options?: QueryOptions,
  ): Result<"content_keyword_index"> {
    return this.query("content_keyword_index", params, options);
  }

  /** Popularity of a keyword on a messaging platform over the 30 days up to a date. */
  content_wechat_index(
    params: ParamsOf<"content_wechat_index">,
    options?: QueryOptions,
  ): Result<"content_wechat_index"> {
    return this.query("content_wechat_index", params, options);
  }

  /** Trending topics of a platform on a day: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, and every platform with an imported archive. */
  content_hot_rank(params: ParamsOf<"content_hot_rank">, options?: QueryOptions): Result<"content_hot_rank"> {
    return this.query("content_hot_rank", params, options);
  }

  /** Where a parcel is, for the major carriers. SF Express and ZTO require the last four digits of the phone number. */
  cloud_express_tracking(
    params: ParamsOf<"cloud_express_tracking">,
    options?: QueryOptions,
  ): Result<"cloud_express_tracking"> {
    return this.query("cloud_express_tracking", params, options);
  }

  /** Papers by words in the title, abstract or keywords, by author or by DOI. */
  research_paper_search(
    params: ParamsOf<"research_paper_search">,
    options?: QueryOptions,
  ): Result<"research_paper_search"> {
    return this.query("research_paper_search", params, options);
  }

  /** Patents by keywords, number or applicant. */
  research_patent_search(
    params: ParamsOf<"research_patent_search">,
    options?: QueryOptions,
  ): Result<"research_patent_search"> {
    return this.query("research_patent_search", params, options);
  }

  /** Journals by name, ISSN or CN number. */
  research_journal_search(
    params: ParamsOf<"research_journal_search">,
    options?: QueryOptions,
  ): Result<"research_journal_search"> {
    return this.query("research_journal_search", params, options);
  }

  /** Researchers by name, with their publications. */
  research_scholar_search(
    params: ParamsOf<"research_scholar_search">,
    options?: QueryOptions,
  ): Result<"research_scholar_search"> {
    return this.query("research_scholar_search", params, options);
  }

  readonly legal = {
    /** Judgments by keywords, court, judge or legal basis. query supports the fields court:, judge:, basis:, type:, cause: and date:2024..2025, quotes, OR and minus; the other parameters are the same filters as values. */
    cases: (params: ParamsOf<"legal_cases">, options?: QueryOptions): Result<"legal_cases"> =>
      this.query("legal_cases", params, options),
    /** Articles of laws with their revision history, by law name and article number (Chinese or Arabic numerals) or by keywords. A year selects an older version. */
    laws: (params: ParamsOf<"legal_laws">, options?: QueryOptions): Result<"legal_laws"> =>
      this.query("legal_laws", params, options),
    /** Catalogue of laws and regulations by legal domain. */
    lawCatalog: (
      params: ParamsOf<"legal_law_catalog"> = {},
      options?: QueryOptions,
    ): Result<"legal_law_catalog"> => this.query("legal_law_catalog", params, options),
    /** Checks every citation in a text: whether the law and the article exist and are in force on a date, whether the quoted words agree with the article, and whether a cited judgment is in the data. No language model is involved. */
    citationCheck: (
      params: ParamsOf<"legal_citation_check">,
      options?: QueryOptions,
    ): Result<"legal_citation_check"> => this.query("legal_citation_check", params, options),
  };

  readonly enterprise = {
    /** Registration details of a company by unified social credit code. */
    companyDetail: (
      params: ParamsOf<"enterprise_company_detail">,
      options?: QueryOptions,
    ): Result<"enterprise_company_detail"> => this.query("enterprise_company_detail", params, options),
    /** Latest annual report of a company, with public financial figures and employee count. */
    annualReport: (
      params: ParamsOf<"enterprise_annual_report">,
      options?: QueryOptions,
    ): Result<"enterprise_annual_report"> => this.query("enterprise_annual_report", params, options),
    /** Authenticity check of a tax invoice by code and number. Invoices from today or older than 5 years cannot be checked. */
    taxInvoice: (
      params: ParamsOf<"enterprise_tax_invoice">,
      options?: QueryOptions,
    ): Result<"enterprise_tax_invoice"> => this.query("enterprise_tax_invoice", params, options),
    /** Whether a company or person is on the courts' list of dishonest debtors. An empty list means that none was found. */
    shixinCheck: (
      params: ParamsOf<"enterprise_shixin_check">,
      options?: QueryOptions,
    ): Result<"enterprise_shixin_check"> => this.query("enterprise_shixin_check", params, options),
    /** Enforcement cases against a company or person, with status and amount. */
    zhixingCheck: (
      params: ParamsOf<"enterprise_zhixing_check">,
      options?: QueryOptions,
    ): Result<"enterprise_zhixing_check"> => this.query("enterprise_zhixing_check", params, options),
  };

  readonly content = {
    /** Search volume trend of a keyword over the 30 days up to a date. */
    keywordIndex: (
      params: ParamsOf<"content_keyword_index">,
      options?: QueryOptions,
    ): Result<"content_keyword_index"> => this.query("content_keyword_index", params, options),
    /** Popularity of a keyword on a messaging platform over the 30 days up to a date. */
    wechatIndex: (
      params: ParamsOf<"content_wechat_index">,
      options?: QueryOptions,
    ): Result<"content_wechat_index"> => this.query("content_wechat_index", params, options),
    /** Trending topics of a platform on a day: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, and every platform with an imported archive. */
    hotRank: (params: ParamsOf<"content_hot_rank">, options?: QueryOptions): Result<"content_hot_rank"> =>
      this.query("content_hot_rank", params, options),
  };

  readonly cloud = {
    /** Where a parcel is, for the major carriers. SF Express and ZTO require the last four digits of the phone number. */
    expressTracking: (
      params: ParamsOf<"cloud_express_tracking">,
      options?: QueryOptions,
    ): Result<"cloud_express_tracking"> => this.query("cloud_express_tracking", params, options),
  };

  readonly research = {
    /** Papers by words in the title, abstract or keywords, by author or by DOI. */
    paperSearch: (
      params: ParamsOf<"research_paper_search">,
      options?: QueryOptions,
    ): Result<"research_paper_search"> => this.query("research_paper_search", params, options),
    /** Patents by keywords, number or applicant. */
    patentSearch: (
      params: ParamsOf<"research_patent_search">,
      options?: QueryOptions,
    ): Result<"research_patent_search"> => this.query("research_patent_search", params, options),
    /** Journals by name, ISSN or CN number. */
    journalSearch: (
      params: ParamsOf<"research_journal_search">,
      options?: QueryOptions,
    ): Result<"research_journal_search"> => this.query("research_journal_search", params, options),
    /** Researchers by name, with their publications. */
    scholarSearch: (
      params: ParamsOf<"research_scholar_search">,
      options?: QueryOptions,
    ): Result<"research_scholar_search"> => this.query("research_scholar_search", params, options),
  };
}
