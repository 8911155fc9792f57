from __future__ import annotations

import builtins
from typing import Any, Dict, List, Optional, Tuple, Type, TypedDict, cast

import httpx


class ProblemDetail(TypedDict):
    """An invalid parameter and its fix."""

    param: str
    code: str
    message: str
    fix: str


class DevnorsDataError(Exception):
    """The base of all errors that the clients raise.

    It has the name that the older published client gave it, so that programs written for
    that one work unchanged.
    """

    code: str
    """A stable code, such as `insufficient_balance`."""
    status: Optional[int]
    """HTTP status of the response, if there was one."""
    request_id: Optional[str]
    headers: Optional[httpx.Headers]
    """Headers of the response, if there was one."""
    retry_after: Optional[float]
    """Seconds to wait before a retry, if the server sent them."""
    attempts: int
    """How many requests were sent for this call."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        headers: Optional[httpx.Headers] = None,
        retry_after: Optional[float] = None,
        attempts: int = 0,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id
        self.headers = headers
        self.retry_after = retry_after
        self.attempts = attempts

    def __str__(self) -> str:
        # ConnectionError inherits from OSError, whose `__str__` formats the message differently.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> Tuple[Any, ...]:
        # The constructor has required keywords, so without this method the error could not be pickled.
        return (_restore, (type(self), self.args, self.__dict__))


def _restore(kind: Type[DevnorsDataError], args: Tuple[Any, ...], fields: Dict[str, Any]) -> DevnorsDataError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class APIError(DevnorsDataError):
    """The server answered with an error."""

    type: Optional[str]
    """Error type, such as `rate_limit_error`."""
    param: Optional[str]
    """The invalid parameter, if there is one."""
    retryable: Optional[bool]
    """Whether the server says that a retry can help."""
    next_action: Optional[str]
    """The next step that the server suggests."""
    details: List[ProblemDetail]
    """All invalid parameters with their fixes."""
    body: Any
    """The parsed body, or the start of its text if it is not JSON."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        headers: Optional[httpx.Headers] = None,
        retry_after: Optional[float] = None,
        attempts: int = 0,
        type: Optional[str] = None,
        param: Optional[str] = None,
        retryable: Optional[bool] = None,
        next_action: Optional[str] = None,
        details: Optional[List[ProblemDetail]] = None,
        body: Any = None,
    ) -> None:
        super().__init__(
            message,
            code=code,
            status=status,
            request_id=request_id,
            headers=headers,
            retry_after=retry_after,
            attempts=attempts,
        )
        self.type = type
        self.param = param
        self.retryable = retryable
        self.next_action = next_action
        self.details = [] if details is None else details
        self.body = body


class BadRequestError(APIError):
    """400, 405, 413, 415: the request is invalid."""


class AuthenticationError(APIError):
    """401: the API key is missing or invalid. Also raised when no key is configured."""


class InsufficientBalanceError(APIError):
    """402: the call costs more than the balance or a spending limit."""

    @property
    def required(self) -> Optional[float]:
        """The price of the call, in tokens."""
        return self._number("required")

    @property
    def balance(self) -> Optional[float]:
        """The balance, in tokens."""
        return self._number("balance")

    @property
    def shortfall(self) -> Optional[float]:
        return self._number("shortfall")

    @property
    def top_up_url(self) -> Optional[str]:
        value = self._field("top_up_url")
        return value if isinstance(value, str) else None

    def _number(self, name: str) -> Optional[float]:
        value = self._field(name)
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def _field(self, name: str) -> object:
        body = cast(object, self.body)
        return cast("Dict[str, object]", body).get(name) if isinstance(body, dict) else None


class PermissionDeniedError(APIError):
    """403: the key does not have permission."""


class NotFoundError(APIError):
    """404: the record or the address does not exist."""


class ConflictError(APIError):
    """409: a request with the same idempotency key is still running."""


class UnprocessableError(APIError):
    """422: the request is well-formed but cannot be processed."""


class RateLimitError(APIError):
    """429: too many requests."""


class ServerError(APIError):
    """5xx: the server or a gateway failed."""


class ConnectionError(DevnorsDataError, builtins.ConnectionError):
    """The network failed: no response arrived. Also an instance of Python's ConnectionError."""


class TimeoutError(ConnectionError, builtins.TimeoutError):
    """No response arrived in time. Also an instance of Python's TimeoutError."""


class ConfigurationError(DevnorsDataError, ValueError):
    """An option or argument is invalid; nothing was sent."""


class WebhookVerificationError(DevnorsDataError):
    """A message to a webhook is not from the service, was changed, or is too old."""


class BudgetExceededError(DevnorsDataError):
    """`paginate` stopped because the next page would exceed `max_tokens`."""

    spent: float
    """Tokens spent on the previous pages."""
    budget: float
    """The budget, `max_tokens`."""

    def __init__(self, spent: float, budget: float) -> None:
        super().__init__(
            f"The next page would exceed the budget: {spent} of {budget} tokens are spent.",
            code="budget_exceeded",
        )
        self.spent = spent
        self.budget = budget


def class_of_status(status: int) -> Type[APIError]:
    """Returns the error class for an HTTP status."""
    return ServerError if status >= 500 else _by_status.get(status, APIError)


_by_status: Dict[int, Type[APIError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    402: InsufficientBalanceError,
    403: PermissionDeniedError,
    404: NotFoundError,
    405: BadRequestError,
    409: ConflictError,
    413: BadRequestError,
    415: BadRequestError,
    422: UnprocessableError,
    429: RateLimitError,
}
