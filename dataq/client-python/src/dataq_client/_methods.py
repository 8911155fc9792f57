# Written by scripts/generate.ts; change the contract, or the script, and run it again.
from __future__ import annotations

from typing import Any, Dict, Literal, Mapping, Optional, Type, Union, overload

from .records import (
    LegalCasesRecord,
    LegalCasesResult,
    LegalLawsRecord,
    LegalLawsResult,
    LegalLawCatalogRecord,
    LegalLawCatalogResult,
    LegalCitationCheckRecord,
    LegalCitationCheckResult,
    EnterpriseCompanyDetailRecord,
    EnterpriseCompanyDetailResult,
    EnterpriseAnnualReportRecord,
    EnterpriseAnnualReportResult,
    EnterpriseTaxInvoiceRecord,
    EnterpriseTaxInvoiceResult,
    EnterpriseShixinCheckRecord,
    EnterpriseShixinCheckResult,
    EnterpriseZhixingCheckRecord,
    EnterpriseZhixingCheckResult,
    ContentKeywordIndexRecord,
    ContentKeywordIndexResult,
    ContentWechatIndexRecord,
    ContentWechatIndexResult,
    ContentHotRankRecord,
    ContentHotRankResult,
    CloudExpressTrackingRecord,
    CloudExpressTrackingResult,
    ResearchPaperSearchRecord,
    ResearchPaperSearchResult,
    ResearchPatentSearchRecord,
    ResearchPatentSearchResult,
    ResearchJournalSearchRecord,
    ResearchJournalSearchResult,
    ResearchScholarSearchRecord,
    ResearchScholarSearchResult,
)
from ._options import PageOptions, QueryOptions
from ._pages import AsyncPages, Pages
from ._result import AnyResult
from ._unpack import Unpack

class Operations:
    """Every operation as a method."""

    def _query(
        self, kind: Type[AnyResult], params: Mapping[str, object], options: Mapping[str, Any]
    ) -> AnyResult:
        raise NotImplementedError

    def legal_cases(
        self,
        query: str,
        *,
        court: Optional[str] = None,
        judge: Optional[str] = None,
        case_type: Optional[str] = None,
        cause: Optional[str] = None,
        law: Optional[str] = None,
        article: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> LegalCasesResult:
        """Judgments by keywords, court, judge or legal basis. query supports the fields court:, judge:, basis:, type:, cause: and date:2024..2025, quotes, OR and minus; the other parameters are the same filters as values.

        query: Keywords, fields, a case number, or a law and article. May be empty if there is a filter
        court: Filter: court, such as 上海市浦东新区人民法院
        judge: Filter: name of a judge
        case_type: Filter: kind of case, document or procedure, such as civil, 刑事, 判决书, 一审
        cause: Filter: cause of action or charge, such as 民间借贷纠纷, 盗窃罪
        law: Filter: law that the judgment cites, such as 民法典
        article: Filter: article of that law, such as 577
        date_from: Filter: judgments of this date or later (2024-03-15, 2024-03 or 2024)
        date_to: Filter: judgments of this date or earlier
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"query": query, "court": court, "judge": judge, "case_type": case_type, "cause": cause, "law": law, "article": article, "date_from": date_from, "date_to": date_to, "page": page, "page_size": page_size}
        return self._query(LegalCasesResult, params, options)

    def legal_laws(
        self,
        query: str,
        *,
        law: Optional[str] = None,
        article: Optional[str] = None,
        year: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> LegalLawsResult:
        """Articles of laws with their revision history, by law name and article number (Chinese or Arabic numerals) or by keywords. A year selects an older version.

        query: Law and article (民法典 第五百七十七条, 民法典577), with a year for an older version (公司法（2018修正） 第二十条), or keywords. May be empty if there is a filter
        law: Filter: name of the law, such as 民法典
        article: Filter: article number, such as 577 or 第五百七十七条
        year: Filter: the version of this year. The law is named by law or query
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"query": query, "law": law, "article": article, "year": year, "page": page, "page_size": page_size}
        return self._query(LegalLawsResult, params, options)

    def legal_law_catalog(
        self,
        **options: Unpack[QueryOptions],
    ) -> LegalLawCatalogResult:
        """Catalogue of laws and regulations by legal domain."""
        params: Dict[str, object] = {}
        return self._query(LegalLawCatalogResult, params, options)

    def legal_citation_check(
        self,
        text: str,
        *,
        date: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> LegalCitationCheckResult:
        """Checks every citation in a text: whether the law and the article exist and are in force on a date, whether the quoted words agree with the article, and whether a cited judgment is in the data. No language model is involved.

        text: The text to check, such as a legal opinion or a chatbot's answer; up to 20,000 characters
        date: The laws in force on this date are used; default: today in China
        """
        params: Dict[str, object] = {"text": text, "date": date}
        return self._query(LegalCitationCheckResult, params, options)

    def enterprise_company_detail(
        self,
        tax_id: str,
        **options: Unpack[QueryOptions],
    ) -> EnterpriseCompanyDetailResult:
        """Registration details of a company by unified social credit code.

        tax_id: Unified social credit code, 18 characters
        """
        params: Dict[str, object] = {"tax_id": tax_id}
        return self._query(EnterpriseCompanyDetailResult, params, options)

    def enterprise_annual_report(
        self,
        tax_id: str,
        **options: Unpack[QueryOptions],
    ) -> EnterpriseAnnualReportResult:
        """Latest annual report of a company, with public financial figures and employee count.

        tax_id: Unified social credit code, 18 characters
        """
        params: Dict[str, object] = {"tax_id": tax_id}
        return self._query(EnterpriseAnnualReportResult, params, options)

    def enterprise_tax_invoice(
        self,
        invoice_code: str,
        *,
        invoice_number: Optional[str] = None,
        issue_date: Optional[str] = None,
        amount: Optional[str] = None,
        check_code: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> EnterpriseTaxInvoiceResult:
        """Authenticity check of a tax invoice by code and number. Invoices from today or older than 5 years cannot be checked.

        invoice_code: Invoice code, digital invoice number, or code and number together
        invoice_number: Invoice number, 8 or 20 digits
        issue_date: Date of issue
        amount: Amount in yuan: before tax (special, vehicle) or including tax (digital)
        check_code: Last 6 digits of the check code (ordinary, electronic, roll)
        """
        params: Dict[str, object] = {"invoice_code": invoice_code, "invoice_number": invoice_number, "issue_date": issue_date, "amount": amount, "check_code": check_code}
        return self._query(EnterpriseTaxInvoiceResult, params, options)

    def enterprise_shixin_check(
        self,
        company_name: str,
        **options: Unpack[QueryOptions],
    ) -> EnterpriseShixinCheckResult:
        """Whether a company or person is on the courts' list of dishonest debtors. An empty list means that none was found.

        company_name: Full name of the company or person
        """
        params: Dict[str, object] = {"company_name": company_name}
        return self._query(EnterpriseShixinCheckResult, params, options)

    def enterprise_zhixing_check(
        self,
        company_name: str,
        **options: Unpack[QueryOptions],
    ) -> EnterpriseZhixingCheckResult:
        """Enforcement cases against a company or person, with status and amount.

        company_name: Full name of the company or person
        """
        params: Dict[str, object] = {"company_name": company_name}
        return self._query(EnterpriseZhixingCheckResult, params, options)

    def content_keyword_index(
        self,
        keyword: str,
        *,
        date: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> ContentKeywordIndexResult:
        """Search volume trend of a keyword over the 30 days up to a date.

        keyword: Keyword
        date: Last day of the trend; default: today in China
        """
        params: Dict[str, object] = {"keyword": keyword, "date": date}
        return self._query(ContentKeywordIndexResult, params, options)

    def content_wechat_index(
        self,
        keyword: str,
        *,
        date: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> ContentWechatIndexResult:
        """Popularity of a keyword on a messaging platform over the 30 days up to a date.

        keyword: Keyword
        date: Last day of the trend; default: today in China
        """
        params: Dict[str, object] = {"keyword": keyword, "date": date}
        return self._query(ContentWechatIndexResult, params, options)

    def content_hot_rank(
        self,
        platform: Union[Literal["weibo", "douyin", "baidu", "zhihu", "bilibili", "toutiao", "kuaishou", "xiaohongshu"], str],
        *,
        date: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> ContentHotRankResult:
        """Trending topics of a platform on a day: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, and every platform with an imported archive.

        platform: Platform: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, or one with an imported archive
        date: Date of the ranking; default: today in China
        """
        params: Dict[str, object] = {"platform": platform, "date": date}
        return self._query(ContentHotRankResult, params, options)

    def cloud_express_tracking(
        self,
        express_no: str,
        *,
        carrier: Optional[Union[Literal["ems", "shunfeng", "jd", "yuantong", "jtexpress", "debangkuaidi", "zhongtong", "shentong", "yunda", "youzhengguonei"], str]] = None,
        phone_tail: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> CloudExpressTrackingResult:
        """Where a parcel is, for the major carriers. SF Express and ZTO require the last four digits of the phone number.

        express_no: Parcel number
        carrier: Carrier code or name, if the parcel number does not identify it
        phone_tail: Last four digits of the receiver's or sender's phone number
        """
        params: Dict[str, object] = {"express_no": express_no, "carrier": carrier, "phone_tail": phone_tail}
        return self._query(CloudExpressTrackingResult, params, options)

    def research_paper_search(
        self,
        query: str,
        *,
        author: Optional[str] = None,
        year: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> ResearchPaperSearchResult:
        """Papers by words in the title, abstract or keywords, by author or by DOI.

        query: Keywords, an author, or a DOI. May be empty if there is a filter
        author: Filter: name of an author
        year: Filter: year of publication
        date_from: Filter: published on this date or later (2024-03-15, 2024-03 or 2024)
        date_to: Filter: published on this date or earlier
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"query": query, "author": author, "year": year, "date_from": date_from, "date_to": date_to, "page": page, "page_size": page_size}
        return self._query(ResearchPaperSearchResult, params, options)

    def research_patent_search(
        self,
        query: str,
        *,
        applicant: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> ResearchPatentSearchResult:
        """Patents by keywords, number or applicant.

        query: Keywords, an application or publication number, or an applicant. May be empty if there is a filter
        applicant: Filter: name of an applicant
        date_from: Filter: application date on this date or later (2024-03-15, 2024-03 or 2024)
        date_to: Filter: application date on this date or earlier
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"query": query, "applicant": applicant, "date_from": date_from, "date_to": date_to, "page": page, "page_size": page_size}
        return self._query(ResearchPatentSearchResult, params, options)

    def research_journal_search(
        self,
        query: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> ResearchJournalSearchResult:
        """Journals by name, ISSN or CN number.

        query: Name, ISSN or CN number
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"query": query, "page": page, "page_size": page_size}
        return self._query(ResearchJournalSearchResult, params, options)

    def research_scholar_search(
        self,
        name: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> ResearchScholarSearchResult:
        """Researchers by name, with their publications.

        name: Name of the researcher
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"name": name, "page": page, "page_size": page_size}
        return self._query(ResearchScholarSearchResult, params, options)

    @overload
    def paginate(
        self,
        operation: Literal["legal_cases"],
        /,
        *,
        query: str,
        court: Optional[str] = None,
        judge: Optional[str] = None,
        case_type: Optional[str] = None,
        cause: Optional[str] = None,
        law: Optional[str] = None,
        article: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[LegalCasesResult, LegalCasesRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["legal_laws"],
        /,
        *,
        query: str,
        law: Optional[str] = None,
        article: Optional[str] = None,
        year: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[LegalLawsResult, LegalLawsRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["legal_law_catalog"],
        /,
        **options: Unpack[PageOptions],
    ) -> Pages[LegalLawCatalogResult, LegalLawCatalogRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["legal_citation_check"],
        /,
        *,
        text: str,
        date: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[LegalCitationCheckResult, LegalCitationCheckRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["enterprise_company_detail"],
        /,
        *,
        tax_id: str,
        **options: Unpack[PageOptions],
    ) -> Pages[EnterpriseCompanyDetailResult, EnterpriseCompanyDetailRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["enterprise_annual_report"],
        /,
        *,
        tax_id: str,
        **options: Unpack[PageOptions],
    ) -> Pages[EnterpriseAnnualReportResult, EnterpriseAnnualReportRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["enterprise_tax_invoice"],
        /,
        *,
        invoice_code: str,
        invoice_number: Optional[str] = None,
        issue_date: Optional[str] = None,
        amount: Optional[str] = None,
        check_code: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[EnterpriseTaxInvoiceResult, EnterpriseTaxInvoiceRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["enterprise_shixin_check"],
        /,
        *,
        company_name: str,
        **options: Unpack[PageOptions],
    ) -> Pages[EnterpriseShixinCheckResult, EnterpriseShixinCheckRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["enterprise_zhixing_check"],
        /,
        *,
        company_name: str,
        **options: Unpack[PageOptions],
    ) -> Pages[EnterpriseZhixingCheckResult, EnterpriseZhixingCheckRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["content_keyword_index"],
        /,
        *,
        keyword: str,
        date: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[ContentKeywordIndexResult, ContentKeywordIndexRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["content_wechat_index"],
        /,
        *,
        keyword: str,
        date: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[ContentWechatIndexResult, ContentWechatIndexRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["content_hot_rank"],
        /,
        *,
        platform: Union[Literal["weibo", "douyin", "baidu", "zhihu", "bilibili", "toutiao", "kuaishou", "xiaohongshu"], str],
        date: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[ContentHotRankResult, ContentHotRankRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["cloud_express_tracking"],
        /,
        *,
        express_no: str,
        carrier: Optional[Union[Literal["ems", "shunfeng", "jd", "yuantong", "jtexpress", "debangkuaidi", "zhongtong", "shentong", "yunda", "youzhengguonei"], str]] = None,
        phone_tail: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[CloudExpressTrackingResult, CloudExpressTrackingRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["research_paper_search"],
        /,
        *,
        query: str,
        author: Optional[str] = None,
        year: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[ResearchPaperSearchResult, ResearchPaperSearchRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["research_patent_search"],
        /,
        *,
        query: str,
        applicant: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[ResearchPatentSearchResult, ResearchPatentSearchRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["research_journal_search"],
        /,
        *,
        query: str,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[ResearchJournalSearchResult, ResearchJournalSearchRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["research_scholar_search"],
        /,
        *,
        name: str,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> Pages[ResearchScholarSearchResult, ResearchScholarSearchRecord]: ...

    def paginate(self, operation: str, /, **given: Any) -> Pages[Any, Any]:
        """The pages of a search. Each page is requested when you reach it."""
        return self._paginate(operation, given)

    def _paginate(self, operation: str, given: Mapping[str, Any]) -> Pages[Any, Any]:
        raise NotImplementedError



class AsyncOperations:
    """Every operation as a method."""

    async def _query(
        self, kind: Type[AnyResult], params: Mapping[str, object], options: Mapping[str, Any]
    ) -> AnyResult:
        raise NotImplementedError

    async def legal_cases(
        self,
        query: str,
        *,
        court: Optional[str] = None,
        judge: Optional[str] = None,
        case_type: Optional[str] = None,
        cause: Optional[str] = None,
        law: Optional[str] = None,
        article: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> LegalCasesResult:
        """Judgments by keywords, court, judge or legal basis. query supports the fields court:, judge:, basis:, type:, cause: and date:2024..2025, quotes, OR and minus; the other parameters are the same filters as values.

        query: Keywords, fields, a case number, or a law and article. May be empty if there is a filter
        court: Filter: court, such as 上海市浦东新区人民法院
        judge: Filter: name of a judge
        case_type: Filter: kind of case, document or procedure, such as civil, 刑事, 判决书, 一审
        cause: Filter: cause of action or charge, such as 民间借贷纠纷, 盗窃罪
        law: Filter: law that the judgment cites, such as 民法典
        article: Filter: article of that law, such as 577
        date_from: Filter: judgments of this date or later (2024-03-15, 2024-03 or 2024)
        date_to: Filter: judgments of this date or earlier
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"query": query, "court": court, "judge": judge, "case_type": case_type, "cause": cause, "law": law, "article": article, "date_from": date_from, "date_to": date_to, "page": page, "page_size": page_size}
        return await self._query(LegalCasesResult, params, options)

    async def legal_laws(
        self,
        query: str,
        *,
        law: Optional[str] = None,
        article: Optional[str] = None,
        year: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> LegalLawsResult:
        """Articles of laws with their revision history, by law name and article number (Chinese or Arabic numerals) or by keywords. A year selects an older version.

        query: Law and article (民法典 第五百七十七条, 民法典577), with a year for an older version (公司法（2018修正） 第二十条), or keywords. May be empty if there is a filter
        law: Filter: name of the law, such as 民法典
        article: Filter: article number, such as 577 or 第五百七十七条
        year: Filter: the version of this year. The law is named by law or query
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"query": query, "law": law, "article": article, "year": year, "page": page, "page_size": page_size}
        return await self._query(LegalLawsResult, params, options)

    async def legal_law_catalog(
        self,
        **options: Unpack[QueryOptions],
    ) -> LegalLawCatalogResult:
        """Catalogue of laws and regulations by legal domain."""
        params: Dict[str, object] = {}
        return await self._query(LegalLawCatalogResult, params, options)

    async def legal_citation_check(
        self,
        text: str,
        *,
        date: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> LegalCitationCheckResult:
        """Checks every citation in a text: whether the law and the article exist and are in force on a date, whether the quoted words agree with the article, and whether a cited judgment is in the data. No language model is involved.

        text: The text to check, such as a legal opinion or a chatbot's answer; up to 20,000 characters
        date: The laws in force on this date are used; default: today in China
        """
        params: Dict[str, object] = {"text": text, "date": date}
        return await self._query(LegalCitationCheckResult, params, options)

    async def enterprise_company_detail(
        self,
        tax_id: str,
        **options: Unpack[QueryOptions],
    ) -> EnterpriseCompanyDetailResult:
        """Registration details of a company by unified social credit code.

        tax_id: Unified social credit code, 18 characters
        """
        params: Dict[str, object] = {"tax_id": tax_id}
        return await self._query(EnterpriseCompanyDetailResult, params, options)

    async def enterprise_annual_report(
        self,
        tax_id: str,
        **options: Unpack[QueryOptions],
    ) -> EnterpriseAnnualReportResult:
        """Latest annual report of a company, with public financial figures and employee count.

        tax_id: Unified social credit code, 18 characters
        """
        params: Dict[str, object] = {"tax_id": tax_id}
        return await self._query(EnterpriseAnnualReportResult, params, options)

    async def enterprise_tax_invoice(
        self,
        invoice_code: str,
        *,
        invoice_number: Optional[str] = None,
        issue_date: Optional[str] = None,
        amount: Optional[str] = None,
        check_code: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> EnterpriseTaxInvoiceResult:
        """Authenticity check of a tax invoice by code and number. Invoices from today or older than 5 years cannot be checked.

        invoice_code: Invoice code, digital invoice number, or code and number together
        invoice_number: Invoice number, 8 or 20 digits
        issue_date: Date of issue
        amount: Amount in yuan: before tax (special, vehicle) or including tax (digital)
        check_code: Last 6 digits of the check code (ordinary, electronic, roll)
        """
        params: Dict[str, object] = {"invoice_code": invoice_code, "invoice_number": invoice_number, "issue_date": issue_date, "amount": amount, "check_code": check_code}
        return await self._query(EnterpriseTaxInvoiceResult, params, options)

    async def enterprise_shixin_check(
        self,
        company_name: str,
        **options: Unpack[QueryOptions],
    ) -> EnterpriseShixinCheckResult:
        """Whether a company or person is on the courts' list of dishonest debtors. An empty list means that none was found.

        company_name: Full name of the company or person
        """
        params: Dict[str, object] = {"company_name": company_name}
        return await self._query(EnterpriseShixinCheckResult, params, options)

    async def enterprise_zhixing_check(
        self,
        company_name: str,
        **options: Unpack[QueryOptions],
    ) -> EnterpriseZhixingCheckResult:
        """Enforcement cases against a company or person, with status and amount.

        company_name: Full name of the company or person
        """
        params: Dict[str, object] = {"company_name": company_name}
        return await self._query(EnterpriseZhixingCheckResult, params, options)

    async def content_keyword_index(
        self,
        keyword: str,
        *,
        date: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> ContentKeywordIndexResult:
        """Search volume trend of a keyword over the 30 days up to a date.

        keyword: Keyword
        date: Last day of the trend; default: today in China
        """
        params: Dict[str, object] = {"keyword": keyword, "date": date}
        return await self._query(ContentKeywordIndexResult, params, options)

    async def content_wechat_index(
        self,
        keyword: str,
        *,
        date: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> ContentWechatIndexResult:
        """Popularity of a keyword on a messaging platform over the 30 days up to a date.

        keyword: Keyword
        date: Last day of the trend; default: today in China
        """
        params: Dict[str, object] = {"keyword": keyword, "date": date}
        return await self._query(ContentWechatIndexResult, params, options)

    async def content_hot_rank(
        self,
        platform: Union[Literal["weibo", "douyin", "baidu", "zhihu", "bilibili", "toutiao", "kuaishou", "xiaohongshu"], str],
        *,
        date: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> ContentHotRankResult:
        """Trending topics of a platform on a day: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, and every platform with an imported archive.

        platform: Platform: weibo, douyin, baidu, zhihu, bilibili, toutiao, kuaishou, xiaohongshu, or one with an imported archive
        date: Date of the ranking; default: today in China
        """
        params: Dict[str, object] = {"platform": platform, "date": date}
        return await self._query(ContentHotRankResult, params, options)

    async def cloud_express_tracking(
        self,
        express_no: str,
        *,
        carrier: Optional[Union[Literal["ems", "shunfeng", "jd", "yuantong", "jtexpress", "debangkuaidi", "zhongtong", "shentong", "yunda", "youzhengguonei"], str]] = None,
        phone_tail: Optional[str] = None,
        **options: Unpack[QueryOptions],
    ) -> CloudExpressTrackingResult:
        """Where a parcel is, for the major carriers. SF Express and ZTO require the last four digits of the phone number.

        express_no: Parcel number
        carrier: Carrier code or name, if the parcel number does not identify it
        phone_tail: Last four digits of the receiver's or sender's phone number
        """
        params: Dict[str, object] = {"express_no": express_no, "carrier": carrier, "phone_tail": phone_tail}
        return await self._query(CloudExpressTrackingResult, params, options)

    async def research_paper_search(
        self,
        query: str,
        *,
        author: Optional[str] = None,
        year: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> ResearchPaperSearchResult:
        """Papers by words in the title, abstract or keywords, by author or by DOI.

        query: Keywords, an author, or a DOI. May be empty if there is a filter
        author: Filter: name of an author
        year: Filter: year of publication
        date_from: Filter: published on this date or later (2024-03-15, 2024-03 or 2024)
        date_to: Filter: published on this date or earlier
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"query": query, "author": author, "year": year, "date_from": date_from, "date_to": date_to, "page": page, "page_size": page_size}
        return await self._query(ResearchPaperSearchResult, params, options)

    async def research_patent_search(
        self,
        query: str,
        *,
        applicant: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> ResearchPatentSearchResult:
        """Patents by keywords, number or applicant.

        query: Keywords, an application or publication number, or an applicant. May be empty if there is a filter
        applicant: Filter: name of an applicant
        date_from: Filter: application date on this date or later (2024-03-15, 2024-03 or 2024)
        date_to: Filter: application date on this date or earlier
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"query": query, "applicant": applicant, "date_from": date_from, "date_to": date_to, "page": page, "page_size": page_size}
        return await self._query(ResearchPatentSearchResult, params, options)

    async def research_journal_search(
        self,
        query: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> ResearchJournalSearchResult:
        """Journals by name, ISSN or CN number.

        query: Name, ISSN or CN number
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"query": query, "page": page, "page_size": page_size}
        return await self._query(ResearchJournalSearchResult, params, options)

    async def research_scholar_search(
        self,
        name: str,
        *,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[QueryOptions],
    ) -> ResearchScholarSearchResult:
        """Researchers by name, with their publications.

        name: Name of the researcher
        page: From 1, the default.
        page_size: 1–200, default 20.
        """
        params: Dict[str, object] = {"name": name, "page": page, "page_size": page_size}
        return await self._query(ResearchScholarSearchResult, params, options)

    @overload
    def paginate(
        self,
        operation: Literal["legal_cases"],
        /,
        *,
        query: str,
        court: Optional[str] = None,
        judge: Optional[str] = None,
        case_type: Optional[str] = None,
        cause: Optional[str] = None,
        law: Optional[str] = None,
        article: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[LegalCasesResult, LegalCasesRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["legal_laws"],
        /,
        *,
        query: str,
        law: Optional[str] = None,
        article: Optional[str] = None,
        year: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[LegalLawsResult, LegalLawsRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["legal_law_catalog"],
        /,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[LegalLawCatalogResult, LegalLawCatalogRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["legal_citation_check"],
        /,
        *,
        text: str,
        date: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[LegalCitationCheckResult, LegalCitationCheckRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["enterprise_company_detail"],
        /,
        *,
        tax_id: str,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[EnterpriseCompanyDetailResult, EnterpriseCompanyDetailRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["enterprise_annual_report"],
        /,
        *,
        tax_id: str,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[EnterpriseAnnualReportResult, EnterpriseAnnualReportRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["enterprise_tax_invoice"],
        /,
        *,
        invoice_code: str,
        invoice_number: Optional[str] = None,
        issue_date: Optional[str] = None,
        amount: Optional[str] = None,
        check_code: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[EnterpriseTaxInvoiceResult, EnterpriseTaxInvoiceRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["enterprise_shixin_check"],
        /,
        *,
        company_name: str,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[EnterpriseShixinCheckResult, EnterpriseShixinCheckRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["enterprise_zhixing_check"],
        /,
        *,
        company_name: str,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[EnterpriseZhixingCheckResult, EnterpriseZhixingCheckRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["content_keyword_index"],
        /,
        *,
        keyword: str,
        date: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[ContentKeywordIndexResult, ContentKeywordIndexRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["content_wechat_index"],
        /,
        *,
        keyword: str,
        date: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[ContentWechatIndexResult, ContentWechatIndexRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["content_hot_rank"],
        /,
        *,
        platform: Union[Literal["weibo", "douyin", "baidu", "zhihu", "bilibili", "toutiao", "kuaishou", "xiaohongshu"], str],
        date: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[ContentHotRankResult, ContentHotRankRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["cloud_express_tracking"],
        /,
        *,
        express_no: str,
        carrier: Optional[Union[Literal["ems", "shunfeng", "jd", "yuantong", "jtexpress", "debangkuaidi", "zhongtong", "shentong", "yunda", "youzhengguonei"], str]] = None,
        phone_tail: Optional[str] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[CloudExpressTrackingResult, CloudExpressTrackingRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["research_paper_search"],
        /,
        *,
        query: str,
        author: Optional[str] = None,
        year: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[ResearchPaperSearchResult, ResearchPaperSearchRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["research_patent_search"],
        /,
        *,
        query: str,
        applicant: Optional[str] = None,
        date_from: Optional[str] = None,
        date_to: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[ResearchPatentSearchResult, ResearchPatentSearchRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["research_journal_search"],
        /,
        *,
        query: str,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[ResearchJournalSearchResult, ResearchJournalSearchRecord]: ...

    @overload
    def paginate(
        self,
        operation: Literal["research_scholar_search"],
        /,
        *,
        name: str,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **options: Unpack[PageOptions],
    ) -> AsyncPages[ResearchScholarSearchResult, ResearchScholarSearchRecord]: ...

    def paginate(self, operation: str, /, **given: Any) -> AsyncPages[Any, Any]:
        """The pages of a search. Each page is requested when you reach it."""
        return self._paginate(operation, given)

    def _paginate(self, operation: str, given: Mapping[str, Any]) -> AsyncPages[Any, Any]:
        raise NotImplementedError
