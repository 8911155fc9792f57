# Written by scripts/generate.ts; change the contract, or the script, and run it again.
from __future__ import annotations

from typing import List, Literal, Optional, TypedDict, Union

UsageGroup = Literal["day", "operation", "key", "project", "code"]


class _EstimateDataOptional(TypedDict, total=False):
    sample: Literal[True]
    reason: Union[Literal["free_tier", "account_price", "volume_discount", "coupon"], str]
    """Why the account pays less than the list price."""


class EstimateData(_EstimateDataOptional):
    tokens: int
    cached: bool


class _EstimateOptional(TypedDict, total=False):
    sample: Literal[True]
    """Only generated samples answer; the call is free."""
    reason: Union[Literal["free_tier", "account_price", "volume_discount", "coupon"], str]
    """Why the account pays less than the list price."""
    data: List[EstimateData]
    """For each of several queries, in order."""


class Estimate(_EstimateOptional):
    """The price of a call now, in tokens."""

    tokens: int
    cached: bool
    """Whether the cache has the whole answer."""
    balance_after: int


class _BalanceOptional(TypedDict, total=False):
    credit_balance: int
    credit_limit: int
    """Only for accounts with a credit line."""
    budget_left: int
    """What is left of the session's budget. Present only if the request has X-Tokens-Budget."""


class Balance(_BalanceOptional):
    """The tokens of an account."""

    balance: int
    """What the account can spend."""
    trial_balance: int
    paid_balance: int
    held: int
    """Set aside for calls that are running."""
    currency: Literal["CNY"]
    tokens_per_cny: int
    trial_expires_at: Optional[str]
    """Null when there are no trial tokens."""
    frozen: bool
    """Calls are refused with 403 until the operator ends it."""


class _UsageRowOptional(TypedDict, total=False):
    day: str
    operation: Optional[str]
    """Null for calls without a known operation."""
    key: str
    project: Optional[str]
    """Null for calls outside of projects."""
    code: Optional[str]
    """Null for calls that succeeded."""


class UsageRow(_UsageRowOptional):
    """Calls and tokens of one group."""

    calls: int
    billed_calls: int
    cached_calls: int
    failed_calls: int
    """Calls that returned an error."""
    tokens: int



class UsageReport(TypedDict):
    data: List[UsageRow]
