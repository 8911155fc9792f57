from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Dict, Generic, List, Sequence, Type, TypeVar, Union, cast

from ._answer import RawResponse, ResponseFacts, error_of, is_object, parse_object
from ._envelope import Envelope, Usage, envelope_fields
from ._errors import APIError

if TYPE_CHECKING:
    import pandas

Data = TypeVar("Data")


class Result(Envelope, Generic[Data]):
    """The answer of one query.

    The fields of the response body are attributes. An operation that answers one record also shows the record's
    fields (`company.name`), except those that have the name of another attribute: read these from `data`.
    """

    operation_name: ClassVar[str] = ""
    data: Data
    response: ResponseFacts
    """Status, headers, request ID and attempts."""
    body: Dict[str, Any]
    """The response body as it arrived, with fields that this version does not know."""

    def __init__(self, body: Dict[str, Any], response: ResponseFacts) -> None:
        self.body = body
        self.response = response
        self.data = body["data"]

    def to_pandas(self) -> pandas.DataFrame:
        """The records as a DataFrame, one column per field. Needs pandas."""
        return frame_of(records_of(self))

    # Type checkers see the declared fields only, so that they find a misspelt one.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            fields = self.__dict__
            body = fields.get("body")
            if body is None or name.startswith("__"):
                raise AttributeError(name)
            if name in body:
                return body[name]
            if name in envelope_fields:
                return None
            if is_object(body["data"]) and name in body["data"]:
                return body["data"][name]
            if name in getattr(type(self), "__annotations__", {}):
                return None
            raise AttributeError(f"The answer has no field {name!r}.")

    def __dir__(self) -> List[str]:
        data = cast(object, self.data)
        own = list(cast("Dict[str, object]", data)) if is_object(data) else []
        return [*super().__dir__(), *self.body, *own]

    def __repr__(self) -> str:
        name = self.operation_name or self.body.get("operation", "")
        count = len(records_of(self))
        records = "1 record" if count == 1 else f"{count} records"
        return f"<{type(self).__name__} {name}: {records}, request {self.response.request_id}>"


AnyResult = TypeVar("AnyResult", bound=Result[Any])


def _invalid(message: str, response: RawResponse, body: Dict[str, Any]) -> APIError:
    return APIError(
        message,
        code="invalid_response",
        status=response.status,
        headers=response.headers,
        request_id=response.request_id,
        attempts=response.attempts,
        body=body,
    )


def read_result(kind: Type[AnyResult], response: RawResponse) -> AnyResult:
    body = parse_object(response)
    if not isinstance(body.get("data"), (list, dict)):
        raise _invalid("The response has no data.", response, body)
    facts = ResponseFacts(response.status, response.headers, response.request_id, response.attempts)
    return kind(body, facts)


@dataclass(frozen=True)
class ManyResult:
    """The answer of several queries."""

    results: List[Union[Result[Any], APIError]]
    """For each query, in order: its answer, or the error that it would have raised alone."""
    usage: Usage
    """The cost of all queries together."""
    response: ResponseFacts


def read_many(kinds: Sequence[Type[Result[Any]]], response: RawResponse, now: float) -> ManyResult:
    body = parse_object(response)
    items = cast("List[Dict[str, Any]]", body.get("data"))
    facts = ResponseFacts(response.status, response.headers, response.request_id, response.attempts)
    if not isinstance(cast(object, items), list) or len(items) != len(kinds):
        raise _invalid("The response does not have an answer for each query.", response, body)
    results: List[Union[Result[Any], APIError]] = []
    for kind, item in zip(kinds, items):
        alone = replace(response, text=json.dumps(item))
        if is_object(item.get("error")) and isinstance(item.get("status"), int):
            results.append(error_of(replace(alone, status=item["status"]), now))
        else:
            results.append(read_result(kind, alone))
    return ManyResult(results, body["usage"], facts)


def records_of(result: Result[Any]) -> List[Any]:
    data: Any = result.data
    return data if isinstance(data, list) else [data]


def frame_of(records: List[Any]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas() needs pandas: pip install 'dataq-client[pandas]'") from None
    return pandas.DataFrame(records)
