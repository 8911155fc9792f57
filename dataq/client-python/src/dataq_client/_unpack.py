"""`Unpack` for every supported Python version, for type checkers and `typing.get_type_hints`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Unpack
else:
    try:
        from typing import Unpack
    except ImportError:  # before Python 3.11

        class Unpack:
            def __class_getitem__(cls, _: object) -> Any:
                return Any


__all__ = ["Unpack"]
