from __future__ import annotations

from types import TracebackType
from typing import Any, Mapping, Optional, Sequence, Type, TypeVar, Union

import httpx

from ._account import Balance, Estimate, UsageGroup, UsageReport
from ._answer import RawResponse
from ._call import Send, Steps
from ._clock import Clock
from ._exchange import Outcome, exchange
from ._methods import Operations
from ._options import CallOptions, ManyOptions, ManyQuery
from ._pages import Pages
from ._result import AnyResult, ManyResult, Result
from ._settings import read_settings
from ._steps import ClientSteps
from ._unpack import Unpack
from .records import OperationName

Value = TypeVar("Value")
Self = TypeVar("Self", bound="DataQuery")


class DataQuery(Operations):
    """The synchronous client. Every operation is a method of the same name.

    `DATAQ_API_KEY` and `DATAQ_BASE_URL` in the environment are the defaults of `api_key` and `base_url`.
    Times are in seconds. One client serves any number of threads.
    """

    def __init__(
        self,
        api_key: Optional[str] = None,
        *,
        base_url: Optional[str] = None,
        timeout: Optional[float] = None,
        total_timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
        retry_delay: Optional[float] = None,
        retry_backoff: Optional[float] = None,
        max_retry_wait: Optional[float] = None,
        retry_network_errors: Optional[bool] = None,
        headers: Optional[Mapping[str, str]] = None,
        max_response_bytes: Optional[int] = None,
        http_client: Optional[httpx.Client] = None,
        clock: Optional[Clock] = None,
    ) -> None:
        settings = read_settings(
            api_key=api_key,
            base_url=base_url,
            headers=headers,
            max_response_bytes=max_response_bytes,
            retry={
                "timeout": timeout,
                "total_timeout": total_timeout,
                "max_retries": max_retries,
                "retry_delay": retry_delay,
                "retry_backoff": retry_backoff,
                "max_retry_wait": max_retry_wait,
                "retry_network_errors": retry_network_errors,
            },
        )
        self._steps = ClientSteps(settings, clock or Clock())
        self._http = http_client or httpx.Client()
        # If the caller passed an httpx client, only the caller closes it.
        self._owns_http = http_client is None

    def query(self, operation: OperationName, /, **given: Any) -> Result[Any]:
        """Calls an operation by its name, with its parameters and the options of a call."""
        return self._run(self._steps.query_named(operation, given))

    def query_raw(self, operation: OperationName, /, **given: Any) -> RawResponse:
        """Like `query`, but returns the raw response: status, headers and text. Errors are still raised."""
        return self._run(self._steps.query_raw(operation, given))

    def query_many(self, queries: Sequence[ManyQuery], **options: Unpack[ManyOptions]) -> ManyResult:
        """Up to 20 queries in one call. A query that fails costs nothing and does not affect the others.

        Each query is `{"operation": …, "params": {…}}`, and may have `cache`, `fields`, `snapshot`, `max_tokens`.
        """
        return self._run(self._steps.many(queries, options))

    def estimate(self, operation: OperationName, /, **given: Any) -> Estimate:
        """The price of a query now. Free."""
        return self._run(self._steps.estimate(operation, given))

    def balance(self, **options: Unpack[CallOptions]) -> Balance:
        """The account's balance. Free."""
        return self._run(self._steps.balance(options))

    def usage(
        self,
        *,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        group_by: Union[UsageGroup, Sequence[UsageGroup], None] = None,
        **options: Unpack[CallOptions],
    ) -> UsageReport:
        """Calls and tokens by day, operation and key. Free. Days are YYYY-MM-DD, China time."""
        return self._run(self._steps.usage(from_, to, group_by, options))

    def close(self) -> None:
        """Closes the connections, unless they belong to your `http_client`."""
        if self._owns_http:
            self._http.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<DataQuery {self._steps.settings.base_url}>"

    def _query(
        self, kind: Type[AnyResult], params: Mapping[str, object], options: Mapping[str, Any]
    ) -> AnyResult:
        return self._run(self._steps.query(kind, params, options))

    def _paginate(self, operation: str, given: Mapping[str, Any]) -> Pages[Any, Any]:
        return Pages(self._steps.pages(operation, given), self._run)

    def _run(self, steps: Steps[Value]) -> Value:
        outcome: Optional[Outcome] = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as end:
                value: Value = end.value
                return value
            outcome = None
            if isinstance(step, Send):
                max_bytes = self._steps.settings.max_bytes
                outcome = exchange(self._http, step.request, step.timeout, max_bytes)
            else:
                self._steps.clock.sleep(step.seconds)
