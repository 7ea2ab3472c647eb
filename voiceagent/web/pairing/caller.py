"""One request to another host: bounded in time and size, following no redirect."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import httpx2

from voiceagent import clock
from voiceagent.errors import WebError
from voiceagent.values import JSON

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of an answer; all questions of a busy host are a tenth of it."""


class UnreachableError(WebError):
    """A host did not answer, or not in a way that can be understood; the text names no key."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a host has answered."""

    status: int
    value: JSON

    @property
    def reason(self) -> str:
        """Its own words on why not, as far as there are any."""
        said = self.value.get("error") if isinstance(self.value, dict) else None
        return said[:200] if isinstance(said, str) else f"status {self.status}"

    @property
    def unpaired(self) -> bool:
        """Whether the host says that it knows of no pairing with this one."""
        return self.status == 401 and isinstance(self.value, dict) and self.value.get("unpaired") is True


class Caller(Protocol):
    """Asks other hosts."""

    async def ask(self, method: str, url: str, bearer: str | None = None, body: Mapping[str, JSON] | None = None) -> Reply:
        """One answer. Raises UnreachableError."""
        ...

    async def close(self) -> None:
        """Lets go of connections."""
        ...


class HttpCaller:
    """Over HTTP; connections are kept for the next time."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_s = timeout_ms / 1000
        self._client = httpx2.AsyncClient(timeout=None, follow_redirects=False, headers={"accept": "application/json"})

    async def ask(self, method: str, url: str, bearer: str | None = None, body: Mapping[str, JSON] | None = None) -> Reply:
        """One answer."""
        headers = {} if bearer is None else {"authorization": f"Bearer {bearer}"}
        try:
            with clock.outside():
                async with (
                    asyncio.timeout(self._timeout_s),
                    self._client.stream(method, url, headers=headers, json=body) as answer,
                ):
                    return Reply(answer.status_code, json.loads(await _bounded(answer) or b"null"))
        except TimeoutError:
            raise UnreachableError(f"no answer within {self._timeout_s:g} s") from None
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, OSError, ValueError, RecursionError) as error:
            raise UnreachableError(f"not reachable ({type(error).__name__})") from error

    async def close(self) -> None:
        """Lets go of connections."""
        await self._client.aclose()


async def _bounded(answer: httpx2.Response) -> bytes:
    kept = bytearray()
    async for piece in answer.aiter_bytes():
        kept += piece
        if len(kept) > LARGEST:
            raise ValueError("the answer is too large")
    return bytes(kept)
