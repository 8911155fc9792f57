from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Mapping, Optional, cast

import httpx

from ._config import read_environment
from ._errors import AuthenticationError, ConfigurationError


@dataclass(frozen=True)
class RetrySettings:
    """Validated settings. Times are in seconds."""

    timeout: float = 30.0
    total_timeout: float = math.inf
    max_retries: int = 3
    retry_delay: float = 1.0
    retry_backoff: float = 2.0
    max_retry_wait: float = 60.0
    retry_network_errors: bool = False


@dataclass(frozen=True)
class Settings:
    api_key: str
    base_url: str
    """The base URL without a trailing slash."""
    headers: Dict[str, str]
    max_bytes: int
    retry: RetrySettings


_LONGEST = 86_400


def read_settings(
    *,
    api_key: Optional[str],
    base_url: Optional[str],
    headers: Optional[Mapping[str, str]],
    max_response_bytes: Optional[int],
    retry: Mapping[str, Any],
) -> Settings:
    return Settings(
        api_key=_read_key(read_environment("DATAQ_API_KEY") if api_key is None else api_key),
        base_url=_read_base_url(
            base_url
            if base_url is not None
            else read_environment("DATAQ_BASE_URL") or "http://127.0.0.1:11435"
        ),
        headers=read_headers(headers),
        max_bytes=whole_from(
            max_response_bytes, "max_response_bytes", 64 * 1024 * 1024, 1, 512 * 1024 * 1024
        ),
        retry=read_retry(retry, RetrySettings()),
    )


def read_retry(options: Mapping[str, Any], base: RetrySettings) -> RetrySettings:
    """Reads the retry options of a call. Omitted options come from the client."""
    network = options.get("retry_network_errors")
    if network is not None and not isinstance(network, bool):
        raise wrong("retry_network_errors", "must be True or False")

    def seconds(name: str, fallback: float, least: float, most: float) -> float:
        return number_from(options.get(name), name, fallback, least, most)

    return RetrySettings(
        timeout=seconds("timeout", base.timeout, 0.001, _LONGEST),
        total_timeout=seconds("total_timeout", base.total_timeout, 0.001, _LONGEST),
        max_retries=whole_from(options.get("max_retries"), "max_retries", base.max_retries, 0, 100),
        retry_delay=seconds("retry_delay", base.retry_delay, 0, 3_600),
        retry_backoff=seconds("retry_backoff", base.retry_backoff, 0, 100),
        max_retry_wait=seconds("max_retry_wait", base.max_retry_wait, 0, _LONGEST),
        retry_network_errors=base.retry_network_errors if network is None else network,
    )


def read_headers(given: Optional[Mapping[str, str]]) -> Dict[str, str]:
    """Reads the caller's headers. Rejects headers that the client sets itself."""
    headers: Dict[str, str] = {}
    for name, value in cast("Mapping[object, object]", given or {}).items():
        lower = str(name).lower()
        own = _OWN_HEADERS.get(lower)
        if own is not None:
            raise wrong(f"headers[{name!r}]", f"is set by the client; use {own}")
        if (
            not re.fullmatch(r"[!#$%&'*+.^_`|~0-9a-z-]+", lower)
            or not isinstance(value, str)
            or not re.fullmatch(r"[\t\x20-\x7e]*", value)
        ):
            raise wrong(f"headers[{name!r}]", "must be a header of printable ASCII")
        headers[lower] = value
    return headers


_OWN_HEADERS = {
    "authorization": "api_key",
    "x-api-key": "api_key",
    "content-type": "nothing else: it is JSON",
    "idempotency-key": "the call's idempotency_key",
    "x-request-id": "the call's request_id",
}


def refuse_unknown(given: Iterable[str], known: Iterable[str], what: str) -> None:
    allowed = list(known)
    for name in given:
        if name not in allowed:
            raise wrong(name, f"is not an option of {what}; use one of {', '.join(allowed)}")


def wrong(option: str, problem: str) -> ConfigurationError:
    return ConfigurationError(f"{option} {problem}.", code="invalid_option")


def number_from(value: object, name: str, fallback: float, least: float, most: float) -> float:
    if value is None:
        return fallback
    if isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise wrong(name, f"must be a number from {least} to {most}")


def whole_from(value: object, name: str, fallback: int, least: int, most: int) -> int:
    if value is None:
        return fallback
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise wrong(name, f"must be a whole number from {least} to {most}")


def _read_key(given: object) -> str:
    key = given.strip() if isinstance(given, str) else given
    if key is None or key == "":
        raise AuthenticationError(
            "No API key: pass api_key or set DATAQ_API_KEY.", code="missing_api_key", status=401
        )
    if not isinstance(key, str) or not re.fullmatch(r"[\x21-\x7e]+", key):
        raise wrong("api_key", "must be printable ASCII without spaces")
    return key


def _read_base_url(given: object) -> str:
    try:
        url = httpx.URL(str(given))
    except httpx.InvalidURL:
        url = None
    if url is None or url.scheme == "" or (url.scheme in ("http", "https") and url.host == ""):
        raise wrong("base_url", "must be an address such as http://127.0.0.1:11435")
    if url.scheme not in ("http", "https"):
        raise wrong("base_url", "must start with http:// or https://")
    if url.userinfo != b"" or url.query != b"" or url.fragment != "":
        raise wrong("base_url", "must have no user name, password, query or fragment")
    return str(url).rstrip("/")
