"""How the parts of pairing are put together for one served app."""

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from starlette.routing import Route

from voiceagent.room.engine import RoomEngine
from voiceagent.room.pairings.memory import pairings_of
from voiceagent.web.door import Door
from voiceagent.web.names import clean_name
from voiceagent.web.pairing.caller import HttpCaller
from voiceagent.web.pairing.codes import Codes
from voiceagent.web.pairing.errands import Errands
from voiceagent.web.pairing.hosts import PairedHosts
from voiceagent.web.pairing.pages import PairingPages
from voiceagent.web.pairing.pairs import Own, Pairs
from voiceagent.web.pairing.peers import PeerPages
from voiceagent.web.settings import WebSettings


class Pairing:
    """`async with` it as long as the app is served: `hosts` are asked then for what they list, and for what agents here asked
    there. `routes` serve this host and the paired ones."""

    def __init__(self, door: Door, engine: RoomEngine) -> None:
        settings = door.settings.pairing
        caller = HttpCaller(settings.timeout_ms)
        pairs = Pairs(
            pairings_of(engine.store), caller, Codes(settings.code_ms), own(door.settings), engine.questions.exchange.unpaired
        )
        self.hosts = PairedHosts(pairs, caller, settings.poll_ms)
        self._errands = Errands(engine, pairs, caller, settings.poll_ms)
        self._stack = AsyncExitStack()
        pages, peers = PairingPages(door, pairs, settings), PeerPages(door, pairs, engine)
        self.routes = [
            Route("/v1/pairings", pages.listed, methods=["GET"]),
            Route("/v1/pairings", pages.join, methods=["POST"]),
            Route("/v1/pairings/code", pages.code, methods=["POST"]),
            Route("/v1/pairings/{name}", pages.end, methods=["DELETE"]),
            Route("/v1/paired", peers.end, methods=["DELETE"]),
            Route("/v1/paired/join", peers.join, methods=["POST"]),
            Route("/v1/paired/questions", peers.questions, methods=["GET"]),
            Route("/v1/paired/asked", peers.asked, methods=["POST"]),
            Route("/v1/paired/asked/{question_id}", peers.withdrawn, methods=["DELETE"]),
            Route("/v1/paired/commands", peers.command, methods=["POST"]),
        ]

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self.hosts)
        await self._stack.enter_async_context(self._errands)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._stack.__aexit__(kind, error, trace)


def own(settings: WebSettings) -> Own:
    """How this host calls itself: by its settings, else by where it is."""
    address = settings.pairing.address or settings.url.rstrip("/")
    return Own(clean_name(settings.pairing.name or urlsplit(address).netloc), address)
