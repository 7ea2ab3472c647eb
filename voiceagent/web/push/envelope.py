"""A message to one device, sealed so that its push service can neither read nor forge it (RFC 8291), and signed (RFC 8292)."""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from py_vapid import Vapid02
from pywebpush import WebPusher

from voiceagent.values import JSON
from voiceagent.web.push.pusher import Letter
from voiceagent.web.push.settings import PushSettings
from voiceagent.web.push.subscription import Subscription

KEPT_S: Final = 86_400
"""How long a push service keeps a message for a device that is off."""

SIGNED_S: Final = 3_600


class Envelopes:
    """Seals messages with one server's key."""

    def __init__(self, settings: PushSettings) -> None:
        """Raises ValueError when the settings hold no key."""
        if settings.key is None:
            raise ValueError("no key for Web Push")
        self._vapid = Vapid02.from_raw(settings.key.get_secret_value().encode())
        self._subject = settings.subject
        numbers = self._vapid.public_key.public_numbers()
        point = b"\x04" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")
        self.public_key = base64.urlsafe_b64encode(point).rstrip(b"=").decode()

    def seal(self, subscription: Subscription, topic: str, told: Mapping[str, JSON], now: int) -> Letter:
        """What is posted to the device's service; of several with one topic it delivers one. `now` in seconds since 1970.

        About 2 ms of computing. Raises ValueError for keys that are none.
        """
        keys = {"p256dh": subscription.p256dh, "auth": subscription.auth}
        sealed = WebPusher({"endpoint": subscription.endpoint, "keys": keys}).encode(json.dumps(dict(told)).encode())
        parts = urlsplit(subscription.endpoint)
        claims = {"aud": f"{parts.scheme}://{parts.netloc}", "sub": self._subject, "exp": now + SIGNED_S}
        headers = {
            "content-type": "application/octet-stream",
            "content-encoding": "aes128gcm",
            "authorization": str(self._vapid.sign(claims)["Authorization"]),
            "ttl": str(KEPT_S),
            "urgency": "high",
            "topic": base64.urlsafe_b64encode(hashlib.sha256(topic.encode()).digest()[:24]).decode(),
        }
        return Letter(headers, bytes(sealed["body"]))
