from __future__ import annotations

from typing import Any, Dict, Iterable, Mapping, Optional, Sequence, Tuple, Type, Union, cast

from ._account import Balance, Estimate, UsageGroup, UsageReport
from ._answer import RawResponse, parse_object
from ._call import Steps, call
from ._clock import Clock
from ._exchange import HttpRequest
from ._options import CALL_OPTIONS, MANY_OPTIONS, PAGE_OPTIONS, QUERY_OPTIONS, ManyQuery
from ._pages import PageCursor
from ._request import estimate_request, get_request, many_request, query_request
from ._result import AnyResult, ManyResult, Result, read_many, read_result
from ._settings import Settings, read_retry, refuse_unknown
from .records import result_types


class ClientSteps:
    """The methods of both clients, as steps that each client runs in its own way."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.settings = settings
        self.clock = clock

    def query(
        self, kind: Type[AnyResult], params: Mapping[str, object], options: Mapping[str, Any]
    ) -> Steps[AnyResult]:
        refuse_unknown(options, QUERY_OPTIONS, kind.operation_name)
        request = query_request(self.settings, kind.operation_name, params, options)
        return read_result(kind, (yield from self._send(request, options)))

    def query_named(self, operation: str, given: Mapping[str, Any]) -> Steps[Result[Any]]:
        params, options = _split(given, QUERY_OPTIONS)
        request = query_request(self.settings, operation, params, options)
        return read_result(kind_of(operation), (yield from self._send(request, options)))

    def query_raw(self, operation: str, given: Mapping[str, Any]) -> Steps[RawResponse]:
        params, options = _split(given, QUERY_OPTIONS)
        return (yield from self._send(query_request(self.settings, operation, params, options), options))

    def many(self, queries: Sequence[ManyQuery], options: Mapping[str, Any]) -> Steps[ManyResult]:
        refuse_unknown(options, MANY_OPTIONS, "query_many")
        request = many_request(self.settings, cast("Sequence[Mapping[str, object]]", queries), options)
        kinds = [kind_of(query["operation"]) for query in queries]
        response = yield from self._send(request, options)
        return read_many(kinds, response, self.clock.now())

    def estimate(self, operation: str, given: Mapping[str, Any]) -> Steps[Estimate]:
        params, options = _split(given, QUERY_OPTIONS)
        request = estimate_request(self.settings, operation, params, options)
        return cast(Estimate, parse_object((yield from self._send(request, options))))

    def balance(self, options: Mapping[str, Any]) -> Steps[Balance]:
        return cast(Balance, (yield from self._get("/v1/balance", {}, options)))

    def usage(
        self,
        from_: Optional[str],
        to: Optional[str],
        group_by: Union[UsageGroup, Sequence[UsageGroup], None],
        options: Mapping[str, Any],
    ) -> Steps[UsageReport]:
        groups = group_by if group_by is None or isinstance(group_by, str) else ",".join(group_by)
        search = {"from": from_, "to": to, "group_by": groups}
        return cast(UsageReport, (yield from self._get("/v1/usage", search, options)))

    def pages(self, operation: str, given: Mapping[str, Any]) -> PageCursor[Result[Any]]:
        params, options = _split(given, PAGE_OPTIONS)
        return PageCursor(self.settings, self.clock, operation, kind_of(operation), params, options)

    def _get(
        self, path: str, search: Mapping[str, Optional[str]], options: Mapping[str, Any]
    ) -> Steps[Dict[str, Any]]:
        refuse_unknown(options, CALL_OPTIONS, path)
        request = get_request(self.settings, path, search, options)
        return parse_object((yield from self._send(request, options)))

    def _send(self, request: HttpRequest, options: Mapping[str, Any]) -> Steps[RawResponse]:
        return call(self.settings, read_retry(options, self.settings.retry), self.clock, request)


def kind_of(operation: str) -> Type[Result[Any]]:
    """Returns the result class. A newer service may have operations that this version does not know."""
    return result_types.get(operation, Result)


def _split(given: Mapping[str, Any], names: Iterable[str]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Splits the arguments of a call into the operation's parameters and the call's options."""
    known = frozenset(names)
    params = {name: value for name, value in given.items() if name not in known}
    return params, {name: value for name, value in given.items() if name in known}
