"""What a JSON Schema cannot describe, for schemathesis: check digits, past dates, filters that belong together."""

from datetime import date, timedelta

import schemathesis
from hypothesis import strategies as st

SYMBOLS = "0123456789ABCDEFGHJKLMNPQRTUWXY"


def with_check(first17):
    total = sum(SYMBOLS.index(symbol) * pow(3, place, 31) for place, symbol in enumerate(first17))
    return first17 + SYMBOLS[(31 - total % 31) % 31]


schemathesis.openapi.format("credit-code", st.text(SYMBOLS, min_size=17, max_size=17).map(with_check))
# The day before yesterday at the latest: the service counts days in China, wherever this runs.
schemathesis.openapi.format(
    "date", st.dates(date(2011, 1, 1), date.today() - timedelta(days=2)).map(date.isoformat)
)
# None of these is an EMS number, which has a check digit.
schemathesis.openapi.format("parcel-number", st.text("0123456789YT", min_size=6, max_size=32))


FILTERS = "court judge case_type cause law article date_from date_to author year applicant".split()


def without_nul(value):
    """JSON with a NUL character is refused as a whole. The items of `queries` have no schema that forbids it."""
    if isinstance(value, dict):
        return {without_nul(key): without_nul(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_nul(each) for each in value]
    return value.replace("\0", "") if isinstance(value, str) else value


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Makes filters agree: dates in order, an article or a year with its law, and no empty query alone."""
    query = case.query
    if query and all(isinstance(query.get(end), str) for end in ("from", "to")) and query["from"] > query["to"]:
        query["from"], query["to"] = query["to"], query["from"]
    body = case.body
    if isinstance(body, dict) and "queries" in body:
        body["queries"] = without_nul(body["queries"])
    for params in (body, body.get("params")) if isinstance(body, dict) else ():
        if not isinstance(params, dict):
            continue
        if params.get("query") is None:
            # The service accepts a filter without a query, but the schema does not say so.
            for name in FILTERS:
                params.pop(name, None)
        first, last = params.get("date_from"), params.get("date_to")
        if isinstance(first, str) and isinstance(last, str) and first > last:
            params["date_from"], params["date_to"] = last, first
        if "article" in params or "year" in params and body.get("operation") == "legal_laws":
            params.setdefault("law", "民法典")
        if isinstance(params.get("query"), str) and not params["query"].strip():
            params["query"] = "合同"
