from __future__ import annotations

from typing import Dict, Literal, Mapping, Optional, Sequence, TypedDict


class RetryOptions(TypedDict, total=False):
    """Timeouts and retries of one call. Omitted options come from the client."""

    timeout: Optional[float]
    """Seconds for each attempt. Default 30."""
    total_timeout: Optional[float]
    """Seconds for the whole call, including retries and waits. Default: no limit."""
    max_retries: Optional[int]
    """Attempts after the first, on 429 and 5xx only. Default 3; 0 disables retries."""
    retry_delay: Optional[float]
    """Seconds before the second attempt. Default 1."""
    retry_backoff: Optional[float]
    """Each wait is this many times the previous one. Default 2."""
    max_retry_wait: Optional[float]
    """Longest wait in seconds. If the server asks for a longer wait, the error is raised at once. Default 60."""
    retry_network_errors: Optional[bool]
    """Also retry when no answer arrived. Safe, because all attempts have the same idempotency key."""


class CallOptions(RetryOptions, total=False):
    """Options of any call."""

    request_id: Optional[str]
    """Your own name for the request, 1–64 of `A-Z a-z 0-9 . _ -`. The server echoes it."""
    headers: Optional[Mapping[str, str]]


class _QuestionOptions(RetryOptions, total=False):
    headers: Optional[Mapping[str, str]]
    cache: Optional[Literal["default", "bypass", "only"]]
    """`bypass`: skip the cache and pay the list price. `only`: answer only from the cache."""
    fields: Optional[Sequence[str]]
    """Return only these fields of each record."""
    snapshot: Optional[str]
    """The snapshot of the index to read, from an earlier answer's `index["snapshot"]`."""
    max_tokens: Optional[float]
    """Reject the call, free of charge, if it would cost more tokens. With `paginate`: for all pages together."""


class QueryOptions(_QuestionOptions, total=False):
    """Options of one query."""

    request_id: Optional[str]
    """Your own name for the request, 1–64 of `A-Z a-z 0-9 . _ -`. The server echoes it."""
    idempotency_key: Optional[str]
    """Sent with every attempt, so that a call is charged once. Default: a new one for each call."""


class ManyOptions(CallOptions, total=False):
    """Options of `query_many`."""

    idempotency_key: Optional[str]
    """Sent with every attempt, so that the call is charged once. Default: a new one for each call."""
    max_tokens: Optional[float]
    """Reject the whole call, free of charge, if all queries together would cost more tokens."""


class _ManyQueryOptional(TypedDict, total=False):
    params: Mapping[str, object]
    cache: Literal["default", "bypass", "only"]
    fields: Sequence[str]
    snapshot: str
    max_tokens: float


class ManyQuery(_ManyQueryOptional):
    """One of several queries in a call."""

    operation: str


class _PageStateOptional(TypedDict, total=False):
    snapshot: str
    """The snapshot of the index that all pages come from."""


class PageState(_PageStateOptional):
    """A position between two records of a search, as plain data."""

    operation: str
    params: Dict[str, object]
    page: int
    """The page to fetch next."""
    offset: int
    """How many records of that page were already returned."""
    done: bool


class PageOptions(_QuestionOptions, total=False):
    """Options of `paginate`."""

    start_page: Optional[int]
    """First page to fetch. Default 1."""
    max_pages: Optional[int]
    """Maximum number of pages to fetch."""
    max_items: Optional[int]
    """Maximum number of records from `items()`. No unneeded page is fetched."""
    resume: Optional[PageState]
    """The `state()` of an earlier run. It can be stored as JSON."""


_RETRY_NAMES = (
    "timeout",
    "total_timeout",
    "max_retries",
    "retry_delay",
    "retry_backoff",
    "max_retry_wait",
    "retry_network_errors",
)
CALL_OPTIONS = (*_RETRY_NAMES, "request_id", "headers")
_QUESTION_NAMES = (*_RETRY_NAMES, "headers", "cache", "fields", "snapshot", "max_tokens")
QUERY_OPTIONS = (*_QUESTION_NAMES, "request_id", "idempotency_key")
MANY_OPTIONS = (*CALL_OPTIONS, "idempotency_key", "max_tokens")
PAGE_OPTIONS = (*_QUESTION_NAMES, "start_page", "max_pages", "max_items", "resume")
