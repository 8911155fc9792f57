"""Runs the cases of dataq/cases with the sync client, then with the async one; prints a line of JSON for each case.

python run_cases.py <folder of the cases> <address of the scripted server>
"""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
import urllib.request
from pathlib import Path
from typing import Any, Dict, List, Optional

import httpx

import dataq_client
from dataq_client import AsyncDataQuery, Clock, DataQuery, DevnorsDataError

KEY = "dq_test_000000000000000000000000000000000000"
START = 1767225600.0  # 2026-01-01T00:00:00Z


class VirtualClock(Clock):
    """A clock whose waits take no time: they move the clock and are recorded."""

    def __init__(self, draws: List[float]) -> None:
        self.draws = list(draws)
        self.delays: List[float] = []
        self.time = START

    def now(self) -> float:
        return self.time

    def random(self) -> float:
        return self.draws.pop(0) if self.draws else 0.5

    def sleep(self, seconds: float) -> None:
        self.delays.append(seconds)
        self.time += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


class Happened:
    def __init__(self) -> None:
        self.result: Any = None
        self.given: List[Any] = []
        self.state: Any = None
        self.error: Optional[DevnorsDataError] = None


def arguments(call: Dict[str, Any]) -> Dict[str, Any]:
    return {**call.get("params", {}), **call.get("options", {})}


def run_sync(case: Dict[str, Any], client: DataQuery, happened: Happened) -> None:
    call = case["call"]
    method, given = call["method"], arguments(call)
    if method == "paginate":
        pages = client.paginate(call["operation"], **given)
        try:
            for part in pages.items() if call["take"] == "items" else pages:
                happened.given.append(part)
                if len(happened.given) == call.get("stop_after"):
                    break
        finally:
            happened.state = pages.state()
    elif method in ("balance", "usage"):
        happened.result = getattr(client, method)(**renamed(given))
    elif method == "query":
        happened.result = getattr(client, call["operation"])(**given)
    elif method == "query_many":
        happened.result = client.query_many(call["queries"], **given)
    else:
        happened.result = getattr(client, method)(call["operation"], **given)


async def run_async(case: Dict[str, Any], client: AsyncDataQuery, happened: Happened) -> None:
    call = case["call"]
    method, given = call["method"], arguments(call)
    if method == "paginate":
        pages = client.paginate(call["operation"], **given)
        try:
            async for part in pages.items() if call["take"] == "items" else pages:
                happened.given.append(part)
                if len(happened.given) == call.get("stop_after"):
                    break
        finally:
            happened.state = pages.state()
    elif method in ("balance", "usage"):
        happened.result = await getattr(client, method)(**renamed(given))
    elif method == "query":
        happened.result = await getattr(client, call["operation"])(**given)
    elif method == "query_many":
        happened.result = await client.query_many(call["queries"], **given)
    else:
        happened.result = await getattr(client, method)(call["operation"], **given)


def renamed(given: Dict[str, Any]) -> Dict[str, Any]:
    return {"from_" if name == "from" else name: value for name, value in given.items()}


async def run_case(face: str, case: Dict[str, Any], url: str, http_client: Any) -> None:
    request(url + "/_script", {"answers": case["answers"]})
    clock = VirtualClock(case.get("draws", []))
    options = {"api_key": KEY, "base_url": url, "clock": clock, "http_client": http_client}
    options.update(case.get("client", {}))
    happened = Happened()
    try:
        if face == "sync":
            with DataQuery(**options) as client:
                run_sync(case, client, happened)
        else:
            async with AsyncDataQuery(**options) as client_async:
                await run_async(case, client_async, happened)
    except DevnorsDataError as error:
        happened.error = error
    compare(case["expect"], happened, clock.delays, request(url + "/_log"))


def request(url: str, body: Optional[object] = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    method = "GET" if data is None else "PUT"
    with urllib.request.urlopen(urllib.request.Request(url, data, method=method)) as response:
        return json.loads(response.read())


def compare(expect: Dict[str, Any], happened: Happened, delays: List[float], log: List[Any]) -> None:
    if "error" not in expect and happened.error is not None:
        raise happened.error
    if "attempts" in expect:
        equal("requests that arrived", len(log), expect["attempts"])
    if "delays" in expect:
        equal("count of delays", len(delays), len(expect["delays"]))
        for delay, wanted in zip(delays, expect["delays"]):
            equal(f"delay {delay} as {wanted}", abs(delay - wanted) < 0.0005, True)
    contained("result", happened.result, expect.get("result", {}))
    for name in expect.get("absent", []):
        equal(name, getattr(happened.result, name, None), None)
    if "pages" in expect:
        equal("pages", [ids(page.data) for page in happened.given], expect["pages"])
    if "items" in expect:
        equal("items", ids(happened.given), expect["items"])
    if "state" in expect:
        contained("state", happened.state, expect["state"])
    if "error" in expect:
        compare_error(dict(expect["error"]), happened.error)
    for index, wanted in enumerate(expect.get("requests", [])):
        contained(f"request {index}", log[index], wanted)
    if "idempotency_keys" in expect:
        keys = [entry["headers"].get("idempotency-key") for entry in log]
        kind = expect["idempotency_keys"]
        if kind == "none":
            equal("idempotency keys", [key for key in keys if key], [])
        else:
            equal("idempotency keys", all(keys), True)
            equal("distinct idempotency keys", len(set(keys)), 1 if kind == "one" else len(log))


def compare_error(expected: Dict[str, Any], error: Optional[DevnorsDataError]) -> None:
    if error is None:
        raise AssertionError("The call succeeded, and should not have.")
    name = expected.pop("class", None)
    bases = expected.pop("bases", [])
    if name is not None:
        equal("class", type(error).__name__, name)
        for base in [name, *bases, "DevnorsDataError"]:
            equal(base, isinstance(error, getattr(dataq_client, base)), True)
    contained("error", error, expected)
    printed = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    equal("the key in the error", KEY in printed + repr(vars(error)), False)


def contained(what: str, actual: Any, expected: Any) -> None:
    """Asserts that the actual value contains everything expected. Objects may have more fields."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            known = actual[name] if isinstance(actual, dict) and name in actual else None
            found = known if isinstance(actual, dict) else getattr(actual, name, None)
            contained(f"{what}.{name}", found, value)
    elif isinstance(expected, list):
        equal(f"length of {what}", len(actual), len(expected))
        for index, value in enumerate(expected):
            contained(f"{what}[{index}]", actual[index], value)
    else:
        equal(what, actual, expected)


def equal(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"{what}: {actual!r} is not {expected!r}")


def ids(records: List[Any]) -> List[Any]:
    return [record["id"] for record in records]


async def main(folder: str, url: str) -> None:
    # All cases of a client share one httpx client, because each new one loads the machine's certificates again.
    await run_cases("sync", folder, url, httpx.Client())
    await run_cases("async", folder, url, httpx.AsyncClient())


async def run_cases(face: str, folder: str, url: str, http_client: Any) -> None:
    for file in ("requests", "retries", "errors", "pages"):
        for case in json.loads((Path(folder) / f"{file}.json").read_text("utf-8")):
            try:
                await run_case(face, case, url, http_client)
                failure = None
            except Exception:
                failure = traceback.format_exc()
            print(json.dumps({"face": face, "name": case["name"], "failure": failure}), flush=True)


asyncio.run(main(*sys.argv[1:3]))
