"""Calls each operation of the examples on stdin on a running service, with both clients; prints the answers as JSON.

The address and the key come from the environment, as for every program.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, Dict

from dataq_client import AsyncDataQuery, AuthenticationError, BadRequestError, DataQuery, NotFoundError


def code_of(call: Any, kind: Any) -> Any:
    try:
        call()
    except kind as error:
        return [error.code, error.status, (error.request_id or "")[:4]]
    return None


async def main() -> None:
    examples: Dict[str, Dict[str, Any]] = json.load(sys.stdin)
    answers: Dict[str, Any] = {}
    async with AsyncDataQuery() as other:
        with DataQuery() as client:
            for name, params in examples.items():
                result = getattr(client, name)(**params)
                again = await getattr(other, name)(**params)
                answers[name] = {
                    "bodies": [result.body, again.body],
                    "rows": len(result.to_pandas()),
                    "status": result.response.status,
                    "id": result.response.request_id == result.request_id,
                }
            walk: Dict[str, Any] = {"query": "学报", "page_size": 7}
            ids = [record["id"] for record in client.paginate("research_journal_search", **walk).items()]
            same = [
                record["id"] async for record in other.paginate("research_journal_search", **walk).items()
            ]
            before = client.balance()["balance"]
            price = client.estimate("content_keyword_index", keyword="白露")["tokens"]
            paid = client.content_keyword_index("白露").usage["tokens"]
            print(
                json.dumps(
                    {
                        "answers": answers,
                        "ids": ids,
                        "same": ids == same,
                        "price": price,
                        "paid": paid,
                        "spent": before - client.balance()["balance"],
                        "groups": client.usage(group_by=["operation"])["data"],
                        "wrong_key": code_of(DataQuery("dq_live_wrong").balance, AuthenticationError),
                        "wrong_parameter": code_of(
                            lambda: client.enterprise_company_detail("91330100716105852A"), BadRequestError
                        ),
                        "missing": code_of(
                            lambda: client.enterprise_company_detail("91420000757013137P"), NotFoundError
                        ),
                    }
                )
            )


asyncio.run(main())
