from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Dict, List, Optional, Union, cast

import httpx

from ._errors import APIError, ProblemDetail, class_of_status


@dataclass(frozen=True)
class ResponseFacts:
    """The status, headers and other facts of a response, without its body."""

    status: int
    headers: httpx.Headers
    request_id: Optional[str]
    attempts: int
    """How many requests were sent."""


@dataclass(frozen=True)
class RawResponse(ResponseFacts):
    """A raw response."""

    text: str


def parse_object(response: RawResponse) -> Dict[str, Any]:
    """Parses the JSON object of a successful response."""
    body = _parse(response.text)
    if is_object(body):
        return cast("Dict[str, Any]", body)
    start = _snippet(response.text)
    raise APIError(
        "The response is not a JSON object. Check that base_url is the address of a dataq service. "
        f"The response starts with: {start}",
        code="invalid_response",
        status=response.status,
        headers=response.headers,
        request_id=response.request_id,
        attempts=response.attempts,
        body=start,
    )


def error_of(response: RawResponse, now: float) -> APIError:
    """Makes the error for a status outside 200–299. `now` is in seconds since 1970, for `Retry-After` dates."""
    parsed = _parse(response.text)
    body: Dict[str, Any] = parsed if is_object(parsed) else {}
    nested: Dict[str, Any] = body["error"] if is_object(body.get("error")) else {}
    code = _text(body.get("code")) or _text(nested.get("code")) or _fallback_code(response.status)
    said = _text(body.get("detail")) or _text(nested.get("message")) or _text(body.get("title"))
    request_id = response.request_id or _text(body.get("request_id"))
    next_action = _text(body.get("next_action"))
    suffix = ", ".join(part for part in (f"{response.status} {code}", request_id) if part)
    following = "" if next_action is None else f" Next: {re.sub('[.。]$', '', next_action)}."
    retryable = body.get("retryable")
    return class_of_status(response.status)(
        f"{said or _describe(response)} ({suffix}){following}",
        code=code,
        status=response.status,
        headers=response.headers,
        request_id=request_id,
        attempts=response.attempts,
        retry_after=_retry_after(body, nested, response.headers, now),
        type=_text(nested.get("type")),
        param=_text(nested.get("param")),
        retryable=retryable if isinstance(retryable, bool) else None,
        next_action=next_action,
        details=_details(nested.get("details")),
        body=parsed if is_object(parsed) else _snippet(response.text),
    )


def request_id_of(headers: httpx.Headers) -> Optional[str]:
    value = headers.get("x-request-id")
    return None if value is None else value[:200]


def is_object(value: object) -> bool:
    return isinstance(value, dict)


def _retry_after(
    body: Dict[str, Any], nested: Dict[str, Any], headers: httpx.Headers, now: float
) -> Optional[float]:
    """The retry delay in seconds, from the body or else from the header, which may be a date."""
    for value in (body.get("retry_after"), nested.get("retry_after"), headers.get("retry-after")):
        seconds = _seconds(value)
        if seconds is not None:
            return seconds
        if isinstance(value, str) and value.endswith("GMT"):
            try:
                return max(0.0, parsedate_to_datetime(value).timestamp() - now)
            except (TypeError, ValueError, OverflowError):
                continue
    return None


def _seconds(value: object) -> Union[int, float, None]:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", value.strip()):
        return float(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf:
        return value
    return None


def _describe(response: RawResponse) -> str:
    if 300 <= response.status < 400:
        target = response.headers.get("location")
        where = "" if target is None else f" ({target[:200]})"
        return f"The server redirects the request{where}; set base_url to the final address."
    if response.text.strip() == "":
        return "The server sent no message."
    return f"The server responded: {_snippet(response.text)}"


def _fallback_code(status: int) -> str:
    return "unexpected_redirect" if 300 <= status < 400 else f"http_{status}"


def _details(value: object) -> List[ProblemDetail]:
    if not isinstance(value, list):
        return []
    return [
        {
            "param": _text(entry.get("param")) or "",
            "code": _text(entry.get("code")) or "",
            "message": _text(entry.get("message")) or "",
            "fix": _text(entry.get("fix")) or "",
        }
        for entry in cast("List[Dict[str, object]]", value)
        if is_object(entry)
    ]


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _snippet(text: str) -> str:
    line = re.sub(r"\s+", " ", text).strip()
    return f"{line[:200]}…" if len(line) > 200 else line


def _text(value: object) -> Optional[str]:
    return value[:2_000] if isinstance(value, str) and value != "" else None
