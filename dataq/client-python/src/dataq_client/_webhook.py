from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, TypedDict, Union, cast

from ._errors import ConfigurationError, WebhookVerificationError


class WebhookMessage(TypedDict):
    """A message to a webhook. `data` depends on the type."""

    type: str
    timestamp: str
    """When it happened, RFC 3339."""
    data: Dict[str, Any]


def verify_webhook(
    body: Union[str, bytes],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
    now: Optional[float] = None,
) -> WebhookMessage:
    """Check that a message is from the service and unchanged, and return it.

    `body` must be the body as received, not parsed and written again. `secret` begins with `whsec_`. During a
    rotation, pass both secrets. `tolerance` is how far the message's time may be from now, in seconds: it stops
    replays of old messages. Raises `WebhookVerificationError`. Standard Webhooks: https://www.standardwebhooks.com
    """
    named = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (_header(named, name) for name in ("id", "timestamp", "signature"))
    if re.fullmatch(r"[0-9]{1,12}", timestamp) is None:
        raise WebhookVerificationError("The header webhook-timestamp is invalid.", code="invalid_header")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise WebhookVerificationError(
            "The message is too old, or its time is in the future.", code="outside_tolerance"
        )
    content = body.encode() if isinstance(body, str) else body
    signed = f"{message_id}.{timestamp}.".encode() + content
    secrets = [secret] if isinstance(secret, str) else list(secret)
    expected = [hmac.new(_key(one), signed, hashlib.sha256).digest() for one in secrets]
    given = _signatures(signatures)
    # Compares in constant time.
    if any(hmac.compare_digest(one, other) for one in given for other in expected):
        return cast(WebhookMessage, json.loads(content))
    raise WebhookVerificationError("No signature of the message matches the secret.", code="wrong_signature")


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(f"webhook-{name}")
    if not value:
        raise WebhookVerificationError(f"The header webhook-{name} is missing.", code="invalid_header")
    return value


def _signatures(header: str) -> List[bytes]:
    found: List[bytes] = []
    for one in header.split(" "):
        version, _, text = one.partition(",")
        signature = _base64(text) if version == "v1" else None
        if signature is not None:
            found.append(signature)
    return found


def _key(secret: str) -> bytes:
    key = _base64(secret[6:]) if secret.startswith("whsec_") else None
    if not key:
        raise ConfigurationError(
            "The webhook secret must begin with whsec_ and continue in Base64.", code="invalid_secret"
        )
    return key


def _base64(text: str) -> Optional[bytes]:
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
