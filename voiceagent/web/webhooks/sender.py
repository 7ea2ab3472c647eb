"""One delivery over HTTP: posted, its answer's status read, nothing else of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import httpx2

from voiceagent import clock

SHORT: Final = 4_096
"""Bytes of a body that is read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver said: its status, and after how many seconds it wants to be asked again."""

    status: int
    retry_after_s: int | None = None


class SendError(Exception):
    """A receiver could not be reached, or said nothing that is HTTP; the text names neither secret nor body."""


class Sender(Protocol):
    """Posts deliveries."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Raises SendError. Whoever calls bounds the time that it may take."""
        ...

    async def close(self) -> None:
        """Lets go of connections."""
        ...


class HttpSender:
    """Follows no redirect, neither to another host nor to the same. A receiver's answer is its status; a body is read only where
    it says that it is short, to keep the connection."""

    def __init__(self, most_connections: int, version: str) -> None:
        limits = httpx2.Limits(max_connections=most_connections, max_keepalive_connections=most_connections)
        agent = {"user-agent": f"voiceagent/{version}", "content-type": "application/json"}
        self._client = httpx2.AsyncClient(timeout=None, limits=limits, headers=agent, follow_redirects=False)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Posts one body."""
        try:
            with clock.outside():
                async with self._client.stream("POST", url, headers=dict(headers), content=body) as answer:
                    length = _whole(answer.headers.get("content-length"))
                    if length is not None and length <= SHORT:
                        await answer.aread()
                    return Answer(answer.status_code, _whole(answer.headers.get("retry-after")))
        except (httpx2.HTTPError, httpx2.StreamError, OSError, ValueError) as error:
            raise SendError(type(error).__name__) from error

    async def close(self) -> None:
        """Lets go of connections."""
        await self._client.aclose()


def _whole(text: str | None) -> int | None:
    """A whole number; anything else, such as a date, is left aside."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 9 else None
