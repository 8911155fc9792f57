from __future__ import annotations

import re
import secrets
from typing import Any, Dict, Mapping, Optional, Sequence
from urllib.parse import urlencode

from ._exchange import HttpRequest, to_json
from ._settings import Settings, read_headers, refuse_unknown, wrong

MOST_QUERIES = 20


def query_request(
    settings: Settings, operation: str, params: Mapping[str, object], options: Mapping[str, Any]
) -> HttpRequest:
    """Builds the request of a query. Moves `page` and `page_size` out of the parameters."""
    headers = {**_headers(settings, options), "idempotency-key": _idempotency_key(options)}
    return _post(settings, "/v1/data/query", _query_body(operation, params, options), headers)


def many_request(
    settings: Settings, queries: Sequence[Mapping[str, object]], options: Mapping[str, Any]
) -> HttpRequest:
    """Builds the request of several queries in one call."""
    if isinstance(queries, (str, bytes)) or not 1 <= len(queries) <= MOST_QUERIES:
        raise wrong("queries", f"must be a list of 1–{MOST_QUERIES} queries")
    body: Dict[str, object] = {"queries": [_one_of_many(query) for query in queries]}
    if options.get("max_tokens") is not None:
        body["max_tokens"] = options["max_tokens"]
    headers = {**_headers(settings, options), "idempotency-key": _idempotency_key(options)}
    return _post(settings, "/v1/data/query", body, headers)


def _one_of_many(query: Mapping[str, Any]) -> Dict[str, object]:
    own = {name: value for name, value in query.items() if name not in ("operation", "params")}
    refuse_unknown(own, ("cache", "fields", "snapshot", "max_tokens"), "query_many")
    return _query_body(query.get("operation", ""), query.get("params") or {}, own)


def _idempotency_key(options: Mapping[str, Any]) -> str:
    key = options.get("idempotency_key")
    if key is None:
        key = secrets.token_hex(16)
    if not isinstance(key, str) or not re.fullmatch(r"[\x21-\x7e]{1,255}", key):
        raise wrong("idempotency_key", "must be 1–255 characters of printable ASCII without spaces")
    return key


def estimate_request(
    settings: Settings, operation: str, params: Mapping[str, object], options: Mapping[str, Any]
) -> HttpRequest:
    """Builds the request for the price of a query."""
    body = _query_body(operation, params, options)
    return _post(settings, "/v1/data/estimate", body, _headers(settings, options))


def get_request(
    settings: Settings, path: str, search: Mapping[str, Optional[str]], options: Mapping[str, Any]
) -> HttpRequest:
    """Builds a free request about the account."""
    asked = {name: value for name, value in search.items() if value is not None}
    query = f"?{urlencode(asked)}" if asked else ""
    return HttpRequest("GET", settings.base_url + path + query, _headers(settings, options))


def _query_body(
    operation: str, params: Mapping[str, object], options: Mapping[str, Any]
) -> Dict[str, object]:
    if not re.fullmatch(r"[a-z]+(_[a-z]+)+", operation):
        raise wrong("operation", "must be a name such as legal_cases")
    given = {name: value for name, value in params.items() if value is not None}
    beside = {
        "page": given.pop("page", None),
        "page_size": given.pop("page_size", None),
        "cache": options.get("cache"),
        "fields": options.get("fields"),
        "snapshot": options.get("snapshot"),
        "max_tokens": options.get("max_tokens"),
    }
    return {
        "domain": operation.partition("_")[0],
        "operation": operation,
        "params": given,
        **{name: value for name, value in beside.items() if value is not None},
    }


def _post(settings: Settings, path: str, body: Dict[str, object], headers: Dict[str, str]) -> HttpRequest:
    try:
        content = to_json(body)
    except (TypeError, ValueError) as error:
        # `from None` hides the value, which may be large or private.
        raise wrong("params", f"must be values that JSON can hold ({type(error).__name__})") from None
    url = settings.base_url + path
    return HttpRequest("POST", url, {**headers, "content-type": "application/json"}, content)


def _headers(settings: Settings, options: Mapping[str, Any]) -> Dict[str, str]:
    headers = {"accept": "application/json", **settings.headers, **read_headers(options.get("headers"))}
    request_id = options.get("request_id")
    if request_id is not None:
        if not isinstance(request_id, str) or not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", request_id):
            raise wrong("request_id", "must be 1–64 characters of A-Z a-z 0-9 . _ -")
        headers["x-request-id"] = request_id
    headers["authorization"] = f"Bearer {settings.api_key}"
    return headers
