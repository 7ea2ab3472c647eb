"""One device that asked to be notified: where its push service is, its keys, and which questions its owner may see."""

import base64
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from voiceagent.room.questions.question import Question
from voiceagent.web.body import Body
from voiceagent.web.reach import Reach
from voiceagent.web.refusal import Refused
from voiceagent.web.standing import Standing

POINT_BYTES = 65
SECRET_BYTES = 16
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{20,100}={0,2}$")]


class DeviceKeys(Body):
    """What a message to the device is sealed with: base64url, as the browser gives them."""

    p256dh: Key
    auth: Key


class Device(Body):
    """A device that asks to be notified, as its browser describes it."""

    endpoint: Annotated[str, Field(min_length=8, max_length=2_000)]
    keys: DeviceKeys


class Endpoint(Body):
    """Which device is to be notified no more."""

    endpoint: Annotated[str, Field(min_length=8, max_length=2_000)]


@dataclass(frozen=True, slots=True)
class Subscription:
    """`endpoint` is known to the device alone. `room`, `host`, `until` and `participant`: what its owner's token was good for."""

    endpoint: str
    p256dh: str
    auth: str
    room: str | None
    host: bool
    until: int | None
    participant: str | None

    @classmethod
    def of(cls, device: Device, reach: Reach, services: tuple[str, ...]) -> "Subscription":
        """A device that may be posted to. Raises Refused 400."""
        check_service(device.endpoint, services)
        for key, length in ((device.keys.p256dh, POINT_BYTES), (device.keys.auth, SECRET_BYTES)):
            if len(base64.urlsafe_b64decode(f"{key.rstrip('=')}==")) != length:
                raise Refused(400, "the keys are none of a push subscription")
        standing = reach.standing
        return cls(
            device.endpoint, device.keys.p256dh, device.keys.auth, reach.room, standing.host, standing.until, reach.participant
        )

    def wants(self, question: Question, now: int) -> bool:
        """Whether its owner is to be told of a question, at `now` in seconds since 1970."""
        reach = Reach(self.room, Standing(self.host, self.until), self.participant)
        good = self.until is None or now < self.until
        return good and reach.sees(question) and question.may_answer(self.participant)


def check_service(endpoint: str, services: tuple[str, ...]) -> None:
    """Lets addresses of known push services pass, so that nobody has this server post elsewhere. Raises Refused 400."""
    try:
        parts = urlsplit(endpoint)
        host = parts.hostname or ""
        whole = parts.username is None and (parts.port is None or parts.scheme == "http")
    except ValueError:
        raise Refused(400, "the endpoint is no address") from None
    known = any(host == one or (one.startswith("*.") and host.endswith(one[1:])) for one in services)
    if not known or not whole or not (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))):
        raise Refused(400, "the endpoint is of no push service that this server knows")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
