"""Client of the dataq data query service: typed operations, synchronous and asynchronous."""

from __future__ import annotations

from . import records
from ._account import Balance, Estimate, UsageGroup, UsageReport, UsageRow
from ._answer import RawResponse, ResponseFacts
from ._async_client import AsyncDataQuery
from ._client import DataQuery
from ._clock import Clock
from ._envelope import IndexState, Source, Usage
from ._errors import (
    APIError,
    AuthenticationError,
    BadRequestError,
    BudgetExceededError,
    ConfigurationError,
    ConflictError,
    ConnectionError,
    DevnorsDataError,
    InsufficientBalanceError,
    NotFoundError,
    PermissionDeniedError,
    ProblemDetail,
    RateLimitError,
    ServerError,
    TimeoutError,
    UnprocessableError,
    WebhookVerificationError,
)
from ._options import CallOptions, ManyOptions, ManyQuery, PageOptions, PageState, QueryOptions
from ._pages import AsyncPages, Pages
from ._result import ManyResult, Result
from ._webhook import WebhookMessage, verify_webhook
from .records import OperationName

__all__ = [
    "APIError",
    "AsyncDataQuery",
    "AsyncPages",
    "AuthenticationError",
    "BadRequestError",
    "Balance",
    "BudgetExceededError",
    "CallOptions",
    "Clock",
    "ConfigurationError",
    "ConflictError",
    "ConnectionError",
    "DataQuery",
    "DevnorsDataError",
    "Estimate",
    "IndexState",
    "InsufficientBalanceError",
    "ManyOptions",
    "ManyQuery",
    "ManyResult",
    "NotFoundError",
    "OperationName",
    "PageOptions",
    "PageState",
    "Pages",
    "PermissionDeniedError",
    "ProblemDetail",
    "QueryOptions",
    "RateLimitError",
    "RawResponse",
    "ResponseFacts",
    "Result",
    "ServerError",
    "Source",
    "TimeoutError",
    "UnprocessableError",
    "Usage",
    "UsageGroup",
    "UsageReport",
    "UsageRow",
    "WebhookMessage",
    "WebhookVerificationError",
    "records",
    "verify_webhook",
]
