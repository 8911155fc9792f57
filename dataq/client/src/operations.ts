// Written by scripts/generate.ts; change the contract, or the script, and run it again.

export const operationNames = ["legal_laws", "legal_law_catalog"] as const;

/** Each operation's parameters, its `data`, and the summary beside it. */
export interface Operations {
  /** Text of law articles by law name and article number (Chinese or Arabic numerals) or by words, with revision history. */
  legal_laws: { params: LegalLawsParams; data: LegalLawsRecord[]; summary: undefined };
  /** Catalogue of laws and regulations by legal domain. */
  legal_law_catalog: { params: LegalLawCatalogParams; data: LegalLawCatalogRecord[]; summary: undefined };
}

export type OperationName = keyof Operations;

/** What every answer has beside its data. */
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
}

/** What a call cost, in tokens, and what is left. */
export interface Usage {
  tokens: number;
  list_tokens: number;
  cached: boolean;
  billed: boolean;
  /** cache_hit, no_result, insufficient_elements, sandbox, replayed */
  reason: string | null;
  balance: number;
  trial_balance: number;
}

/** State of the index that an answer was read from. */
export interface IndexState {
  snapshot: string;
  refreshed_at: string;
  next_refresh_at: string | null;
  size: number;
}

/** Where a record comes from. Generated records are `sample` and never say anything else. */
export interface Source {
  /** Publisher of the record */
  name: string;
  kind: "official" | "licensed" | "third_party" | "sample" | (string & {});
  url?: string;
  document_id?: string;
  published_at?: string;
  /** RFC 3339, +08:00 */
  retrieved_at: string;
  licence?: string;
  /** SHA-256 of the record's other fields as canonical JSON */
  content_sha256: string;
}

export interface LegalLawsParams {
  /** Law and article (民法典 第五百七十七条, 民法典577) or words to find */
  query: string;
  /** From 1, the default. */
  page?: number;
  /** 1–200, default 20. */
  page_size?: number;
}

export interface LegalLawsRecord {
  id: string;
  law_id: string;
  law_name: string;
  /** 第五百七十七条 */
  article_no: string;
  article_no_arabic: number | null;
  /** 之一 */
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
  effective_date: string | null;
  expired_date: string | null;
  status: "in_force" | "amended" | "repealed" | "not_yet_effective" | (string & {});
  status_text: string;
  /** Oldest first; only what the imported versions show */
  revisions: Array<{
    version_date: string;
    effective_date: string | null;
    content: string | null;
    change: "original" | "added" | "amended" | "repealed" | "unchanged" | (string & {});
    by: string | null;
  }>;
  /** Whether versions were compared, or only the pack's own dates are known */
  revisions_basis: "compared_versions" | "law_pack" | (string & {});
  highlights: Array<string>;
  score: number | null;
  source: Source;
}

export type LegalLawCatalogParams = Record<string, never>;

export interface LegalLawCatalogRecord {
  id: string;
  domain_code: string;
  /** 民法商法 */
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
    effective_date: string | null;
    status: "in_force" | "amended" | "repealed" | "not_yet_effective" | (string & {});
    status_text: string;
    article_count: number;
  }>;
  source: Source;
}
