from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Dict, Generic, List, Type, TypeVar, cast

from ._answer import RawResponse, ResponseFacts, is_object, parse_object
from ._envelope import Envelope, envelope_fields
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
        return f"<{type(self).__name__} {name}: {len(records_of(self))} records, request {self.response.request_id}>"


AnyResult = TypeVar("AnyResult", bound=Result[Any])


def read_result(kind: Type[AnyResult], response: RawResponse) -> AnyResult:
    body = parse_object(response)
    if not isinstance(body.get("data"), (list, dict)):
        raise APIError(
            "The response has no data.",
            code="invalid_response",
            status=response.status,
            headers=response.headers,
            request_id=response.request_id,
            attempts=response.attempts,
            body=body,
        )
    facts = ResponseFacts(response.status, response.headers, response.request_id, response.attempts)
    return kind(body, facts)


def records_of(result: Result[Any]) -> List[Any]:
    data: Any = result.data
    return data if isinstance(data, list) else [data]


def frame_of(records: List[Any]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas() needs pandas: pip install 'dataq-client[pandas]'") from None
    return pandas.DataFrame(records)
