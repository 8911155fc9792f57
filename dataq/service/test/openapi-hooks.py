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
schemathesis.openapi.format("network-block", st.ip_addresses().map(str) | st.just("203.0.113.0/24"))
# None of these is an EMS number, which has a check digit.
schemathesis.openapi.format("parcel-number", st.text("0123456789YT", min_size=6, max_size=32))


FILTERS = "court judge case_type cause law article date_from date_to author year applicant".split()


def without_nul(value):
    """JSON with a NUL character is refused as a whole. What has no schema of its own does not forbid it."""
    if isinstance(value, dict):
        return {without_nul(key): without_nul(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_nul(each) for each in value]
    return value.replace("\0", "") if isinstance(value, str) else value


def agree_with_service(path, body):
    """What only the running service knows: operations that can be imported, watched or refreshed, and the time."""
    if not isinstance(body, dict):
        return
    if body.get("expires_at") is not None:
        body["expires_at"] = "2199-01-01T00:00:00Z"
    if "scopes" in body:
        body.pop("role", None)
    if path == "/v1/watches" and "operation" in body:
        body.update(operation="legal_laws", params={"query": "合同"})
    elif path == "/admin/v1/imports" and "operation" in body:
        body["operation"] = "legal_laws"
    elif path == "/admin/v1/index/refresh":
        body["operation"] = "legal_laws#sample"
    elif path == "/admin/v1/accounts/{id}/adjust" and isinstance(body.get("tokens"), (int, float)):
        # More than the balance cannot be deducted.
        body["tokens"] = abs(body["tokens"])
    elif path == "/mcp":
        # Its own schema is the protocol's.
        body.clear()
        body.update(jsonrpc="2.0", method="ping", id=1)
    elif path == "/admin/v1/maintenance" and "on" in body:
        # Otherwise every other request would be refused.
        body["on"] = False
    if "effective_from" in body:
        body["effective_from"] = "2199-01-01T00:00:00Z"
    if path.endswith("/prices") and "cached_tokens" in body:
        # A repeat never costs more than a call.
        body["cached_tokens"] = None
    if path == "/admin/v1/volume-ladders" and isinstance(body.get("steps"), list):
        # Steps rise.
        body["steps"] = body["steps"][:1]
    if path == "/v1/payments":
        # An amount or a package, and no package is offered.
        body.pop("package", None)
        body.setdefault("amount_fen", 1_000)
    if path == "/admin/v1/packages" and all(
        isinstance(body.get(name), (int, float)) for name in ("tokens", "price_fen")
    ):
        # A package gives at least 500 tokens for each fen.
        body["price_fen"] = min(body["price_fen"], 2_000_000)
        body["tokens"] = max(body["tokens"], 500 * body["price_fen"])
    if path == "/admin/v1/coupons" and isinstance(body.get("code"), str) and isinstance(body.get("value"), (int, float)):
        # Codes of vouchers begin with DQ; a discount has at most 90 percent.
        body.update(code="C" + body["code"][1:], value=min(abs(body["value"]), 90))


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Makes filters agree: dates in order, an article or a year with its law, and no empty query alone."""
    query = case.query
    if query and query.get("operation") is not None:
        query["operation"] = "legal_laws"
    if query and all(isinstance(query.get(end), str) for end in ("from", "to")) and query["from"] > query["to"]:
        query["from"], query["to"] = query["to"], query["from"]
    body = case.body
    agree_with_service(case.operation.path, body)
    if case.path == "/mcp":
        case.headers["Accept"] = "application/json, text/event-stream"
    for name in ("queries", "credentials", "params") if isinstance(body, dict) else ():
        if name in body:
            body[name] = without_nul(body[name])
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
