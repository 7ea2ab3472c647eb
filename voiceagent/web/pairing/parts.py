"""How the parts of pairing are put together for one served app."""

from urllib.parse import urlsplit

from starlette.routing import Route

from voiceagent.room.engine import RoomEngine
from voiceagent.room.pairings.memory import pairings_of
from voiceagent.web.door import Door
from voiceagent.web.names import clean_name
from voiceagent.web.pairing.caller import HttpCaller
from voiceagent.web.pairing.codes import Codes
from voiceagent.web.pairing.hosts import PairedHosts
from voiceagent.web.pairing.pages import PairingPages
from voiceagent.web.pairing.pairs import Own, Pairs
from voiceagent.web.pairing.peers import PeerPages
from voiceagent.web.settings import WebSettings


class Pairing:
    """`hosts` are asked for what they list as long as they are entered; `routes` serve this host and the paired ones."""

    def __init__(self, door: Door, engine: RoomEngine) -> None:
        settings = door.settings.pairing
        caller = HttpCaller(settings.timeout_ms)
        pairs = Pairs(pairings_of(engine.store), caller, Codes(settings.code_ms), own(door.settings))
        self.hosts = PairedHosts(pairs, caller, settings.poll_ms)
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


def own(settings: WebSettings) -> Own:
    """How this host calls itself: by its settings, else by where it is."""
    address = settings.pairing.address or settings.url.rstrip("/")
    return Own(clean_name(settings.pairing.name or urlsplit(address).netloc), address)
