# Written by scripts/generate.ts; change the contract, or the script, and run it again.
from __future__ import annotations

from typing import Any, ClassVar, Dict, List, Literal, Optional, Type, TypedDict, Union

from ._envelope import Source
from ._result import Result

OperationName = Literal[
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
]


class LegalCasesRecordJudges(TypedDict):
    name: str
    role: str


class LegalCasesRecordParties(TypedDict):
    name: str
    role: str
    type: Union[Literal["company", "person"], str]


class LegalCasesRecordLegalBasis(TypedDict):
    law_name: str
    article_no: Optional[str]


class LegalCasesRecordSections(TypedDict):
    facts: Optional[str]
    claims: Optional[str]
    reasoning: Optional[str]
    ruling: Optional[str]


class LegalCasesRecord(TypedDict):
    id: str
    case_id: str
    case_no: Optional[str]
    title: str
    court_name: str
    court_level: Optional[Union[Literal["supreme", "high", "intermediate", "basic", "special"], str]]
    province: Optional[str]
    city: Optional[str]
    case_type: Union[Literal["civil", "criminal", "administrative", "compensation", "enforcement", "other"], str]
    case_type_text: str
    document_type: Optional[str]
    trial_procedure: Optional[str]
    cause_of_action: Optional[str]
    judgment_date: Optional[str]
    published_date: Optional[str]
    judges: List[LegalCasesRecordJudges]
    parties: List[LegalCasesRecordParties]
    legal_basis: List[LegalCasesRecordLegalBasis]
    result: Optional[str]
    summary: Optional[str]
    full_text: str
    sections: Optional[LegalCasesRecordSections]
    highlights: List[str]
    score: Optional[float]
    source: Source


class LegalLawsRecordRevisions(TypedDict):
    version_date: str
    effective_date: Optional[str]
    content: Optional[str]
    """Null if this version does not contain the article, or its text is not available."""
    change: Union[Literal["original", "added", "amended", "repealed", "renumbered", "unchanged", "unknown"], str]
    """How this version changed the article; unknown for the oldest version available."""
    former_article_no: Optional[str]
    """Article number in the previous version, if it was different."""
    by: Optional[str]


class LegalLawsRecordLawHistory(TypedDict):
    date: str
    text: str


class LegalLawsRecord(TypedDict):
    id: str
    law_id: str
    law_name: str
    article_no: str
    """Such as 第五百七十七条."""
    article_no_arabic: Optional[int]
    article_sub: Optional[str]
    """Such as 之一."""
    chapter: Optional[str]
    section: Optional[str]
    content: str
    level: Union[Literal["constitution", "law", "administrative_regulation", "judicial_interpretation", "local", "departmental_rule", "other"], str]
    level_text: str
    issuing_body: Optional[str]
    promulgated_date: Optional[str]
    version_date: Optional[str]
    """Date when this version of the law was passed or amended."""
    as_of: Optional[str]
    """The year in the query, if any; the text is the one valid then. Null for the current text."""
    law_effective_date: Optional[str]
    """Date when this law took effect: its first text, or the last that replaced it as a whole. Null if unknown."""
    wording_since: Optional[str]
    """Date since which these words are in force: the article's last change, or else the law's last complete text. Null if an amendment that is not in the data may have changed them."""
    effective_date: Optional[str]
    """The same as wording_since, under its older name."""
    expired_date: Optional[str]
    """Date since which this text no longer applies."""
    status: Union[Literal["in_force", "amended", "repealed", "not_yet_effective", "unknown"], str]
    status_text: str
    status_basis: str
    """The evidence for the status: the official list and its day, the repealing act, the newer version, the date, or what the data pack says."""
    status_basis_zh: str
    """The same evidence in Chinese."""
    revisions: List[LegalLawsRecordRevisions]
    """Oldest first, from the imported versions and amendments."""
    revisions_basis: Union[Literal["compared_versions", "law_pack"], str]
    """Whether versions were compared, or only the dates of the law pack are known."""
    law_history: List[LegalLawsRecordLawHistory]
    """How the law was passed and amended, from the law pack, oldest first; empty if unknown."""
    highlights: List[str]
    score: Optional[float]
    source: Source


class LegalLawCatalogRecordLaws(TypedDict):
    law_id: str
    law_name: str
    level: Union[Literal["constitution", "law", "administrative_regulation", "judicial_interpretation", "local", "departmental_rule", "other"], str]
    level_text: str
    issuing_body: Optional[str]
    promulgated_date: Optional[str]
    effective_date: Optional[str]
    """Date when this version took effect. Null if unknown."""
    law_effective_date: Optional[str]
    """Date when this law took effect: its first text, or the last that replaced it as a whole. Null if unknown."""
    status: Union[Literal["in_force", "amended", "repealed", "not_yet_effective", "unknown"], str]
    status_text: str
    status_basis: str
    """The evidence for the status: the official list and its day, the repealing act, the newer version, the date, or what the data pack says."""
    status_basis_zh: str
    """The same evidence in Chinese."""
    article_count: int
    text_held: bool
    """False if the law is listed, but the text of this version is not held."""


class LegalLawCatalogRecord(TypedDict):
    id: str
    domain_code: str
    domain_name: str
    """Such as 民法商法."""
    count: int
    laws: List[LegalLawCatalogRecordLaws]
    source: Source


class LegalCitationCheckRecordQuotationsDifferences(TypedDict):
    kind: Union[Literal["same", "added", "missing"], str]
    """same: in both; added: only in the quotation; missing: only in the article."""
    text: str


class LegalCitationCheckRecordQuotationsFoundIn(TypedDict):
    law_name: str
    article_no: Optional[str]
    paragraph: Optional[int]


class LegalCitationCheckRecordQuotations(TypedDict):
    text: str
    """The quoted words."""
    start: int
    end: int
    start_utf16: int
    end_utf16: int
    marked: bool
    """Whether it is in quotation marks in the text."""
    agrees: Optional[bool]
    """Whether the words agree with the cited article or paragraph; punctuation, spaces and script are ignored; null if its text is not in the data."""
    differences: List[LegalCitationCheckRecordQuotationsDifferences]
    """Empty if the words agree."""
    agrees_with_version: Optional[str]
    """Date of another version of the article that has these words."""
    found_in: Optional[LegalCitationCheckRecordQuotationsFoundIn]
    """Another place that has these words."""


class LegalCitationCheckRecordNearest(TypedDict):
    law_name: str
    article_no: Optional[str]
    content: Optional[str]


class LegalCitationCheckRecordFitsArticle(TypedDict):
    law_name: str
    article_no: Optional[str]
    content: Optional[str]


class LegalCitationCheckRecordJudgment(TypedDict):
    id: str
    title: str
    court_name: str
    judgment_date: Optional[str]


class LegalCitationCheckRecord(TypedDict):
    id: str
    kind: Union[Literal["article", "law", "case"], str]
    """An article, a law without an article, or a judgment."""
    start: int
    """Start in the text, in Unicode code points (Python string index)."""
    end: int
    """End, exclusive, in Unicode code points."""
    start_utf16: int
    """Start in UTF-16 code units (JavaScript and Java string index)."""
    end_utf16: int
    """End, exclusive, in UTF-16 code units."""
    cited: str
    """The citation as written."""
    law_name: Optional[str]
    """The law as understood."""
    law_as_written: Optional[str]
    """The name of the law as written in the text."""
    article_no: Optional[str]
    paragraph: Optional[int]
    """Cited paragraph (款)."""
    item: Optional[int]
    """Cited item (项)."""
    as_of: Optional[str]
    """The version that the citation names, such as 2018修正; null: the version of the date."""
    case_no: Optional[str]
    verdict: Union[Literal["exists", "no_such_article", "no_such_paragraph", "no_such_item", "unknown_law", "not_held", "version_not_held", "unresolved"], str]
    """exists; no_such_article, no_such_paragraph, no_such_item: the law is in the data, without this article, paragraph or item; unknown_law: no law of this name is known; not_held: the law or judgment is not in the data, which says nothing about whether it exists; version_not_held: the text of that version or date is not in the data; unresolved: the law that 该法 or 本法 means cannot be determined."""
    problems: List[Union[Literal["no_such_article", "no_such_paragraph", "no_such_item", "unknown_law", "not_in_force", "quotation_differs", "fits_other_article"], str]]
    """What is wrong with the citation; empty if nothing was found."""
    in_force: Optional[bool]
    """Whether it is in force on the date; null if unknown."""
    status: Optional[Union[Literal["in_force", "amended", "repealed", "not_yet_effective", "unknown"], str]]
    status_text: Optional[str]
    status_basis: Optional[str]
    status_basis_zh: Optional[str]
    effective_date: Optional[str]
    expired_date: Optional[str]
    replaced_by: Optional[str]
    """The law or article that took its place, if known."""
    version_date: Optional[str]
    content: Optional[str]
    """Text of the article on the date."""
    quotations: List[LegalCitationCheckRecordQuotations]
    """Quotations of the article beside the citation."""
    nearest: Optional[LegalCitationCheckRecordNearest]
    """The nearest real law or article, if the cited one does not exist."""
    fits_article: Optional[LegalCitationCheckRecordFitsArticle]
    """The article of the law in force whose words the sentence around the citation has, if it is clearly not the cited one: the number may be that of an older version."""
    judgment: Optional[LegalCitationCheckRecordJudgment]
    """The cited judgment, if it is in the data."""
    source: Source


class LegalCitationCheckSummary(TypedDict):
    date: str
    """The date that was used."""
    citations: int
    """Number of citations."""
    with_problems: int
    """Citations with a problem."""
    not_checked: int
    """Citations that could not be checked, because the law or judgment is not in the data; those with a problem are not counted again."""


class EnterpriseCompanyDetailRecordRegisteredCapital(TypedDict):
    amount: Optional[str]
    unit: Optional[str]
    currency: Optional[str]
    text: str


class EnterpriseCompanyDetailRecordPaidInCapital(TypedDict):
    amount: Optional[str]
    unit: Optional[str]
    currency: Optional[str]
    text: str


class EnterpriseCompanyDetailRecordListed(TypedDict):
    exchange: str
    code: str


class EnterpriseCompanyDetailRecord(TypedDict):
    id: str
    tax_id: str
    lei: Optional[str]
    name: str
    name_en: Optional[str]
    former_names: List[str]
    status: str
    status_code: Union[Literal["active", "cancelled", "revoked", "rescinded", "moved_out", "establishing", "liquidating", "suspended", "other"], str]
    legal_representative: Optional[str]
    registered_capital: Optional[EnterpriseCompanyDetailRecordRegisteredCapital]
    paid_in_capital: Optional[EnterpriseCompanyDetailRecordPaidInCapital]
    registration_date: Optional[str]
    approved_date: Optional[str]
    term_start: Optional[str]
    term_end: Optional[str]
    """Null: no end date."""
    company_type: Optional[str]
    industry: Optional[str]
    registration_authority: Optional[str]
    registration_no: Optional[str]
    organization_code: Optional[str]
    address: Optional[str]
    province: Optional[str]
    city: Optional[str]
    district: Optional[str]
    business_scope: Optional[str]
    cancelled_date: Optional[str]
    revoked_date: Optional[str]
    revoked_reason: Optional[str]
    staff_range: Optional[str]
    insured_count: Optional[int]
    taxpayer_type: Optional[str]
    listed: Optional[EnterpriseCompanyDetailRecordListed]
    source: Source


class EnterpriseAnnualReportRecordInsured(TypedDict):
    pension: Optional[int]
    unemployment: Optional[int]
    medical: Optional[int]
    injury: Optional[int]
    maternity: Optional[int]


class EnterpriseAnnualReportRecordFinancialsTotalAssets(TypedDict):
    amount: Optional[str]
    public: bool


class EnterpriseAnnualReportRecordFinancialsTotalLiabilities(TypedDict):
    amount: Optional[str]
    public: bool


class EnterpriseAnnualReportRecordFinancialsOwnersEquity(TypedDict):
    amount: Optional[str]
    public: bool


class EnterpriseAnnualReportRecordFinancialsRevenue(TypedDict):
    amount: Optional[str]
    public: bool


class EnterpriseAnnualReportRecordFinancialsMainRevenue(TypedDict):
    amount: Optional[str]
    public: bool


class EnterpriseAnnualReportRecordFinancialsTotalProfit(TypedDict):
    amount: Optional[str]
    public: bool


class EnterpriseAnnualReportRecordFinancialsNetProfit(TypedDict):
    amount: Optional[str]
    public: bool


class EnterpriseAnnualReportRecordFinancialsTaxPaid(TypedDict):
    amount: Optional[str]
    public: bool


class EnterpriseAnnualReportRecordFinancials(TypedDict):
    total_assets: EnterpriseAnnualReportRecordFinancialsTotalAssets
    total_liabilities: EnterpriseAnnualReportRecordFinancialsTotalLiabilities
    owners_equity: EnterpriseAnnualReportRecordFinancialsOwnersEquity
    revenue: EnterpriseAnnualReportRecordFinancialsRevenue
    main_revenue: EnterpriseAnnualReportRecordFinancialsMainRevenue
    total_profit: EnterpriseAnnualReportRecordFinancialsTotalProfit
    net_profit: EnterpriseAnnualReportRecordFinancialsNetProfit
    tax_paid: EnterpriseAnnualReportRecordFinancialsTaxPaid


class EnterpriseAnnualReportRecordShareholders(TypedDict):
    name: str
    subscribed: Optional[str]
    subscribed_date: Optional[str]
    paid_in: Optional[str]
    paid_in_date: Optional[str]
    method: Optional[str]


class EnterpriseAnnualReportRecordInvestments(TypedDict):
    name: str
    tax_id: Optional[str]


class EnterpriseAnnualReportRecordGuarantees(TypedDict):
    creditor: str
    debtor: str
    amount: Optional[str]
    kind: Optional[str]


class EnterpriseAnnualReportRecordWebsites(TypedDict):
    name: Optional[str]
    url: str


class EnterpriseAnnualReportRecordEquityChanges(TypedDict):
    shareholder: str
    before_percent: Optional[str]
    after_percent: Optional[str]
    date: Optional[str]


class EnterpriseAnnualReportRecord(TypedDict):
    id: str
    tax_id: str
    name: str
    report_year: int
    published_date: Optional[str]
    status: Optional[str]
    address: Optional[str]
    phone: Optional[str]
    email: Optional[str]
    employee_count: Optional[int]
    employee_count_public: bool
    insured: Optional[EnterpriseAnnualReportRecordInsured]
    financials: EnterpriseAnnualReportRecordFinancials
    shareholders: List[EnterpriseAnnualReportRecordShareholders]
    investments: List[EnterpriseAnnualReportRecordInvestments]
    guarantees: List[EnterpriseAnnualReportRecordGuarantees]
    websites: List[EnterpriseAnnualReportRecordWebsites]
    equity_changes: List[EnterpriseAnnualReportRecordEquityChanges]
    has_guarantee: Optional[bool]
    years_available: List[int]
    source: Source


class EnterpriseTaxInvoiceRecordSeller(TypedDict):
    name: Optional[str]
    tax_no: Optional[str]
    address_phone: Optional[str]
    bank: Optional[str]


class EnterpriseTaxInvoiceRecordBuyer(TypedDict):
    name: Optional[str]
    tax_no: Optional[str]
    address_phone: Optional[str]
    bank: Optional[str]


class EnterpriseTaxInvoiceRecordItems(TypedDict):
    name: str
    spec: Optional[str]
    unit: Optional[str]
    quantity: Optional[str]
    unit_price: Optional[str]
    amount: Optional[str]
    tax_rate: Optional[str]
    tax: Optional[str]


class EnterpriseTaxInvoiceRecord(TypedDict):
    id: str
    invoice_code: Optional[str]
    invoice_number: Optional[str]
    result: Union[Literal["match", "mismatch", "not_found", "insufficient_elements", "not_yet_verifiable", "expired", "too_many_checks"], str]
    authentic: Optional[bool]
    missing: List[str]
    """Other parameters that this invoice type requires."""
    invoice_type: Optional[str]
    """01 special, 04 ordinary, 10 electronic, 32 digital ordinary, …."""
    invoice_type_text: Optional[str]
    status: Optional[Union[Literal["normal", "void", "red", "red_flushed", "partly_red_flushed"], str]]
    status_text: Optional[str]
    issue_date: Optional[str]
    check_code: Optional[str]
    machine_no: Optional[str]
    seller: Optional[EnterpriseTaxInvoiceRecordSeller]
    buyer: Optional[EnterpriseTaxInvoiceRecordBuyer]
    amount: Optional[str]
    tax: Optional[str]
    total: Optional[str]
    total_text: Optional[str]
    items: List[EnterpriseTaxInvoiceRecordItems]
    remark: Optional[str]
    check_count: Optional[int]
    checked_at: str
    source: Source


class EnterpriseShixinCheckRecord(TypedDict):
    id: str
    case_no: str
    name: str
    subject_type: Union[Literal["company", "person"], str]
    id_no_masked: Optional[str]
    legal_representative: Optional[str]
    court: str
    province: Optional[str]
    basis_no: Optional[str]
    basis_unit: Optional[str]
    obligation: Optional[str]
    performance: str
    performance_code: Union[Literal["none", "partial", "full", "unknown"], str]
    performed_part: Optional[str]
    unperformed_part: Optional[str]
    conduct: List[str]
    filed_date: Optional[str]
    published_date: Optional[str]
    delisted_date: Optional[str]
    source: Source


class EnterpriseShixinCheckSummary(TypedDict):
    listed: bool
    record_count: int
    matched_by: Union[Literal["name", "tax_id"], str]
    subject_type: Union[Literal["company", "person"], str]


class EnterpriseZhixingCheckRecord(TypedDict):
    id: str
    case_no: str
    name: str
    id_no_masked: Optional[str]
    court: str
    filed_date: Optional[str]
    amount: Optional[str]
    """Yuan."""
    unperformed_amount: Optional[str]
    status: Union[Literal["in_progress", "terminated_this_round", "concluded", "resumed", "removed"], str]
    status_text: str
    ended_date: Optional[str]
    source: Source


class EnterpriseZhixingCheckSummary(TypedDict):
    record_count: int
    total_amount: str
    open_count: int


class ContentKeywordIndexRecordTrend(TypedDict):
    date: str
    index: float
    pc: Optional[float]
    mobile: Optional[float]


class ContentKeywordIndexRecordRelated(TypedDict):
    keyword: str
    index: float


class ContentKeywordIndexRecord(TypedDict):
    id: str
    keyword: str
    date: str
    engine: str
    granularity: Literal["day"]
    index: float
    pc: Optional[float]
    mobile: Optional[float]
    average_30d: float
    yoy_percent: Optional[float]
    mom_percent: Optional[float]
    trend: List[ContentKeywordIndexRecordTrend]
    related: Optional[List[ContentKeywordIndexRecordRelated]]
    estimated: bool
    disclaimer: str
    source: Source


class ContentWechatIndexRecordChannels(TypedDict):
    search: float
    official_accounts: float
    channels_video: float
    mini_programs: float
    moments: float
    other: float


class ContentWechatIndexRecordTrend(TypedDict):
    date: str
    index: float


class ContentWechatIndexRecord(TypedDict):
    id: str
    keyword: str
    date: str
    index: float
    day_change_percent: Optional[float]
    channels: Optional[ContentWechatIndexRecordChannels]
    trend: List[ContentWechatIndexRecordTrend]
    disclaimer: str
    source: Source


class ContentHotRankRecord(TypedDict):
    id: str
    rank: int
    title: str
    heat: Optional[float]
    heat_text: Optional[str]
    label: Optional[str]
    category: Optional[str]
    url: Optional[str]
    first_seen_at: Optional[str]
    peak_rank: Optional[int]
    is_ad: bool
    is_pinned: bool
    source: Source


class ContentHotRankSummary(TypedDict):
    platform: str
    date: str
    captured_at: Optional[str]
    snapshot_kind: Union[Literal["latest", "end_of_day"], str]


class CloudExpressTrackingRecordCarrierCandidates(TypedDict):
    code: str
    name: str


class CloudExpressTrackingRecordEvents(TypedDict):
    time: str
    state: Optional[Union[Literal["pending", "collected", "in_transit", "out_for_delivery", "delivered", "exception", "returning", "returned", "refused", "transferred", "customs", "customs_exception", "cancelled"], str]]
    description: str
    location: Optional[str]
    area_code: Optional[str]


class CloudExpressTrackingRecordCourier(TypedDict):
    name: Optional[str]
    phone_masked: Optional[str]


class CloudExpressTrackingRecord(TypedDict):
    id: str
    express_no: str
    carrier_code: str
    carrier_name: str
    carrier_candidates: Optional[List[CloudExpressTrackingRecordCarrierCandidates]]
    state: Union[Literal["pending", "collected", "in_transit", "out_for_delivery", "delivered", "exception", "returning", "returned", "refused", "transferred", "customs", "customs_exception", "cancelled"], str]
    state_raw: str
    state_vocabulary: str
    signed: bool
    signed_at: Optional[str]
    origin: Optional[str]
    destination: Optional[str]
    eta: Optional[str]
    last_event_at: Optional[str]
    events: List[CloudExpressTrackingRecordEvents]
    """Newest first."""
    courier: Optional[CloudExpressTrackingRecordCourier]
    source: Source


class ResearchPaperSearchRecordAuthors(TypedDict):
    name: str
    scholar_id: Optional[str]
    affiliation: Optional[str]
    orcid: Optional[str]
    corresponding: bool


class ResearchPaperSearchRecordJournal(TypedDict):
    name: str
    issn: Optional[str]
    volume: Optional[str]
    issue: Optional[str]
    pages: Optional[str]


class ResearchPaperSearchRecordOpenAccess(TypedDict):
    is_oa: bool
    url: Optional[str]


class ResearchPaperSearchRecord(TypedDict):
    id: str
    paper_id: str
    doi: Optional[str]
    title: str
    title_en: Optional[str]
    authors: List[ResearchPaperSearchRecordAuthors]
    abstract: Optional[str]
    keywords: List[str]
    publication_date: Optional[str]
    year: Optional[int]
    journal: Optional[ResearchPaperSearchRecordJournal]
    citation_count: Optional[int]
    references_count: Optional[int]
    type: str
    language: Optional[str]
    indexed_in: List[str]
    open_access: Optional[ResearchPaperSearchRecordOpenAccess]
    retracted: bool
    highlights: List[str]
    score: Optional[float]
    source: Source


class ResearchPatentSearchRecord(TypedDict):
    id: str
    patent_id: str
    application_no: Optional[str]
    publication_no: Optional[str]
    grant_no: Optional[str]
    title: str
    abstract: Optional[str]
    type: Union[Literal["invention", "utility_model", "design"], str]
    applicants: List[str]
    inventors: List[str]
    agency: Optional[str]
    ipc: List[str]
    cpc: Optional[List[str]]
    application_date: Optional[str]
    publication_date: Optional[str]
    grant_date: Optional[str]
    priority: Optional[List[str]]
    legal_status: Union[Literal["pending", "granted", "rejected", "withdrawn", "expired", "lapsed", "invalidated", "unknown"], str]
    legal_status_text: str
    first_claim: Optional[str]
    citation_count: Optional[int]
    highlights: List[str]
    score: Optional[float]
    source: Source


class ResearchJournalSearchRecordImpactFactor(TypedDict):
    value: float
    year: int
    kind: str


class ResearchJournalSearchRecord(TypedDict):
    id: str
    journal_id: str
    name: str
    name_en: Optional[str]
    issn: Optional[str]
    eissn: Optional[str]
    cn_no: Optional[str]
    sponsor: Optional[str]
    publisher: Optional[str]
    frequency: Optional[str]
    founded_year: Optional[int]
    language: Optional[str]
    subjects: List[str]
    impact_factor: Optional[ResearchJournalSearchRecordImpactFactor]
    indexed_in: List[str]
    is_oa: Optional[bool]
    homepage: Optional[str]
    works_count: Optional[int]
    citation_count: Optional[int]
    highlights: List[str]
    score: Optional[float]
    source: Source


class ResearchScholarSearchRecordAffiliations(TypedDict):
    name: str
    current: bool


class ResearchScholarSearchRecordPublications(TypedDict):
    paper_id: str
    title: str
    year: Optional[int]
    venue: Optional[str]
    citation_count: Optional[int]


class ResearchScholarSearchRecord(TypedDict):
    id: str
    scholar_id: str
    name: str
    name_en: Optional[str]
    affiliations: List[ResearchScholarSearchRecordAffiliations]
    titles: List[str]
    research_areas: List[str]
    works_count: int
    citation_count: Optional[int]
    h_index: Optional[int]
    orcid: Optional[str]
    publications: List[ResearchScholarSearchRecordPublications]
    publications_total: int
    coauthors: Optional[List[str]]
    homepage: Optional[str]
    highlights: List[str]
    score: Optional[float]
    source: Source



class LegalCasesResult(Result[List[LegalCasesRecord]]):
    """Judgments by keywords, court, judge or legal basis. query supports the fields court:, judge:, basis:, type:, cause: and date:2024..2025, quotes, OR and minus; the other parameters are the same filters as values."""

    operation_name: ClassVar[str] = "legal_cases"


class LegalLawsResult(Result[List[LegalLawsRecord]]):
    """Articles of laws with their revision history, by law name and article number (Chinese or Arabic numerals) or by keywords. A year selects an older version."""

    operation_name: ClassVar[str] = "legal_laws"


class LegalLawCatalogResult(Result[List[LegalLawCatalogRecord]]):
    """Catalogue of laws and regulations by legal domain."""

    operation_name: ClassVar[str] = "legal_law_catalog"


class LegalCitationCheckResult(Result[List[LegalCitationCheckRecord]]):
    """Checks every citation in a text: whether the law and the article exist and are in force on a date, whether the quoted words agree with the article, and whether a cited judgment is in the data. No language model is involved."""

    operation_name: ClassVar[str] = "legal_citation_check"
    summary: LegalCitationCheckSummary


class EnterpriseCompanyDetailResult(Result[EnterpriseCompanyDetailRecord]):
    """Registration details of a company by unified social credit code."""

    operation_name: ClassVar[str] = "enterprise_company_detail"
    id: str
    tax_id: str
    lei: Optional[str]
    name: str
    name_en: Optional[str]
    former_names: List[str]
    status: str
    status_code: Union[Literal["active", "cancelled", "revoked", "rescinded", "moved_out", "establishing", "liquidating", "suspended", "other"], str]
    legal_representative: Optional[str]
    registered_capital: Optional[EnterpriseCompanyDetailRecordRegisteredCapital]
    paid_in_capital: Optional[EnterpriseCompanyDetailRecordPaidInCapital]
    registration_date: Optional[str]
    approved_date: Optional[str]
    term_start: Optional[str]
    term_end: Optional[str]
    """Null: no end date."""
    company_type: Optional[str]
    industry: Optional[str]
    registration_authority: Optional[str]
    registration_no: Optional[str]
    organization_code: Optional[str]
    address: Optional[str]
    province: Optional[str]
    city: Optional[str]
    district: Optional[str]
    business_scope: Optional[str]
    cancelled_date: Optional[str]
    revoked_date: Optional[str]
    revoked_reason: Optional[str]
    staff_range: Optional[str]
    insured_count: Optional[int]
    taxpayer_type: Optional[str]
    listed: Optional[EnterpriseCompanyDetailRecordListed]
    source: Source


class EnterpriseAnnualReportResult(Result[EnterpriseAnnualReportRecord]):
    """Latest annual report of a company, with public financial figures and employee count."""

    operation_name: ClassVar[str] = "enterprise_annual_report"
    id: str
    tax_id: str
    name: str
    report_year: int
    published_date: Optional[str]
    status: Optional[str]
    address: Optional[str]
    phone: Optional[str]
    email: Optional[str]
    employee_count: Optional[int]
    employee_count_public: bool
    insured: Optional[EnterpriseAnnualReportRecordInsured]
    financials: EnterpriseAnnualReportRecordFinancials
    shareholders: List[EnterpriseAnnualReportRecordShareholders]
    investments: List[EnterpriseAnnualReportRecordInvestments]
    guarantees: List[EnterpriseAnnualReportRecordGuarantees]
    websites: List[EnterpriseAnnualReportRecordWebsites]
    equity_changes: List[EnterpriseAnnualReportRecordEquityChanges]
    has_guarantee: Optional[bool]
    years_available: List[int]
    source: Source


class EnterpriseTaxInvoiceResult(Result[EnterpriseTaxInvoiceRecord]):
    """Authenticity check of a tax invoice by code and number. Invoices from today or older than 5 years cannot be checked."""

    operation_name: ClassVar[str] = "enterprise_tax_invoice"
    id: str
    invoice_code: Optional[str]
    invoice_number: Optional[str]
    result: Union[Literal["match", "mismatch", "not_found", "insufficient_elements", "not_yet_verifiable", "expired", "too_many_checks"], str]
    authentic: Optional[bool]
    missing: List[str]
    """Other parameters that this invoice type requires."""
    invoice_type: Optional[str]
    """01 special, 04 ordinary, 10 electronic, 32 digital ordinary, …."""
    invoice_type_text: Optional[str]
    status: Optional[Union[Literal["normal", "void", "red", "red_flushed", "partly_red_flushed"], str]]
    status_text: Optional[str]
    issue_date: Optional[str]
    check_code: Optional[str]
    machine_no: Optional[str]
    seller: Optional[EnterpriseTaxInvoiceRecordSeller]
    buyer: Optional[EnterpriseTaxInvoiceRecordBuyer]
    amount: Optional[str]
    tax: Optional[str]
    total_text: Optional[str]
    items: List[EnterpriseTaxInvoiceRecordItems]
    remark: Optional[str]
    check_count: Optional[int]
    checked_at: str
    source: Source


class EnterpriseShixinCheckResult(Result[List[EnterpriseShixinCheckRecord]]):
    """Whether a company or person is on the courts' list of dishonest debtors. An empty list means that none was found."""

    operation_name: ClassVar[str] = "enterprise_shixin_check"
    summary: EnterpriseShixinCheckSummary


class EnterpriseZhixingCheckResult(Result[List[EnterpriseZhixingCheckRecord]]):
    """Enforcement cases against a company or person, with status and amount."""

    operation_name: ClassVar[str] = "enterprise_zhixing_check"
    summary: EnterpriseZhixingCheckSummary


class ContentKeywordIndexResult(Result[ContentKeywordIndexRecord]):
    """Search volume trend of a keyword over the 30 days up to a date."""

    operation_name: ClassVar[str] = "content_keyword_index"
    id: str
    keyword: str
    date: str
    engine: str
    granularity: Literal["day"]
    pc: Optional[float]
    mobile: Optional[float]
    average_30d: float
    yoy_percent: Optional[float]
    mom_percent: Optional[float]
    trend: List[ContentKeywordIndexRecordTrend]
    related: Optional[List[ContentKeywordIndexRecordRelated]]
    estimated: bool
    disclaimer: str
    source: Source


class ContentWechatIndexResult(Result[ContentWechatIndexRecord]):
    """Popularity of a keyword on a messaging platform over the 30 days up to a date."""

    operation_name: ClassVar[str] = "content_wechat_index"
    id: str
    keyword: str
    date: str
    day_change_percent: Optional[float]
    channels: Optional[ContentWechatIndexRecordChannels]
    trend: List[ContentWechatIndexRecordTrend]
    disclaimer: str
    source: Source


class ContentHotRankResult(Result[List[ContentHotRankRecord]]):
    """Trending topics of a platform on a day: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, and every platform with an imported archive."""

    operation_name: ClassVar[str] = "content_hot_rank"
    summary: ContentHotRankSummary


class CloudExpressTrackingResult(Result[CloudExpressTrackingRecord]):
    """Where a parcel is, for the major carriers. SF Express and ZTO require the last four digits of the phone number."""

    operation_name: ClassVar[str] = "cloud_express_tracking"
    id: str
    express_no: str
    carrier_code: str
    carrier_name: str
    carrier_candidates: Optional[List[CloudExpressTrackingRecordCarrierCandidates]]
    state: Union[Literal["pending", "collected", "in_transit", "out_for_delivery", "delivered", "exception", "returning", "returned", "refused", "transferred", "customs", "customs_exception", "cancelled"], str]
    state_raw: str
    state_vocabulary: str
    signed: bool
    signed_at: Optional[str]
    origin: Optional[str]
    destination: Optional[str]
    eta: Optional[str]
    last_event_at: Optional[str]
    events: List[CloudExpressTrackingRecordEvents]
    """Newest first."""
    courier: Optional[CloudExpressTrackingRecordCourier]
    source: Source


class ResearchPaperSearchResult(Result[List[ResearchPaperSearchRecord]]):
    """Papers by words in the title, abstract or keywords, by author or by DOI."""

    operation_name: ClassVar[str] = "research_paper_search"


class ResearchPatentSearchResult(Result[List[ResearchPatentSearchRecord]]):
    """Patents by keywords, number or applicant."""

    operation_name: ClassVar[str] = "research_patent_search"


class ResearchJournalSearchResult(Result[List[ResearchJournalSearchRecord]]):
    """Journals by name, ISSN or CN number."""

    operation_name: ClassVar[str] = "research_journal_search"


class ResearchScholarSearchResult(Result[List[ResearchScholarSearchRecord]]):
    """Researchers by name, with their publications."""

    operation_name: ClassVar[str] = "research_scholar_search"



result_types: Dict[str, Type[Result[Any]]] = {
    "legal_cases": LegalCasesResult,
    "legal_laws": LegalLawsResult,
    "legal_law_catalog": LegalLawCatalogResult,
    "legal_citation_check": LegalCitationCheckResult,
    "enterprise_company_detail": EnterpriseCompanyDetailResult,
    "enterprise_annual_report": EnterpriseAnnualReportResult,
    "enterprise_tax_invoice": EnterpriseTaxInvoiceResult,
    "enterprise_shixin_check": EnterpriseShixinCheckResult,
    "enterprise_zhixing_check": EnterpriseZhixingCheckResult,
    "content_keyword_index": ContentKeywordIndexResult,
    "content_wechat_index": ContentWechatIndexResult,
    "content_hot_rank": ContentHotRankResult,
    "cloud_express_tracking": CloudExpressTrackingResult,
    "research_paper_search": ResearchPaperSearchResult,
    "research_patent_search": ResearchPatentSearchResult,
    "research_journal_search": ResearchJournalSearchResult,
    "research_scholar_search": ResearchScholarSearchResult,
}
