from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Generator, Optional, TypeVar, Union

import httpx

from ._answer import RawResponse, error_of, request_id_of
from ._clock import Clock
from ._errors import ConnectionError, DevnorsDataError, TimeoutError
from ._exchange import Failed, HttpRequest, Outcome, Reply
from ._retry import delay_before_retry
from ._settings import RetrySettings, Settings

log = logging.getLogger("dataq_client")


@dataclass(frozen=True)
class Send:
    request: HttpRequest
    timeout: float


@dataclass(frozen=True)
class Wait:
    seconds: float


Value = TypeVar("Value")

Step = Union[Send, Wait]
"""What a call asks of the client that runs it. A client answers `Send` with the outcome.

The core is a generator of these steps and so is the same for the synchronous and the asynchronous client."""

Steps = Generator[Step, Optional[Outcome], Value]


def call(settings: Settings, retry: RetrySettings, clock: Clock, request: HttpRequest) -> Steps[RawResponse]:
    """Sends a request until it succeeds or the retry rule stops it."""
    deadline = clock.now() + retry.total_timeout
    attempt = 0
    while True:
        attempt += 1
        timeout = max(0.001, min(retry.timeout, deadline - clock.now()))
        outcome = yield Send(request, timeout)
        assert outcome is not None
        error: DevnorsDataError
        if isinstance(outcome, Reply):
            response = _read_reply(outcome, settings.api_key, attempt)
            log.debug("%s %s: %d", request.method, request.url, response.status)
            if 200 <= response.status < 300:
                return response
            error = error_of(response, clock.now())
        else:
            error = _failure_of(outcome, settings, timeout, attempt)
        delay = delay_before_retry(retry, error, attempt, clock.random)
        if delay is None or clock.now() + delay >= deadline:
            raise error
        log.info("Retrying in %.1f s after attempt %d: %s", delay, attempt, error)
        yield Wait(delay)


def _read_reply(reply: Reply, api_key: str, attempts: int) -> RawResponse:
    """Removes the key from everything that a server sends back."""
    headers = httpx.Headers([(name, _redact(value, api_key)) for name, value in reply.headers])
    return RawResponse(reply.status, headers, request_id_of(headers), attempts, _redact(reply.text, api_key))


def _redact(text: str, api_key: str) -> str:
    # A very short key could match ordinary text; real keys have 44 characters.
    return text.replace(api_key, "[key]") if len(api_key) >= 8 else text


def _failure_of(outcome: Failed, settings: Settings, timeout: float, attempts: int) -> DevnorsDataError:
    error: DevnorsDataError
    if outcome.reason == "timeout":
        error = TimeoutError(
            f"{settings.base_url} did not respond within {timeout:g} s.", code="timeout", attempts=attempts
        )
    elif outcome.reason == "too_large":
        error = ConnectionError(
            f"The response is larger than {settings.max_bytes} bytes. "
            "Request smaller pages or raise max_response_bytes.",
            code="response_too_large",
            attempts=attempts,
        )
    else:
        message = _redact(outcome.message, settings.api_key)
        error = ConnectionError(
            f"The connection to {settings.base_url} failed: {message}.",
            code="network_error",
            attempts=attempts,
        )
    error.__cause__ = _without_key(outcome.error, settings.api_key)
    return error


def _without_key(error: Optional[BaseException], api_key: str) -> Optional[BaseException]:
    """Returns the cause unless it contains the key. httpx errors hold the request, which contains the key."""
    if isinstance(error, httpx.RequestError):
        try:
            error.request.headers.pop("authorization", None)
        except RuntimeError:
            pass
    return None if error is None or api_key in str(error) else error
