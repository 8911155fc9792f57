from __future__ import annotations

from typing import Callable, Optional

from ._errors import APIError, ConnectionError, DevnorsDataError
from ._settings import RetrySettings

_JITTER = 0.5
_LONGEST_WAIT = 86_400.0


def delay_before_retry(
    retry: RetrySettings, error: DevnorsDataError, failed: int, random: Callable[[], float]
) -> Optional[float]:
    """Seconds to wait before the next attempt, or None if there is no next attempt.

    The specification's rule, section 7: only 429 and 5xx; `retry_delay × retry_backoff^n ± 0.5 s`; a
    `retry_after` in its place, and never earlier than that. `failed` counts the attempts so far; `random` is
    drawn once for each wait.
    """
    if failed > retry.max_retries or not _may_retry(retry, error):
        return None
    if error.retry_after is not None:
        if error.retry_after > retry.max_retry_wait:
            return None
        return error.retry_after + random() * _JITTER
    seconds = retry.retry_delay * retry.retry_backoff ** (failed - 1) + (random() * 2 - 1) * _JITTER
    return min(max(0.0, seconds), _LONGEST_WAIT)


def _may_retry(retry: RetrySettings, error: DevnorsDataError) -> bool:
    if isinstance(error, ConnectionError):
        return retry.retry_network_errors
    if not isinstance(error, APIError) or error.status is None:
        return False
    if error.status == 429:
        return True
    # The only exception to the rule: the server says that a retry cannot help, as with 501.
    should_retry = "" if error.headers is None else error.headers.get("x-should-retry", "")
    hopeless = error.retryable is False or should_retry.lower() == "false"
    return error.status >= 500 and not hopeless
