from __future__ import annotations

import math
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Awaitable,
    Callable,
    Dict,
    Generic,
    Iterator,
    List,
    Mapping,
    Optional,
    Type,
    TypeVar,
    cast,
)

from ._call import Steps, Wait, call
from ._clock import Clock
from ._errors import BudgetExceededError, DevnorsDataError
from ._options import PAGE_OPTIONS, PageState
from ._rate import pause_seconds
from ._request import query_request
from ._result import AnyResult, Result, frame_of, read_result, records_of
from ._settings import Settings, number_from, read_retry, refuse_unknown, whole_from, wrong

if TYPE_CHECKING:
    import pandas

Record = TypeVar("Record")

_MOST = 2**53 - 1
_OWN_OPTIONS = ("start_page", "max_pages", "max_items", "max_tokens", "resume", "snapshot")


class PageCursor(Generic[AnyResult]):
    """The position in the pages of a search. Both clients run the steps that it returns."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        operation: str,
        kind: Type[AnyResult],
        params: Mapping[str, object],
        options: Mapping[str, Any],
    ) -> None:
        refuse_unknown(options, PAGE_OPTIONS, "paginate")
        self._settings = settings
        self._clock = clock
        self._operation = operation
        self._kind = kind
        self._params = {name: value for name, value in params.items() if value is not None}
        self._call = {name: value for name, value in options.items() if name not in _OWN_OPTIONS}
        self._max_tokens: Optional[float] = options.get("max_tokens")
        number_from(self._max_tokens, "max_tokens", 0, 0, _MOST)
        self._max_pages = _limit(options, "max_pages")
        self._max_items = _limit(options, "max_items")
        # Reports invalid options now, not at the first page.
        query_request(settings, operation, self._params, self._call)
        read_retry(self._call, settings.retry)
        resume = options.get("resume")
        if resume is None:
            self._state = _first_state(operation, self._params, options)
        else:
            self._state = _checked_state(resume, operation, self._params)
        self._current: Optional[AnyResult] = None
        """The page whose records are being returned."""
        self._pause_until = 0.0
        self._pages = 0
        self._items = 0
        self._spent: float = 0

    def state(self) -> PageState:
        return cast(PageState, dict(self._state))

    def next_page(self) -> Steps[Optional[AnyResult]]:
        """The next page, or None after the last."""
        page = self._current
        if page is None:
            page = yield from self._fetch()
        if page is not None:
            self._turn(page)
        return page

    def next_items(self) -> Steps[Optional[List[Any]]]:
        """The records of the next page that were not returned yet, or None after the last."""
        if self._items >= self._max_items:
            return None
        page = self._current
        if page is None:
            page = yield from self._fetch()
        if page is None:
            return None
        self._current = page
        offset = self._state["offset"]
        items = records_of(page)
        if len(items) <= offset:
            self._turn(page)
        end = offset + min(len(items), self._max_items - self._items)
        return items[offset : int(end)]

    def gave_item(self) -> None:
        """Moves the position past one more record."""
        self._items += 1
        self._state["offset"] += 1
        if self._current is not None and self._state["offset"] >= len(records_of(self._current)):
            self._turn(self._current)

    def _fetch(self) -> Steps[Optional[AnyResult]]:
        if self._state["done"] or self._pages >= self._max_pages:
            return None
        left = None if self._max_tokens is None else self._max_tokens - self._spent
        if left is not None and left <= 0:
            raise BudgetExceededError(self._spent, self._max_tokens or 0)
        retry = read_retry(self._call, self._settings.retry)
        pause = self._pause_until - self._clock.now()
        # If the wait is longer, the request is sent now and the server's error is raised.
        if 0 < pause <= retry.max_retry_wait:
            yield Wait(pause)

        options = {**self._call, "snapshot": self._state.get("snapshot"), "max_tokens": left}
        params = {**self._params, "page": self._state["page"]}
        request = query_request(self._settings, self._operation, params, options)
        try:
            response = yield from call(self._settings, retry, self._clock, request)
        except DevnorsDataError as error:
            if left is not None and error.code == "price_above_max":
                raise BudgetExceededError(self._spent, self._max_tokens or 0) from error
            raise
        page = read_result(self._kind, response)
        now = self._clock.now()
        self._pause_until = now + pause_seconds(response.headers, now)
        self._pages += 1
        self._spent += _cost_of(page)
        snapshot = (page.body.get("index") or {}).get("snapshot")
        if snapshot is not None:
            self._state.setdefault("snapshot", snapshot)
        return page

    def _turn(self, page: AnyResult) -> None:
        """Moves the position past a page. Uses the latest page count, because the index can shrink."""
        total_pages = page.body.get("total_pages")
        number = self._state["page"]
        has_more = isinstance(total_pages, (int, float)) and total_pages > number
        done = len(records_of(page)) == 0 or not has_more
        self._state.update({"page": number + 1, "offset": 0, "done": done})
        self._current = None


class Pages(Generic[AnyResult, Record]):
    """The pages of a search. After leaving a loop you can continue, here or with `state()` in another process."""

    def __init__(self, cursor: PageCursor[AnyResult], run: Callable[[Steps[Any]], Any]) -> None:
        self._cursor = cursor
        self._run = run

    def __iter__(self) -> Iterator[AnyResult]:
        while True:
            page: Optional[AnyResult] = self._run(self._cursor.next_page())
            if page is None:
                return
            yield page

    def items(self) -> Iterator[Record]:
        """The records of all pages, one by one."""
        while True:
            items: Optional[List[Record]] = self._run(self._cursor.next_items())
            if items is None:
                return
            for item in items:
                self._cursor.gave_item()
                yield item

    def to_list(self, *, limit: float) -> List[Record]:
        """Returns at most `limit` records. `limit` is required, because every page costs tokens."""
        most = _read_limit(limit)
        taken: List[Record] = []
        if most > 0:
            for item in self.items():
                taken.append(item)
                if len(taken) >= most:
                    break
        return taken

    def to_pandas(self, *, limit: float) -> pandas.DataFrame:
        """Returns at most `limit` records as a DataFrame. Needs pandas."""
        frame_of([])
        return frame_of(self.to_list(limit=limit))

    def state(self) -> PageState:
        """Returns the current position as plain data for `resume`."""
        return self._cursor.state()


class AsyncPages(Generic[AnyResult, Record]):
    """The pages of a search. After leaving a loop you can continue, here or with `state()` in another process."""

    def __init__(self, cursor: PageCursor[AnyResult], run: Callable[[Steps[Any]], Awaitable[Any]]) -> None:
        self._cursor = cursor
        self._run = run

    async def __aiter__(self) -> AsyncIterator[AnyResult]:
        while True:
            page: Optional[AnyResult] = await self._run(self._cursor.next_page())
            if page is None:
                return
            yield page

    async def items(self) -> AsyncIterator[Record]:
        """The records of all pages, one by one."""
        while True:
            items: Optional[List[Record]] = await self._run(self._cursor.next_items())
            if items is None:
                return
            for item in items:
                self._cursor.gave_item()
                yield item

    async def to_list(self, *, limit: float) -> List[Record]:
        """Returns at most `limit` records. `limit` is required, because every page costs tokens."""
        most = _read_limit(limit)
        taken: List[Record] = []
        if most > 0:
            async for item in self.items():
                taken.append(item)
                if len(taken) >= most:
                    break
        return taken

    async def to_pandas(self, *, limit: float) -> pandas.DataFrame:
        """Returns at most `limit` records as a DataFrame. Needs pandas."""
        frame_of([])
        return frame_of(await self.to_list(limit=limit))

    def state(self) -> PageState:
        """Returns the current position as plain data for `resume`."""
        return self._cursor.state()


def _limit(options: Mapping[str, Any], name: str) -> float:
    value = options.get(name)
    return math.inf if value is None else whole_from(value, name, 1, 1, _MOST)


def _cost_of(page: Result[Any]) -> float:
    """A replayed answer is free, but the page was charged when the first answer was sent and lost."""
    usage: Dict[str, Any] = page.body.get("usage") or {}
    cost = usage.get("list_tokens") if usage.get("reason") == "replayed" else usage.get("tokens")
    return cost or 0


def _first_state(operation: str, params: Dict[str, object], options: Mapping[str, Any]) -> PageState:
    given = options.get("start_page")
    page = whole_from(params.get("page") if given is None else given, "start_page", 1, 1, _MOST)
    state = PageState(operation=operation, params=params, page=page, offset=0, done=False)
    if options.get("snapshot") is not None:
        state["snapshot"] = options["snapshot"]
    return state


def _checked_state(state: object, operation: str, params: Dict[str, object]) -> PageState:
    if not isinstance(state, dict):
        raise wrong("resume", "must be a result of state()")
    given = cast("Dict[str, object]", state)
    if given.get("operation") != operation or given.get("params") != params:
        raise wrong("resume", "is the state of another search; pass the same operation and params")
    whole_from(given.get("page"), "resume.page", 1, 1, _MOST)
    whole_from(given.get("offset"), "resume.offset", 0, 0, _MOST)
    return cast(PageState, {"page": 1, "offset": 0, "done": False, **given})


def _read_limit(limit: object) -> float:
    if limit == math.inf:
        return math.inf
    if limit is None:
        raise wrong("limit", "is missing; call to_list(limit=100)")
    return whole_from(limit, "limit", 0, 0, _MOST)
