"""The pairings of this host over HTTP, for whoever runs it: codes, joining, the list, and their end."""

from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voiceagent.errors import StoreError
from voiceagent.room.pairings.pairing import Level, Pairing
from voiceagent.values import JSON
from voiceagent.web.body import Body, read
from voiceagent.web.door import Door
from voiceagent.web.pairing.pairs import Pairs
from voiceagent.web.pairing.settings import PairingSettings
from voiceagent.web.refusal import Refused


class NewCode(Body):
    """Asks for a code. Whoever brings it may do so much here."""

    level: Level = "read"


class Join(Body):
    """Pairs with the host at an address, by a code that it has made; it may do so much here."""

    address: Annotated[str, Field(min_length=1, max_length=500)]
    code: Annotated[str, Field(min_length=1, max_length=64)]
    level: Level = "read"


class PairingPages:
    """Answers those who may see every room of this host, and nobody else."""

    def __init__(self, door: Door, pairs: Pairs, settings: PairingSettings) -> None:
        self._door = door
        self._pairs = pairs
        self._settings = settings

    async def listed(self, request: Request) -> Response:
        """GET: the paired hosts. Raises Refused."""
        self._own(request)
        try:
            known = await self._pairs.listed()
        except StoreError as error:
            raise Refused(503, "the pairings cannot be read now: try again later") from error
        return _fresh({"pairings": [_told(pairing) for pairing in sorted(known, key=lambda one: one.name)]})

    async def code(self, request: Request) -> Response:
        """POST: a code to be told to another host. Raises Refused."""
        self._own(request)
        wanted = await read(request, NewCode, self._door.settings.max_body_bytes)
        return _fresh({"code": self._pairs.code(wanted.level), "level": wanted.level, "good_ms": self._settings.code_ms})

    async def join(self, request: Request) -> Response:
        """POST: brings a code to the host that made it. Raises Refused."""
        self._own(request)
        wanted = await read(request, Join, self._door.settings.max_body_bytes)
        try:
            pairing = await self._pairs.join(wanted.address, wanted.code, wanted.level)
        except StoreError as error:
            raise Refused(503, "the pairing cannot be kept now: try again later") from error
        return _fresh(_told(pairing))

    async def end(self, request: Request) -> Response:
        """DELETE: ends a pairing at both hosts; `told` says whether the other one has heard of it. Raises Refused."""
        self._own(request)
        try:
            told = await self._pairs.end(str(request.path_params["name"]))
        except StoreError as error:
            raise Refused(503, "that cannot be kept now: try again later") from error
        return _fresh({"told": told})

    def _own(self, request: Request) -> None:
        if not self._door.reach(request).everywhere:
            raise Refused(403, "pairing is for the host: use a host's token that opens every room (voiceagent keys --host)")


def _told(pairing: Pairing) -> dict[str, JSON]:
    """A pairing without its keys."""
    return {
        "name": pairing.name,
        "address": pairing.address,
        "level": pairing.level,
        "granted": pairing.granted,
        "since": pairing.since.isoformat(),
    }


def _fresh(told: dict[str, JSON]) -> Response:
    return JSONResponse(told, headers={"cache-control": "no-store"})
