"""How a delivery is named and signed: by the convention of Standard Webhooks, version v1."""

import base64
import binascii
import hashlib
import hmac
from typing import Final
from urllib.parse import quote

SHORTEST: Final = 24
"""Bytes of a secret at least."""

_PREFIX: Final = "whsec_"


class Signer:
    """Signs with a secret, or with several while an old one is still in use: each gives a signature of its own."""

    def __init__(self, secrets: str) -> None:
        """Secrets are separated by spaces, each `whsec_` and base64 of 24 bytes or more. Raises ValueError, without a secret."""
        self._keys = tuple(_key(secret) for secret in secrets.split())
        if not self._keys:
            raise ValueError("there is no secret")

    def headers(self, delivery_id: str, timestamp: int, body: bytes) -> dict[str, str]:
        """The three headers: `webhook-id`, the same however often a delivery is tried; `webhook-timestamp`, of this try, in
        seconds since 1970 UTC; `webhook-signature`, HMAC-SHA256 over `id.timestamp.body`."""
        signed = f"{delivery_id}.{timestamp}.".encode() + body
        signatures = (base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in self._keys)
        return {
            "webhook-id": delivery_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
        }


def delivery_id(room_id: str, number: int | str) -> str:
    """The key by which a receiver knows a line again: the room, a colon and the line's number, in letters that a header holds."""
    return f"{quote(room_id.encode(errors='replace'), safe='').replace('.', '%2E')}:{number}"


def _key(secret: str) -> bytes:
    if not secret.startswith(_PREFIX):
        raise ValueError(f"a secret begins with {_PREFIX}")
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"a secret is {_PREFIX} and base64") from None
    if len(key) < SHORTEST:
        raise ValueError(f"a secret holds at least {SHORTEST} bytes")
    return key
