"""Sixty typical types of programs as JSON schemas by pydantic 2, one per line."""

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union
from uuid import UUID

from typing_extensions import TypedDict

from pydantic import AnyUrl, BaseModel, ConfigDict, Field, HttpUrl, Json, PositiveInt, NegativeFloat, SecretStr, TypeAdapter
from pydantic import UUID4, AwareDatetime, Base64Str, FilePath, NonNegativeInt, PastDate, StrictBool, conint, conlist, conset, constr


class Color(Enum):
    red = "red"
    green = "green"


class Level(IntEnum):
    low = 1
    high = 2


class Point(NamedTuple):
    x: int
    y: int


class Movie(TypedDict):
    title: str
    year: int


class Address(BaseModel):
    street: str
    zip: Annotated[str, Field(pattern=r"^\d{5}$")]


class User(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(min_length=1, max_length=50)]
    age: Optional[Annotated[int, Field(ge=0, le=150)]] = None
    address: Address
    tags: set[str] = set()
    scores: dict[str, float] = {}


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


class Linked(BaseModel):
    value: str
    next: Optional["Linked"] = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    breed: str


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    id: int


types = [
    str, int, float, bool, None, Any, bytes, date, datetime, time, timedelta, UUID, UUID4, Decimal, Path, FilePath,
    IPv4Address, IPv6Address, AnyUrl, HttpUrl, SecretStr, Base64Str, AwareDatetime, PastDate, StrictBool, PositiveInt,
    NonNegativeInt, NegativeFloat, Color, Level, Point, Movie, Address, User, Tree, Linked, Loose, Json, Optional[str],
    Union[int, str], Literal["a", 1, None], list[int], set[int], frozenset[str], tuple[int, str], tuple[int, ...],
    dict[str, int], dict[Color, int], dict[int, str], list[Address], set[Color], conint(multiple_of=5), constr(pattern="^[A-Z]{3}$"),
    conlist(int, min_length=2, max_length=4), conset(int, max_length=3), Annotated[float, Field(gt=0, lt=1)],
    Annotated[Union[Cat, Dog], Field(discriminator="kind")], list[Union[Cat, Dog]], dict[str, list[Point]], Optional[User],
]

for each in types:
    print(json.dumps(TypeAdapter(each).json_schema()))
