// Written by scripts/generate.ts; change the contract, or the script, and run it again.

export const operationNames = [
  "legal_cases",
  "legal_laws",
  "legal_law_catalog",
  "legal_citation_check",
  "enterprise_company_detail",
  "enterprise_annual_report",
  "enterprise_tax_invoice",
  "enterprise_shixin_check",
  "enterprise_zhixing_check",
  "content_keyword_index",
  "content_wechat_index",
  "content_hot_rank",
  "cloud_express_tracking",
  "research_paper_search",
  "research_patent_search",
  "research_journal_search",
  "research_scholar_search",
] as const;

/** Names that the envelope uses itself. A record's field of the same name is read under `data`. */
export const envelopeFields: readonly string[] = [
  "data",
  "page",
  "page_size",
  "total",
  "total_relation",
  "total_pages",
  "has_more",
  "domain",
  "operation",
  "request_id",
  "usage",
  "warnings",
  "index",
  "summary",
  "relaxed",
  "sample",
  "coverage",
];

/** Each operation's parameters, its `data`, and the summary beside it. */
export interface Operations {
  /** Judgments by keywords, court, judge or legal basis. query supports the fields court:, judge:, basis:, type:, cause: and date:2024..2025, quotes, OR and minus; the other parameters are the same filters as values. */
  legal_cases: { params: LegalCasesParams; data: LegalCasesRecord[]; summary: undefined };
  /** Articles of laws with their revision history, by law name and article number (Chinese or Arabic numerals) or by keywords. A year selects an older version. */
  legal_laws: { params: LegalLawsParams; data: LegalLawsRecord[]; summary: undefined };
  /** Catalogue of laws and regulations by legal domain. */
  legal_law_catalog: { params: LegalLawCatalogParams; data: LegalLawCatalogRecord[]; summary: undefined };
  /** Checks every citation in a text: whether the law and the article exist and are in force on a date, whether the quoted words agree with the article, and whether a cited judgment is in the data. No language model is involved. */
  legal_citation_check: {
    params: LegalCitationCheckParams;
    data: LegalCitationCheckRecord[];
    summary: LegalCitationCheckSummary;
  };
  /** Registration details of a company by unified social credit code. */
  enterprise_company_detail: {
    params: EnterpriseCompanyDetailParams;
    data: EnterpriseCompanyDetailRecord;
    summary: undefined;
  };
  /** Latest annual report of a company, with public financial figures and employee count. */
  enterprise_annual_report: {
    params: EnterpriseAnnualReportParams;
    data: EnterpriseAnnualReportRecord;
    summary: undefined;
  };
  /** Authenticity check of a tax invoice by code and number. Invoices from today or older than 5 years cannot be checked. */
  enterprise_tax_invoice: {
    params: EnterpriseTaxInvoiceParams;
    data: EnterpriseTaxInvoiceRecord;
    summary: undefined;
  };
  /** Whether a company or person is on the courts' list of dishonest debtors. An empty list means that none was found. */
  enterprise_shixin_check: {
    params: EnterpriseShixinCheckParams;
    data: EnterpriseShixinCheckRecord[];
    summary: EnterpriseShixinCheckSummary;
  };
  /** Enforcement cases against a company or person, with status and amount. */
  enterprise_zhixing_check: {
    params: EnterpriseZhixingCheckParams;
    data: EnterpriseZhixingCheckRecord[];
    summary: EnterpriseZhixingCheckSummary;
  };
  /** Search volume trend of a keyword over the 30 days up to a date. */
  content_keyword_index: {
    params: ContentKeywordIndexParams;
    data: ContentKeywordIndexRecord;
    summary: undefined;
  };
  /** Popularity of a keyword on a messaging platform over the 30 days up to a date. */
  content_wechat_index: {
    params: ContentWechatIndexParams;
    data: ContentWechatIndexRecord;
    summary: undefined;
  };
  /** Trending topics of a platform on a day: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, and every platform with an imported archive. */
  content_hot_rank: {
    params: ContentHotRankParams;
    data: ContentHotRankRecord[];
    summary: ContentHotRankSummary;
  };
  /** Where a parcel is, for the major carriers. SF Express and ZTO require the last four digits of the phone number. */
  cloud_express_tracking: {
    params: CloudExpressTrackingParams;
    data: CloudExpressTrackingRecord;
    summary: undefined;
  };
  /** Papers by words in the title, abstract or keywords, by author or by DOI. */
  research_paper_search: {
    params: ResearchPaperSearchParams;
    data: ResearchPaperSearchRecord[];
    summary: undefined;
  };
  /** Patents by keywords, number or applicant. */
  research_patent_search: {
    params: ResearchPatentSearchParams;
    data: ResearchPatentSearchRecord[];
    summary: undefined;
  };
  /** Journals by name, ISSN or CN number. */
  research_journal_search: {
    params: ResearchJournalSearchParams;
    data: ResearchJournalSearchRecord[];
    summary: undefined;
  };
  /** Researchers by name, with their publications. */
  research_scholar_search: {
    params: ResearchScholarSearchParams;
    data: ResearchScholarSearchRecord[];
    summary: undefined;
  };
}

export type OperationName = keyof Operations;

/** What every answer contains besides its data. */
export interface Envelope {
  page: number;
  page_size: number;
  total: number;
  total_relation: "eq" | "gte" | (string & {});
  total_pages: number;
  has_more: boolean;
  domain: string;
  operation: string;
  request_id: string;
  usage: Usage;
  warnings: Array<string>;
  index?: IndexState;
  relaxed?: boolean;
  /** The records are generated samples, not facts; the call is free */
  sample?: true;
  /** What is held. Present if the question asks for more, such as another year, platform or region, so that the answer is a part */
  coverage?: {
    text: {
      en: string;
      zh: string;
    };
    oldest_day: string | null;
    newest_day: string | null;
  };
}

/** What a call cost, in tokens, and what is left. */
export interface Usage {
  tokens: number;
  list_tokens: number;
  cached: boolean;
  billed: boolean;
  /** cache_hit, no_result, not_held, insufficient_elements, sample, sandbox, replayed, free_tier, account_price, volume_discount, coupon */
  reason: string | null;
  balance: number;
  trial_balance: number;
  /** What is left of the session's budget. Present only if the request has X-Tokens-Budget */
  budget_left?: number;
}

/** State of the index that an answer was read from. */
export interface IndexState {
  snapshot: string;
  refreshed_at: string;
  next_refresh_at: string | null;
  size: number;
}

/** Where a record comes from. The kind of generated records is always `sample`. */
export interface Source {
  /** Publisher of the record */
  name: string;
  kind: "official" | "licensed" | "third_party" | "sample" | (string & {});
  url?: string;
  document_id?: string;
  published_at?: string;
  /** Retrieval time, RFC 3339 with +08:00 */
  retrieved_at: string;
  licence?: string;
  /** SHA-256 of the other fields of the record as canonical JSON */
  content_sha256: string;
  /** If several publishers know of it: each one's record */
  publishers?: Array<{
    /** Publisher of the record */
    name: string;
    kind: "official" | "licensed" | "third_party" | "sample" | (string & {});
    url?: string;
    document_id?: string;
    published_at?: string;
    /** Retrieval time, RFC 3339 with +08:00 */
    retrieved_at: string;
    licence?: string;
    /** SHA-256 of the other fields of the record as canonical JSON */
    content_sha256: string;
  }>;
  /** Fields of which the publishers differ */
  differences?: Array<{
    field: string;
    /** What each publisher says; the record has the first value */
    values: Array<{
      publisher: string;
      /** Publisher's ID */
      document_id?: string;
      /** What this publisher says */
      value: unknown;
    }>;
  }>;
}

export interface LegalCasesParams {
  /** Keywords, fields, a case number, or a law and article. May be empty if there is a filter */
  query: string;
  /** Filter: court, such as 上海市浦东新区人民法院 */
  court?: string;
  /** Filter: name of a judge */
  judge?: string;
  /** Filter: kind of case, document or procedure, such as civil, 刑事, 判决书, 一审 */
  case_type?: string;
  /** Filter: cause of action or charge, such as 民间借贷纠纷, 盗窃罪 */
  cause?: string;
  /** Filter: law that the judgment cites, such as 民法典 */
  law?: string;
  /** Filter: article of that law, such as 577 */
  article?: string;
  /** Filter: judgments of this date or later (2024-03-15, 2024-03 or 2024) */
  date_from?: string;
  /** Filter: judgments of this date or earlier */
  date_to?: string;
  /** From 1, the default. */
  page?: number;
  /** 1–200, default 20. */
  page_size?: number;
}

export interface LegalCasesRecord {
  id: string;
  case_id: string;
  case_no: string | null;
  title: string;
  court_name: string;
  court_level: "supreme" | "high" | "intermediate" | "basic" | "special" | (string & {}) | null;
  province: string | null;
  city: string | null;
  case_type:
    | "civil"
    | "criminal"
    | "administrative"
    | "compensation"
    | "enforcement"
    | "other"
    | (string & {});
  case_type_text: string;
  document_type: string | null;
  trial_procedure: string | null;
  cause_of_action: string | null;
  judgment_date: string | null;
  published_date: string | null;
  judges: Array<{
    name: string;
    role: string;
  }>;
  parties: Array<{
    name: string;
    role: string;
    type: "company" | "person" | (string & {});
  }>;
  legal_basis: Array<{
    law_name: string;
    article_no: string | null;
  }>;
  result: string | null;
  summary: string | null;
  full_text: string;
  sections: {
    facts: string | null;
    claims: string | null;
    reasoning: string | null;
    ruling: string | null;
  } | null;
  highlights: Array<string>;
  score: number | null;
  source: Source;
}

export interface LegalLawsParams {
  /** Law and article (民法典 第五百七十七条, 民法典577), with a year for an older version (公司法（2018修正） 第二十条), or keywords. May be empty if there is a filter */
  query: string;
  /** Filter: name of the law, such as 民法典 */
  law?: string;
  /** Filter: article number, such as 577 or 第五百七十七条 */
  article?: string;
  /** Filter: the version of this year. The law is named by law or query */
  year?: string;
  /** From 1, the default. */
  page?: number;
  /** 1–200, default 20. */
  page_size?: number;
}

export interface LegalLawsRecord {
  id: string;
  law_id: string;
  law_name: string;
  /** Such as 第五百七十七条 */
  article_no: string;
  article_no_arabic: number | null;
  /** Such as 之一 */
  article_sub: string | null;
  chapter: string | null;
  section: string | null;
  content: string;
  level:
    | "constitution"
    | "law"
    | "administrative_regulation"
    | "judicial_interpretation"
    | "local"
    | "departmental_rule"
    | "other"
    | (string & {});
  level_text: string;
  issuing_body: string | null;
  promulgated_date: string | null;
  /** Date when this version of the law was passed or amended */
  version_date: string | null;
  /** The year in the query, if any; the text is the one valid then. Null for the current text */
  as_of: string | null;
  /** Date when this law took effect: its first text, or the last that replaced it as a whole. Null if unknown */
  law_effective_date: string | null;
  /** Date since which these words are in force: the article's last change, or else the law's last complete text. Null if an amendment that is not in the data may have changed them */
  wording_since: string | null;
  /** The same as wording_since, under its older name */
  effective_date: string | null;
  /** Date since which this text no longer applies */
  expired_date: string | null;
  status: "in_force" | "amended" | "repealed" | "not_yet_effective" | "unknown" | (string & {});
  status_text: string;
  /** The evidence for the status: the official list and its day, the repealing act, the newer version, the date, or what the data pack says */
  status_basis: string;
  /** The same evidence in Chinese */
  status_basis_zh: string;
  /** Oldest first, from the imported versions and amendments */
  revisions: Array<{
    version_date: string;
    effective_date: string | null;
    /** Null if this version does not contain the article, or its text is not available */
    content: string | null;
    /** How this version changed the article; unknown for the oldest version available */
    change:
      | "original"
      | "added"
      | "amended"
      | "repealed"
      | "renumbered"
      | "unchanged"
      | "unknown"
      | (string & {});
    /** Article number in the previous version, if it was different */
    former_article_no: string | null;
    by: string | null;
  }>;
  /** Whether versions were compared, or only the dates of the law pack are known */
  revisions_basis: "compared_versions" | "law_pack" | (string & {});
  /** How the law was passed and amended, from the law pack, oldest first; empty if unknown */
  law_history: Array<{
    date: string;
    text: string;
  }>;
  highlights: Array<string>;
  score: number | null;
  source: Source;
}

export type LegalLawCatalogParams = Record<string, never>;

export interface LegalLawCatalogRecord {
  id: string;
  domain_code: string;
  /** Such as 民法商法 */
  domain_name: string;
  count: number;
  laws: Array<{
    law_id: string;
    law_name: string;
    level:
      | "constitution"
      | "law"
      | "administrative_regulation"
      | "judicial_interpretation"
      | "local"
      | "departmental_rule"
      | "other"
      | (string & {});
    level_text: string;
    issuing_body: string | null;
    promulgated_date: string | null;
    /** Date when this version took effect. Null if unknown */
    effective_date: string | null;
    /** Date when this law took effect: its first text, or the last that replaced it as a whole. Null if unknown */
    law_effective_date: string | null;
    status: "in_force" | "amended" | "repealed" | "not_yet_effective" | "unknown" | (string & {});
    status_text: string;
    /** The evidence for the status: the official list and its day, the repealing act, the newer version, the date, or what the data pack says */
    status_basis: string;
    /** The same evidence in Chinese */
    status_basis_zh: string;
    article_count: number;
    /** False if the law is listed, but the text of this version is not held */
    text_held: boolean;
  }>;
  source: Source;
}

export interface LegalCitationCheckParams {
  /** The text to check, such as a legal opinion or a chatbot's answer; up to 20,000 characters */
  text: string;
  /** The laws in force on this date are used; default: today in China */
  date?: string;
}

export interface LegalCitationCheckRecord {
  id: string;
  /** An article, a law without an article, or a judgment */
  kind: "article" | "law" | "case" | (string & {});
  /** Start in the text, in Unicode code points (Python string index) */
  start: number;
  /** End, exclusive, in Unicode code points */
  end: number;
  /** Start in UTF-16 code units (JavaScript and Java string index) */
  start_utf16: number;
  /** End, exclusive, in UTF-16 code units */
  end_utf16: number;
  /** The citation as written */
  cited: string;
  /** The law as understood */
  law_name: string | null;
  /** The name of the law as written in the text */
  law_as_written: string | null;
  article_no: string | null;
  /** Cited paragraph (款) */
  paragraph: number | null;
  /** Cited item (项) */
  item: number | null;
  /** The version that the citation names, such as 2018修正; null: the version of the date */
  as_of: string | null;
  case_no: string | null;
  /** exists; no_such_article, no_such_paragraph, no_such_item: the law is in the data, without this article, paragraph or item; unknown_law: no law of this name is known; not_held: the law or judgment is not in the data, which says nothing about whether it exists; version_not_held: the text of that version or date is not in the data; unresolved: the law that 该法 or 本法 means cannot be determined */
  verdict:
    | "exists"
    | "no_such_article"
    | "no_such_paragraph"
    | "no_such_item"
    | "unknown_law"
    | "not_held"
    | "version_not_held"
    | "unresolved"
    | (string & {});
  /** What is wrong with the citation; empty if nothing was found */
  problems: Array<
    | "no_such_article"
    | "no_such_paragraph"
    | "no_such_item"
    | "unknown_law"
    | "not_in_force"
    | "quotation_differs"
    | "fits_other_article"
    | (string & {})
  >;
  /** Whether it is in force on the date; null if unknown */
  in_force: boolean | null;
  status: "in_force" | "amended" | "repealed" | "not_yet_effective" | "unknown" | (string & {}) | null;
  status_text: string | null;
  status_basis: string | null;
  status_basis_zh: string | null;
  effective_date: string | null;
  expired_date: string | null;
  /** The law or article that took its place, if known */
  replaced_by: string | null;
  version_date: string | null;
  /** Text of the article on the date */
  content: string | null;
  /** Quotations of the article beside the citation */
  quotations: Array<{
    /** The quoted words */
    text: string;
    start: number;
    end: number;
    start_utf16: number;
    end_utf16: number;
    /** Whether it is in quotation marks in the text */
    marked: boolean;
    /** Whether the words agree with the cited article or paragraph; punctuation, spaces and script are ignored; null if its text is not in the data */
    agrees: boolean | null;
    /** Empty if the words agree */
    differences: Array<{
      /** same: in both; added: only in the quotation; missing: only in the article */
      kind: "same" | "added" | "missing" | (string & {});
      text: string;
    }>;
    /** Date of another version of the article that has these words */
    agrees_with_version: string | null;
    /** Another place that has these words */
    found_in: {
      law_name: string;
      article_no: string | null;
      paragraph: number | null;
    } | null;
  }>;
  /** The nearest real law or article, if the cited one does not exist */
  nearest: {
    law_name: string;
    article_no: string | null;
    content: string | null;
  } | null;
  /** The article of the law in force whose words the sentence around the citation has, if it is clearly not the cited one: the number may be that of an older version */
  fits_article: {
    law_name: string;
    article_no: string | null;
    content: string | null;
  } | null;
  /** The cited judgment, if it is in the data */
  judgment: {
    id: string;
    title: string;
    court_name: string;
    judgment_date: string | null;
  } | null;
  source: Source;
}

export interface LegalCitationCheckSummary {
  /** The date that was used */
  date: string;
  /** Number of citations */
  citations: number;
  /** Citations with a problem */
  with_problems: number;
  /** Citations that could not be checked, because the law or judgment is not in the data; those with a problem are not counted again */
  not_checked: number;
}

export interface EnterpriseCompanyDetailParams {
  /** Unified social credit code, 18 characters */
  tax_id: string;
}

export interface EnterpriseCompanyDetailRecord {
  id: string;
  tax_id: string;
  lei: string | null;
  name: string;
  name_en: string | null;
  former_names: Array<string>;
  status: string;
  status_code:
    | "active"
    | "cancelled"
    | "revoked"
    | "rescinded"
    | "moved_out"
    | "establishing"
    | "liquidating"
    | "suspended"
    | "other"
    | (string & {});
  legal_representative: string | null;
  registered_capital: {
    amount: string | null;
    unit: string | null;
    currency: string | null;
    text: string;
  } | null;
  paid_in_capital: {
    amount: string | null;
    unit: string | null;
    currency: string | null;
    text: string;
  } | null;
  registration_date: string | null;
  approved_date: string | null;
  term_start: string | null;
  /** Null: no end date */
  term_end: string | null;
  company_type: string | null;
  industry: string | null;
  registration_authority: string | null;
  registration_no: string | null;
  organization_code: string | null;
  address: string | null;
  province: string | null;
  city: string | null;
  district: string | null;
  business_scope: string | null;
  cancelled_date: string | null;
  revoked_date: string | null;
  revoked_reason: string | null;
  staff_range: string | null;
  insured_count: number | null;
  taxpayer_type: string | null;
  listed: {
    exchange: string;
    code: string;
  } | null;
  source: Source;
}

export interface EnterpriseAnnualReportParams {
  /** Unified social credit code, 18 characters */
  tax_id: string;
}

export interface EnterpriseAnnualReportRecord {
  id: string;
  tax_id: string;
  name: string;
  report_year: number;
  published_date: string | null;
  status: string | null;
  address: string | null;
  phone: string | null;
  email: string | null;
  employee_count: number | null;
  employee_count_public: boolean;
  insured: {
    pension: number | null;
    unemployment: number | null;
    medical: number | null;
    injury: number | null;
    maternity: number | null;
  } | null;
  financials: {
    total_assets: {
      amount: string | null;
      public: boolean;
    };
    total_liabilities: {
      amount: string | null;
      public: boolean;
    };
    owners_equity: {
      amount: string | null;
      public: boolean;
    };
    revenue: {
      amount: string | null;
      public: boolean;
    };
    main_revenue: {
      amount: string | null;
      public: boolean;
    };
    total_profit: {
      amount: string | null;
      public: boolean;
    };
    net_profit: {
      amount: string | null;
      public: boolean;
    };
    tax_paid: {
      amount: string | null;
      public: boolean;
    };
  };
  shareholders: Array<{
    name: string;
    subscribed: string | null;
    subscribed_date: string | null;
    paid_in: string | null;
    paid_in_date: string | null;
    method: string | null;
  }>;
  investments: Array<{
    name: string;
    tax_id: string | null;
  }>;
  guarantees: Array<{
    creditor: string;
    debtor: string;
    amount: string | null;
    kind: string | null;
  }>;
  websites: Array<{
    name: string | null;
    url: string;
  }>;
  equity_changes: Array<{
    shareholder: string;
    before_percent: string | null;
    after_percent: string | null;
    date: string | null;
  }>;
  has_guarantee: boolean | null;
  years_available: Array<number>;
  source: Source;
}

export interface EnterpriseTaxInvoiceParams {
  /** Invoice code, digital invoice number, or code and number together */
  invoice_code: string;
  /** Invoice number, 8 or 20 digits */
  invoice_number?: string;
  /** Date of issue */
  issue_date?: string;
  /** Amount in yuan: before tax (special, vehicle) or including tax (digital) */
  amount?: string;
  /** Last 6 digits of the check code (ordinary, electronic, roll) */
  check_code?: string;
}

export interface EnterpriseTaxInvoiceRecord {
  id: string;
  invoice_code: string | null;
  invoice_number: string | null;
  result:
    | "match"
    | "mismatch"
    | "not_found"
    | "insufficient_elements"
    | "not_yet_verifiable"
    | "expired"
    | "too_many_checks"
    | (string & {});
  authentic: boolean | null;
  /** Other parameters that this invoice type requires */
  missing: Array<string>;
  /** 01 special, 04 ordinary, 10 electronic, 32 digital ordinary, … */
  invoice_type: string | null;
  invoice_type_text: string | null;
  status: "normal" | "void" | "red" | "red_flushed" | "partly_red_flushed" | (string & {}) | null;
  status_text: string | null;
  issue_date: string | null;
  check_code: string | null;
  machine_no: string | null;
  seller: {
    name: string | null;
    tax_no: string | null;
    address_phone: string | null;
    bank: string | null;
  } | null;
  buyer: {
    name: string | null;
    tax_no: string | null;
    address_phone: string | null;
    bank: string | null;
  } | null;
  amount: string | null;
  tax: string | null;
  total: string | null;
  total_text: string | null;
  items: Array<{
    name: string;
    spec: string | null;
    unit: string | null;
    quantity: string | null;
    unit_price: string | null;
    amount: string | null;
    tax_rate: string | null;
    tax: string | null;
  }>;
  remark: string | null;
  check_count: number | null;
  checked_at: string;
  source: Source;
}

export interface EnterpriseShixinCheckParams {
  /** Full name of the company or person */
  company_name: string;
}

export interface EnterpriseShixinCheckRecord {
  id: string;
  case_no: string;
  name: string;
  subject_type: "company" | "person" | (string & {});
  id_no_masked: string | null;
  legal_representative: string | null;
  court: string;
  province: string | null;
  basis_no: string | null;
  basis_unit: string | null;
  obligation: string | null;
  performance: string;
  performance_code: "none" | "partial" | "full" | "unknown" | (string & {});
  performed_part: string | null;
  unperformed_part: string | null;
  conduct: Array<string>;
  filed_date: string | null;
  published_date: string | null;
  delisted_date: string | null;
  source: Source;
}

export interface EnterpriseShixinCheckSummary {
  listed: boolean;
  record_count: number;
  matched_by: "name" | "tax_id" | (string & {});
  subject_type: "company" | "person" | (string & {});
}

export interface EnterpriseZhixingCheckParams {
  /** Full name of the company or person */
  company_name: string;
}

export interface EnterpriseZhixingCheckRecord {
  id: string;
  case_no: string;
  name: string;
  id_no_masked: string | null;
  court: string;
  filed_date: string | null;
  /** Yuan */
  amount: string | null;
  unperformed_amount: string | null;
  status: "in_progress" | "terminated_this_round" | "concluded" | "resumed" | "removed" | (string & {});
  status_text: string;
  ended_date: string | null;
  source: Source;
}

export interface EnterpriseZhixingCheckSummary {
  record_count: number;
  total_amount: string;
  open_count: number;
}

export interface ContentKeywordIndexParams {
  /** Keyword */
  keyword: string;
  /** Last day of the trend; default: today in China */
  date?: string;
}

export interface ContentKeywordIndexRecord {
  id: string;
  keyword: string;
  date: string;
  engine: string;
  granularity: "day";
  index: number;
  pc: number | null;
  mobile: number | null;
  average_30d: number;
  yoy_percent: number | null;
  mom_percent: number | null;
  trend: Array<{
    date: string;
    index: number;
    pc: number | null;
    mobile: number | null;
  }>;
  related: Array<{
    keyword: string;
    index: number;
  }> | null;
  estimated: boolean;
  disclaimer: string;
  source: Source;
}

export interface ContentWechatIndexParams {
  /** Keyword */
  keyword: string;
  /** Last day of the trend; default: today in China */
  date?: string;
}

export interface ContentWechatIndexRecord {
  id: string;
  keyword: string;
  date: string;
  index: number;
  day_change_percent: number | null;
  channels: {
    search: number;
    official_accounts: number;
    channels_video: number;
    mini_programs: number;
    moments: number;
    other: number;
  } | null;
  trend: Array<{
    date: string;
    index: number;
  }>;
  disclaimer: string;
  source: Source;
}

export interface ContentHotRankParams {
  /** Platform: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, or one with an imported archive */
  platform:
    | "weibo"
    | "douyin"
    | "baidu"
    | "zhihu"
    | "bilibili"
    | "toutiao"
    | "kuaishou"
    | "xiaohongshu"
    | (string & {});
  /** Date of the ranking; default: today in China */
  date?: string;
}

export interface ContentHotRankRecord {
  id: string;
  rank: number;
  title: string;
  heat: number | null;
  heat_text: string | null;
  label: string | null;
  category: string | null;
  url: string | null;
  first_seen_at: string | null;
  peak_rank: number | null;
  is_ad: boolean;
  is_pinned: boolean;
  source: Source;
}

export interface ContentHotRankSummary {
  platform: string;
  date: string;
  captured_at: string | null;
  snapshot_kind: "latest" | "end_of_day" | (string & {});
}

export interface CloudExpressTrackingParams {
  /** Parcel number */
  express_no: string;
  /** Carrier code or name, if the parcel number does not identify it */
  carrier?:
    | "ems"
    | "shunfeng"
    | "jd"
    | "yuantong"
    | "jtexpress"
    | "debangkuaidi"
    | "zhongtong"
    | "shentong"
    | "yunda"
    | "youzhengguonei"
    | (string & {});
  /** Last four digits of the receiver's or sender's phone number */
  phone_tail?: string;
}

export interface CloudExpressTrackingRecord {
  id: string;
  express_no: string;
  carrier_code: string;
  carrier_name: string;
  carrier_candidates: Array<{
    code: string;
    name: string;
  }> | null;
  state:
    | "pending"
    | "collected"
    | "in_transit"
    | "out_for_delivery"
    | "delivered"
    | "exception"
    | "returning"
    | "returned"
    | "refused"
    | "transferred"
    | "customs"
    | "customs_exception"
    | "cancelled"
    | (string & {});
  state_raw: string;
  state_vocabulary: string;
  signed: boolean;
  signed_at: string | null;
  origin: string | null;
  destination: string | null;
  eta: string | null;
  last_event_at: string | null;
  /** Newest first */
  events: Array<{
    time: string;
    state:
      | "pending"
      | "collected"
      | "in_transit"
      | "out_for_delivery"
      | "delivered"
      | "exception"
      | "returning"
      | "returned"
      | "refused"
      | "transferred"
      | "customs"
      | "customs_exception"
      | "cancelled"
      | (string & {})
      | null;
    description: string;
    location: string | null;
    area_code: string | null;
  }>;
  courier: {
    name: string | null;
    phone_masked: string | null;
  } | null;
  source: Source;
}

export interface ResearchPaperSearchParams {
  /** Keywords, an author, or a DOI. May be empty if there is a filter */
  query: string;
  /** Filter: name of an author */
  author?: string;
  /** Filter: year of publication */
  year?: string;
  /** Filter: published on this date or later (2024-03-15, 2024-03 or 2024) */
  date_from?: string;
  /** Filter: published on this date or earlier */
  date_to?: string;
  /** From 1, the default. */
  page?: number;
  /** 1–200, default 20. */
  page_size?: number;
}

export interface ResearchPaperSearchRecord {
  id: string;
  paper_id: string;
  doi: string | null;
  title: string;
  title_en: string | null;
  authors: Array<{
    name: string;
    scholar_id: string | null;
    affiliation: string | null;
    orcid: string | null;
    corresponding: boolean;
  }>;
  abstract: string | null;
  keywords: Array<string>;
  publication_date: string | null;
  year: number | null;
  journal: {
    name: string;
    issn: string | null;
    volume: string | null;
    issue: string | null;
    pages: string | null;
  } | null;
  citation_count: number | null;
  references_count: number | null;
  type: string;
  language: string | null;
  indexed_in: Array<string>;
  open_access: {
    is_oa: boolean;
    url: string | null;
  } | null;
  retracted: boolean;
  highlights: Array<string>;
  score: number | null;
  source: Source;
}

export interface ResearchPatentSearchParams {
  /** Keywords, an application or publication number, or an applicant. May be empty if there is a filter */
  query: string;
  /** Filter: name of an applicant */
  applicant?: string;
  /** Filter: application date on this date or later (2024-03-15, 2024-03 or 2024) */
  date_from?: string;
  /** Filter: application date on this date or earlier */
  date_to?: string;
  /** From 1, the default. */
  page?: number;
  /** 1–200, default 20. */
  page_size?: number;
}

export interface ResearchPatentSearchRecord {
  id: string;
  patent_id: string;
  application_no: string | null;
  publication_no: string | null;
  grant_no: string | null;
  title: string;
  abstract: string | null;
  type: "invention" | "utility_model" | "design" | (string & {});
  applicants: Array<string>;
  inventors: Array<string>;
  agency: string | null;
  ipc: Array<string>;
  cpc: Array<string> | null;
  application_date: string | null;
  publication_date: string | null;
  grant_date: string | null;
  priority: Array<string> | null;
  legal_status:
    | "pending"
    | "granted"
    | "rejected"
    | "withdrawn"
    | "expired"
    | "lapsed"
    | "invalidated"
    | "unknown"
    | (string & {});
  legal_status_text: string;
  first_claim: string | null;
  citation_count: number | null;
  highlights: Array<string>;
  score: number | null;
  source: Source;
}

export interface ResearchJournalSearchParams {
  /** Name, ISSN or CN number */
  query: string;
  /** From 1, the default. */
  page?: number;
  /** 1–200, default 20. */
  page_size?: number;
}

export interface ResearchJournalSearchRecord {
  id: string;
  journal_id: string;
  name: string;
  name_en: string | null;
  issn: string | null;
  eissn: string | null;
  cn_no: string | null;
  sponsor: string | null;
  publisher: string | null;
  frequency: string | null;
  founded_year: number | null;
  language: string | null;
  subjects: Array<string>;
  impact_factor: {
    value: number;
    year: number;
    kind: string;
  } | null;
  indexed_in: Array<string>;
  is_oa: boolean | null;
  homepage: string | null;
  works_count: number | null;
  citation_count: number | null;
  highlights: Array<string>;
  score: number | null;
  source: Source;
}

export interface ResearchScholarSearchParams {
  /** Name of the researcher */
  name: string;
  /** From 1, the default. */
  page?: number;
  /** 1–200, default 20. */
  page_size?: number;
}

export interface ResearchScholarSearchRecord {
  id: string;
  scholar_id: string;
  name: string;
  name_en: string | null;
  affiliations: Array<{
    name: string;
    current: boolean;
  }>;
  titles: Array<string>;
  research_areas: Array<string>;
  works_count: number;
  citation_count: number | null;
  h_index: number | null;
  orcid: string | null;
  publications: Array<{
    paper_id: string;
    title: string;
    year: number | null;
    venue: string | null;
    citation_count: number | null;
  }>;
  publications_total: number;
  coauthors: Array<string> | null;
  homepage: string | null;
  highlights: Array<string>;
  score: number | null;
  source: Source;
}
