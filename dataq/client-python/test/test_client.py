"""What the cases of dataq/cases do not cover: settings, secrecy, limits, threads and exceptions of Python.

Runs against servers in this process: `python test_client.py`.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import copy
import datetime
import io
import json
import logging
import os
import pickle
import threading
import traceback
import typing
import unittest
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Iterator, List, Optional
from unittest import mock

import httpx

import dataq_client
from dataq_client import (
    AsyncDataQuery,
    AuthenticationError,
    BadRequestError,
    BudgetExceededError,
    Clock,
    ConfigurationError,
    ConnectionError,
    DataQuery,
    DevnorsDataError,
    InsufficientBalanceError,
    OperationName,
    TimeoutError,
    records,
)

KEY = "dq_test_000000000000000000000000000000000000"
ENVELOPE = {"data": [{"id": "a"}], "page": 1, "total_pages": 1}


class Server:
    """A server that answers every request as `answer` does and records the requests."""

    def __init__(self, answer: Callable[[BaseHTTPRequestHandler], None]) -> None:
        self.seen: List[Any] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.seen.append({"headers": dict(self.headers.items()), "body": json.loads(body)})
                answer(self)

            def do_GET(self) -> None:
                answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


def reply(handler: BaseHTTPRequestHandler, status: int, body: object) -> None:
    text = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text)


@contextlib.contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[Server]:
    server = Server(answer)
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()


def ok(handler: BaseHTTPRequestHandler) -> None:
    reply(handler, 200, ENVELOPE)


class Settings(unittest.TestCase):
    def test_key_and_address_come_from_the_environment_by_default(self) -> None:
        with serving(ok) as server:
            with mock.patch.dict(
                os.environ, {"DATAQ_API_KEY": f"{KEY}\n", "DATAQ_BASE_URL": server.url + "/"}
            ):
                with DataQuery() as client:
                    client.legal_laws("x")
                with DataQuery("other_key", base_url=server.url) as client:
                    client.legal_laws("x")
            keys = [entry["headers"]["authorization"] for entry in server.seen]
            self.assertEqual(keys, [f"Bearer {KEY}", "Bearer other_key"])

    def test_a_missing_key_is_an_authentication_error_before_anything_is_sent(self) -> None:
        with mock.patch.dict(os.environ, {"DATAQ_API_KEY": ""}):
            for kind in (DataQuery, AsyncDataQuery):
                with self.assertRaises(AuthenticationError) as caught:
                    kind()
                self.assertEqual((caught.exception.code, caught.exception.status), ("missing_api_key", 401))

    def test_an_invalid_option_is_named_and_its_value_is_not_shown(self) -> None:
        nan = float("nan")
        for name, value in [
            ("max_retries", -1),
            ("max_retries", 1.5),
            ("max_retries", True),
            ("max_retries", 10**30),
            ("timeout", 0),
            ("timeout", nan),
            ("timeout", "3"),
            ("total_timeout", -1),
            ("retry_delay", -1),
            ("retry_backoff", float("inf")),
            ("max_retry_wait", 86_401),
            ("retry_network_errors", 1),
            ("max_response_bytes", 0),
            ("headers", {"authorization": "Bearer other"}),
            ("headers", {"Idempotency-Key": "x"}),
            ("headers", {"x-bad": "line\nbreak"}),
            ("headers", {"": "x"}),
            ("headers", {"x-number": 1}),
            ("base_url", "localhost:1"),
            ("base_url", "ftp://a"),
            ("base_url", "http://"),
            ("base_url", "http://user:pass@a"),
            ("base_url", "http://a?x=1"),
            ("base_url", "http://a#x"),
            ("base_url", ""),
            ("base_url", "http://[::1"),
            ("api_key", "two words"),
            ("api_key", "键"),
        ]:
            with self.subTest(name=name, value=value), self.assertRaises(ConfigurationError) as caught:
                options: Dict[str, Any] = {"api_key": KEY, name: value}
                DataQuery(**options)
            self.assertTrue(str(caught.exception).startswith(name), str(caught.exception))
            self.assertNotIn("two words", str(caught.exception))
            self.assertIsInstance(caught.exception, ValueError)

    def test_an_invalid_call_is_refused_before_anything_is_sent(self) -> None:
        with serving(ok) as server, DataQuery(KEY, base_url=server.url) as client:
            anything: Any = client
            calls: List[Callable[[], Any]] = [
                lambda: anything.legal_laws("x", nothing=1),
                lambda: anything.legal_laws("x", max_retries="3"),
                lambda: anything.legal_laws("x", idempotency_key="two words"),
                lambda: anything.legal_laws("x", request_id="a" * 65),
                lambda: anything.legal_laws(datetime.date(2026, 1, 1)),
                lambda: anything.legal_laws(float("nan")),
                lambda: anything.legal_laws("\ud800"),
                lambda: anything.query("Legal"),
                lambda: anything.paginate("legal_laws", query="x", max_pages=0),
                lambda: anything.paginate("legal_laws", query="x", start_page=0),
                lambda: anything.paginate("legal_laws", query="x", max_tokens=-1),
                lambda: anything.paginate("legal_laws", query="x", resume=[1]),
                lambda: anything.paginate("legal_laws", query="x").to_list(limit=None),
                lambda: anything.paginate("legal_laws", query="x").to_list(limit=-1),
                lambda: anything.balance(cache="only"),
            ]
            for call in calls:
                with self.assertRaises(ConfigurationError):
                    call()
            with self.assertRaises(TypeError):
                anything.legal_laws()  # without its required parameter
            self.assertEqual(server.seen, [])

    def test_chinese_text_is_sent_as_utf8_and_not_escaped(self) -> None:
        # The service limits the body in bytes, and an escaped character takes twice as many bytes.
        sizes: List[int] = []

        def measure(handler: BaseHTTPRequestHandler) -> None:
            sizes.append(int(handler.headers["content-length"]))
            ok(handler)

        with serving(measure) as server, DataQuery(KEY, base_url=server.url) as client:
            client.legal_laws("法" * 20_000)
            self.assertEqual(server.seen[0]["body"]["params"]["query"], "法" * 20_000)
        self.assertLess(sizes[0], 65_536)


class Secrecy(unittest.TestCase):
    def failing(self, server_url: str, **options: Any) -> DevnorsDataError:
        with (
            self.assertRaises(DevnorsDataError) as caught,
            DataQuery(KEY, base_url=server_url, max_retries=0, **options) as client,
        ):
            client.legal_laws("x")
        return caught.exception

    def test_errors_never_contain_the_key(self) -> None:
        def echo(handler: BaseHTTPRequestHandler) -> None:
            text = json.dumps({"detail": f"Bad key {KEY}", "error": {"param": KEY}}).encode()
            handler.send_response(400)
            handler.send_header("x-echo", handler.headers["authorization"])
            handler.send_header("content-length", str(len(text)))
            handler.end_headers()
            handler.wfile.write(text)

        with serving(echo) as server:
            errors = [self.failing(server.url), self.failing("http://127.0.0.1:1")]
        self.assertIsInstance(errors[0], BadRequestError)
        self.assertIsInstance(errors[1], ConnectionError)
        for error in errors:
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            for part in (text, repr(vars(error)), repr(pickle.dumps(error))):
                self.assertNotIn(KEY, part)
        cause = errors[1].__cause__
        self.assertIsInstance(cause, httpx.ConnectError)
        assert isinstance(cause, httpx.ConnectError)
        self.assertNotIn("authorization", cause.request.headers)

    def test_printed_clients_and_log_lines_never_contain_the_key(self) -> None:
        written = io.StringIO()
        handler = logging.StreamHandler(written)
        logger = logging.getLogger("dataq_client")
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        try:
            with serving(lambda handler: reply(handler, 500, {"detail": KEY})) as server:
                self.failing(server.url)
                with DataQuery(KEY, base_url=server.url) as client:
                    self.assertNotIn(KEY, repr(client) + str(client))
        finally:
            logger.removeHandler(handler)
            logger.setLevel(logging.NOTSET)
        self.assertIn(": 500", written.getvalue())
        self.assertNotIn(KEY, written.getvalue())


class Limits(unittest.TestCase):
    def test_a_larger_response_than_allowed_is_refused(self) -> None:
        with serving(lambda handler: reply(handler, 200, {"data": ["x" * 5_000]})) as server:
            with DataQuery(KEY, base_url=server.url, max_response_bytes=1_000) as client:
                with self.assertRaises(ConnectionError) as caught:
                    client.legal_laws("x")
            self.assertEqual(caught.exception.code, "response_too_large")

            async def ask() -> None:
                async with AsyncDataQuery(KEY, base_url=server.url, max_response_bytes=1_000) as other:
                    await other.legal_laws("x")

            with self.assertRaises(ConnectionError) as caught:
                asyncio.run(ask())
            self.assertEqual(caught.exception.code, "response_too_large")

    def test_a_response_that_drips_without_end_times_out(self) -> None:
        stop = threading.Event()

        def drip(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("content-length", "100000")
            handler.end_headers()
            with contextlib.suppress(OSError):
                while not stop.wait(0.02):
                    handler.wfile.write(b" ")
                    handler.wfile.flush()

        with serving(drip) as server:
            try:
                with DataQuery(KEY, base_url=server.url, timeout=0.3) as client:
                    with self.assertRaises(TimeoutError):
                        client.legal_laws("x")

                async def ask() -> None:
                    async with AsyncDataQuery(KEY, base_url=server.url, timeout=0.3) as other:
                        await other.legal_laws("x")

                with self.assertRaises(TimeoutError):
                    asyncio.run(ask())
            finally:
                stop.set()

    def test_json_that_is_too_deep_or_not_json_is_an_invalid_response(self) -> None:
        for text in (b"[" * 200_000, b'{"data": NaN}', b"\xff\xfe", b""):

            def answer(handler: BaseHTTPRequestHandler, text: bytes = text) -> None:
                handler.send_response(200)
                handler.send_header("content-length", str(len(text)))
                handler.end_headers()
                handler.wfile.write(text)

            with serving(answer) as server, DataQuery(KEY, base_url=server.url) as client:
                with self.assertRaises(DevnorsDataError) as caught:
                    client.legal_laws("x")
                self.assertEqual(caught.exception.code, "invalid_response")


class Exceptions(unittest.TestCase):
    def test_an_error_survives_pickling_and_copying(self) -> None:
        errors: List[DevnorsDataError] = [
            TimeoutError("too late", code="timeout", attempts=2),
            ConnectionError("cut", code="network_error"),
            ConfigurationError("wrong", code="invalid_option"),
            BudgetExceededError(1_000, 1_200),
            InsufficientBalanceError("short", code="insufficient_balance", body={"shortfall": 5}),
        ]
        for error in errors:
            for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
                self.assertIs(type(other), type(error))
                self.assertEqual((str(other), vars(other)), (str(error), vars(error)))

    def test_connection_errors_are_also_those_of_python(self) -> None:
        error = TimeoutError("x", code="timeout")
        self.assertIsInstance(error, builtins.TimeoutError)
        self.assertIsInstance(error, builtins.ConnectionError)
        self.assertIsInstance(error, ConnectionError)

    def test_all_names_of_the_specification_are_exported(self) -> None:
        for name in ("AuthenticationError", "InsufficientBalanceError", "RateLimitError", "ServerError"):
            self.assertTrue(issubclass(getattr(dataq_client, name), DevnorsDataError))
        for name in dataq_client.__all__:
            self.assertTrue(hasattr(dataq_client, name), name)


class Hints(unittest.TestCase):
    def test_frameworks_can_read_the_types_of_methods_and_records(self) -> None:
        # Agent frameworks derive tools from the type hints of functions.
        for kind in (DataQuery, AsyncDataQuery):
            for name in typing.get_args(OperationName):
                self.assertIn("return", typing.get_type_hints(getattr(kind, name)))
        for name, value in vars(records).items():
            if name.endswith(("Record", "Summary")):
                self.assertTrue(typing.get_type_hints(value), name)


class Results(unittest.TestCase):
    def ask(self, body: Dict[str, Any]) -> Any:
        with serving(lambda handler: reply(handler, 200, body)) as server:
            with DataQuery(KEY, base_url=server.url) as client:
                return client.enterprise_company_detail("x")

    def test_a_field_that_the_answer_leaves_out_is_none_and_an_unknown_one_an_error(self) -> None:
        result = self.ask({"data": {"id": "1", "name": "某公司"}, "page": 1})
        self.assertEqual((result.name, result.page, result.index, result.status), ("某公司", 1, None, None))
        with self.assertRaises(AttributeError):
            result.nmae
        self.assertIn("name", dir(result))
        self.assertIn("EnterpriseCompanyDetailResult", repr(result))

    def test_a_result_survives_pickling_and_copying(self) -> None:
        result = self.ask({"data": {"id": "1", "name": "某公司"}})
        for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
            self.assertEqual((other.name, other.response.status), ("某公司", 200))

    def test_an_operation_of_tomorrow_can_be_called_by_its_name(self) -> None:
        with serving(ok) as server, DataQuery(KEY, base_url=server.url) as client:
            name: Any = "content_news_search"
            self.assertEqual(client.query(name, query="x").data, [{"id": "a"}])
            self.assertEqual(server.seen[0]["body"]["domain"], "content")

    def test_to_pandas_without_pandas_says_how_to_get_it(self) -> None:
        result = self.ask({"data": {"id": "1"}})
        with mock.patch.dict("sys.modules", {"pandas": None}), self.assertRaises(ImportError) as caught:
            result.to_pandas()
        self.assertIn("pip install 'dataq-client[pandas]'", str(caught.exception))


async def outcome(task: "asyncio.Future[Any]") -> Optional[str]:
    try:
        await task
    except asyncio.CancelledError:
        return "cancelled"
    return None


class Sharing(unittest.TestCase):
    def test_threads_share_a_client_and_each_call_has_its_own_idempotency_key(self) -> None:
        with serving(ok) as server, DataQuery(KEY, base_url=server.url) as client:
            with ThreadPoolExecutor(8) as pool:
                words = [str(number) for number in range(64)]
                results = list(pool.map(lambda word: client.legal_laws(word).data, words))
            self.assertEqual(len(results), 64)
            keys = {entry["headers"]["idempotency-key"] for entry in server.seen}
            asked = sorted(entry["body"]["params"]["query"] for entry in server.seen)
            self.assertEqual((len(keys), asked), (64, sorted(words)))

    def test_a_task_that_is_cancelled_stops_waiting_at_once(self) -> None:
        class Announced(Clock):
            def __init__(self) -> None:
                self.waits = asyncio.Event()

            async def sleep_async(self, seconds: float) -> None:
                self.waits.set()
                await super().sleep_async(seconds)

        async def ask(url: str) -> Optional[str]:
            clock = Announced()
            async with AsyncDataQuery(KEY, base_url=url, retry_delay=3_600, clock=clock) as client:
                task = asyncio.ensure_future(client.legal_laws("x"))
                await clock.waits.wait()
                task.cancel()
                return await outcome(task)

        with serving(lambda handler: reply(handler, 503, {})) as server:
            self.assertEqual(asyncio.run(ask(server.url)), "cancelled")

    def test_a_task_that_is_cancelled_while_its_answer_arrives_does_not_ask_again(self) -> None:
        class NeverWaits(Clock):
            async def sleep_async(self, seconds: float) -> None:
                await super().sleep_async(0)
                raise AssertionError("the cancelled task waits to ask again")

        async def ask() -> Optional[str]:
            def answer(_: httpx.Request) -> httpx.Response:
                task.cancel()
                return httpx.Response(503, json={})

            async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http_client:
                client = AsyncDataQuery(
                    KEY, base_url="http://localhost", http_client=http_client, clock=NeverWaits()
                )
                task = asyncio.ensure_future(client.legal_laws("x"))
                return await outcome(task)

        self.assertEqual(asyncio.run(ask()), "cancelled")

    def test_a_client_of_the_caller_is_used_and_stays_open(self) -> None:
        seen: List[str] = []

        def note(request: httpx.Request) -> None:
            seen.append(str(request.url.path))

        options: Dict[str, Any] = {"event_hooks": {"request": [note]}, "auth": ("user", "password")}
        with serving(ok) as server, httpx.Client(**options) as http_client:
            with DataQuery(KEY, base_url=server.url, http_client=http_client) as client:
                client.legal_laws("x")
            self.assertFalse(http_client.is_closed)
            self.assertEqual(seen, ["/v1/data/query"])
            self.assertEqual(server.seen[0]["headers"]["authorization"], f"Bearer {KEY}")


if __name__ == "__main__":
    unittest.main()
