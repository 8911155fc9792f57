# Written by scripts/generate.ts; change the contract, or the script, and run it again.
from __future__ import annotations

from typing import Any, List, Literal, Optional, TypedDict, Union

# Names that the envelope uses itself. A record's field of the same name is read from `data`.
envelope_fields = frozenset(
    ["data", "page", "page_size", "total", "total_relation", "total_pages", "has_more", "domain", "operation", "request_id", "usage", "warnings", "index", "summary", "relaxed", "sample", "coverage"]
)


class _UsageOptional(TypedDict, total=False):
    budget_left: int
    """What is left of the session's budget. Present only if the request has X-Tokens-Budget."""


class Usage(_UsageOptional):
    """What a call cost, in tokens, and what is left."""

    tokens: int
    list_tokens: int
    cached: bool
    billed: bool
    reason: Optional[str]
    """cache_hit, no_result, not_held, insufficient_elements, sample, sandbox, replayed, free_tier, account_price, volume_discount, coupon."""
    balance: int
    trial_balance: int


class IndexState(TypedDict):
    """State of the index that an answer was read from."""

    snapshot: str
    refreshed_at: str
    next_refresh_at: Optional[str]
    size: int


class _SourcePublishersOptional(TypedDict, total=False):
    url: str
    document_id: str
    published_at: str
    licence: str


class SourcePublishers(_SourcePublishersOptional):
    name: str
    """Publisher of the record."""
    kind: Union[Literal["official", "licensed", "third_party", "sample"], str]
    retrieved_at: str
    """Retrieval time, RFC 3339 with +08:00."""
    content_sha256: str
    """SHA-256 of the other fields of the record as canonical JSON."""


class _SourceDifferencesValuesOptional(TypedDict, total=False):
    document_id: str
    """Publisher's ID."""


class SourceDifferencesValues(_SourceDifferencesValuesOptional):
    publisher: str
    value: Any
    """What this publisher says."""


class SourceDifferences(TypedDict):
    field: str
    values: List[SourceDifferencesValues]
    """What each publisher says; the record has the first value."""


class _SourceOptional(TypedDict, total=False):
    url: str
    document_id: str
    published_at: str
    licence: str
    publishers: List[SourcePublishers]
    """If several publishers know of it: each one's record."""
    differences: List[SourceDifferences]
    """Fields of which the publishers differ."""


class Source(_SourceOptional):
    """Where a record comes from. The kind of generated records is always `sample`."""

    name: str
    """Publisher of the record."""
    kind: Union[Literal["official", "licensed", "third_party", "sample"], str]
    retrieved_at: str
    """Retrieval time, RFC 3339 with +08:00."""
    content_sha256: str
    """SHA-256 of the other fields of the record as canonical JSON."""


class EnvelopeCoverageText(TypedDict):
    en: str
    zh: str


class EnvelopeCoverage(TypedDict):
    text: EnvelopeCoverageText
    oldest_day: Optional[str]
    newest_day: Optional[str]



class Envelope:
    """What every answer contains besides its data."""

    page: int
    page_size: int
    total: int
    total_relation: Union[Literal["eq", "gte"], str]
    total_pages: int
    has_more: bool
    domain: str
    operation: str
    request_id: str
    usage: Usage
    warnings: List[str]
    index: Optional[IndexState]
    relaxed: Optional[bool]
    sample: Optional[Literal[True]]
    """The records are generated samples, not facts; the call is free."""
    coverage: Optional[EnvelopeCoverage]
    """What is held. Present if the question asks for more, such as another year, platform or region, so that the answer is a part."""
