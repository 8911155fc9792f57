from __future__ import annotations

import os
from typing import Optional


def read_environment(name: str) -> Optional[str]:
    """The only reader of the environment. An empty value counts as unset."""
    return os.environ.get(name) or None
