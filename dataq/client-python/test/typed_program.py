"""A program for type checkers. They must find no error, and no unused `type: ignore`."""

from __future__ import annotations

from typing import List, Optional

from dataq_client import (
    AsyncDataQuery,
    ConnectionError,
    DataQuery,
    DevnorsDataError,
    InsufficientBalanceError,
)
from dataq_client.records import LegalCasesRecord


def synchronous(client: DataQuery) -> None:
    result = client.legal_laws("民法典 第五百七十七条", page_size=5, timeout=3, fields=["content"])
    article = result.data[0]
    content: str = article["content"]
    chapter: Optional[str] = article["chapter"]
    kind: str = article["source"]["kind"]
    tokens: int = result.usage["tokens"]
    company = client.enterprise_company_detail(tax_id="91330106MA0000007Q")
    name: str = company.name
    same: str = company.data["name"]
    persons: int = client.enterprise_shixin_check("某公司").summary["record_count"]
    columns: List[str] = list(result.to_pandas().columns)
    print(content, chapter, kind, tokens, name, same, persons, columns)
    pages = client.paginate("legal_cases", query="商标侵权", page_size=50, max_pages=3)
    for page in pages:
        title: str = page.data[0]["title"]
        total: int = page.total_pages
        print(title, total)
    records: List[LegalCasesRecord] = pages.to_list(limit=10)
    again = client.paginate("legal_cases", query="商标侵权", page_size=50, resume=pages.state())
    for record in again.items():
        court: str = record["court_name"]
        print(court, len(records))
    left: int = client.balance()["balance"]
    calls: int = client.usage(group_by=["day", "operation"])["data"][0]["calls"]
    price: int = client.estimate("legal_laws", query="x")["tokens"]
    print(left, calls, price)
    try:
        client.content_hot_rank("weibo", max_tokens=5_000)
    except InsufficientBalanceError as error:
        short: Optional[float] = error.shortfall
        print(short, error.request_id, error.retry_after)
    except (ConnectionError, DevnorsDataError) as error:
        print(error.code, error.attempts)


async def asynchronous(client: AsyncDataQuery) -> None:
    result = await client.research_paper_search("大语言模型", page=2)
    title: str = result.data[0]["title"]
    async for page in client.paginate("research_paper_search", query="大语言模型", max_items=30):
        print(page.data[0]["authors"], page.response.request_id)
    async for paper in client.paginate("research_paper_search", query="大语言模型").items():
        print(paper["title"], title)
    async with AsyncDataQuery(max_retries=5, retry_delay=0.5, retry_backoff=3) as other:
        print((await other.balance())["held"])


def wrong(client: DataQuery) -> None:
    client.legal_lawz("x")  # type: ignore
    client.legal_laws()  # type: ignore
    client.legal_laws(1)  # type: ignore
    client.legal_laws("x", page="2")  # type: ignore
    client.legal_laws("x", nothing="y")  # type: ignore
    client.legal_laws("x", cache="never")  # type: ignore
    client.legal_law_catalog(query="x")  # type: ignore
    client.query("legal_lawz")  # type: ignore
    client.paginate("legal_lawz", query="x")  # type: ignore
    client.paginate("legal_laws", query="x", budget=1)  # type: ignore
    client.paginate("legal_laws", query="x", idempotency_key="y")  # type: ignore
    client.legal_laws("x").data[0]["contents"]  # type: ignore
    client.legal_laws("x").name  # type: ignore
    client.enterprise_company_detail("x").nmae  # type: ignore
    client.paginate("legal_laws", query="x").to_list()  # type: ignore
    DataQuery(max_retries="3")  # type: ignore
