from __future__ import annotations

import re
from typing import Optional

import httpx


def pause_seconds(headers: httpx.Headers, now: float) -> float:
    """Seconds until the server lets another request through, by the rate headers of its last answer.

    0 if it says nothing or lets one through now. Reads `RateLimit: "account";r=0;t=3` (any of its policies may be exhausted)
    and, if that is absent, the older `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
    """
    current = headers.get("ratelimit")
    if current is not None:
        spent = [policy for policy in current.split(",") if _parameter(policy, "r") == 0]
        return float(max([_parameter(policy, "t") or 0 for policy in spent], default=0))
    if headers.get("x-ratelimit-remaining", "").strip() != "0":
        return 0.0
    reset = headers.get("x-ratelimit-reset", "").strip()
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]+)?", reset):
        return 0.0
    # Some servers send seconds from now; others send a Unix time.
    return max(0.0, float(reset) - now) if float(reset) > 1_000_000_000 else float(reset)


def _parameter(policy: str, name: str) -> Optional[int]:
    found = re.search(rf";\s*{name}=([0-9]{{1,9}})\s*(?:;|$)", policy)
    return None if found is None else int(found[1])
