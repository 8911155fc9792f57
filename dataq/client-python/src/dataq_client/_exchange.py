from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Dict, List, Literal, Optional, Tuple, Union

import httpx


@dataclass(frozen=True)
class HttpRequest:
    method: Literal["GET", "POST"]
    url: str
    headers: Dict[str, str]
    body: Optional[bytes] = None


@dataclass(frozen=True)
class Reply:
    status: int
    headers: List[Tuple[str, str]]
    text: str


@dataclass(frozen=True)
class Failed:
    reason: Literal["timeout", "too_large", "network"]
    message: str = ""
    error: Optional[BaseException] = None


Outcome = Union[Reply, Failed]


# Both functions disable redirects: a redirect would turn the paid POST into a GET and might lead to another
# server. They also disable the `auth` of the caller's httpx client, because it would replace the API key.


def exchange(client: httpx.Client, request: HttpRequest, timeout: float, max_bytes: int) -> Outcome:
    """Sends one request and returns its response."""
    deadline = time.monotonic() + timeout
    body = _Body(max_bytes)
    try:
        response = client.send(
            _build(client, request, timeout), stream=True, follow_redirects=False, auth=None
        )
        try:
            for chunk in response.iter_bytes():
                # httpx limits the time for each chunk. This check limits the total time.
                if time.monotonic() > deadline:
                    return Failed("timeout")
                if not body.add(chunk):
                    return Failed("too_large")
        finally:
            response.close()
        return _reply(response, body)
    except Exception as error:
        return _failed(error)


async def exchange_async(
    client: httpx.AsyncClient, request: HttpRequest, timeout: float, max_bytes: int
) -> Outcome:
    """Sends one request and returns its response."""
    body = _Body(max_bytes)

    async def send() -> Outcome:
        response = await client.send(
            _build(client, request, timeout), stream=True, follow_redirects=False, auth=None
        )
        try:
            async for chunk in response.aiter_bytes():
                if not body.add(chunk):
                    return Failed("too_large")
        finally:
            await response.aclose()
        return _reply(response, body)

    sending = asyncio.ensure_future(send())
    try:
        # Not asyncio.wait_for: before Python 3.12 it loses a cancellation that comes together with the response.
        await asyncio.wait({sending}, timeout=timeout)
        return sending.result() if sending.done() else Failed("timeout")
    except Exception as error:
        return _failed(error)
    finally:
        if not sending.done():
            sending.cancel()
            await asyncio.wait({sending})
        if not sending.cancelled():
            # Read, or asyncio would log that it never was.
            sending.exception()


class _Body:
    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes
        self._chunks: List[bytes] = []

    def add(self, chunk: bytes) -> bool:
        self._left -= len(chunk)
        self._chunks.append(chunk)
        return self._left >= 0

    def text(self) -> str:
        return b"".join(self._chunks).decode("utf-8", "replace")


def _build(
    client: Union[httpx.Client, httpx.AsyncClient], request: HttpRequest, timeout: float
) -> httpx.Request:
    return client.build_request(
        request.method, request.url, headers=request.headers, content=request.body, timeout=timeout
    )


def _reply(response: httpx.Response, body: _Body) -> Reply:
    return Reply(response.status_code, list(response.headers.multi_items()), body.text())


def _failed(error: Exception) -> Failed:
    if isinstance(error, httpx.TimeoutException):
        return Failed("timeout", str(error), error)
    if isinstance(error, (httpx.HTTPError, httpx.InvalidURL, OSError)):
        return Failed("network", str(error) or type(error).__name__, error)
    raise error


def to_json(value: object) -> bytes:
    """Writes unescaped UTF-8, because the service limits the body in bytes."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
