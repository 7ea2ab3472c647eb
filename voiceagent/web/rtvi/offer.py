"""The requests by which a Pipecat client makes its line, dials again, and names more ways to be reached."""

import secrets
from collections.abc import Callable
from typing import Annotated, Final, Literal

from pydantic import AliasChoices, ConfigDict, Field, JsonValue, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voiceagent.errors import TransportError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.transport.chat import Chat
from voiceagent.values import JSON
from voiceagent.web.body import Body, read, told
from voiceagent.web.commands import Commands, Sender
from voiceagent.web.door import Door
from voiceagent.web.lines import Beside, Line, Lines
from voiceagent.web.refusal import Refused
from voiceagent.web.rtvi.commands import ClientCommands
from voiceagent.web.rtvi.messages import PEER_LEFT
from voiceagent.web.rtvi.session import Session
from voiceagent.web.standing import Standing
from voiceagent.web.status import Status

KEY_BYTES: Final = 24

Key = Annotated[str, Field(max_length=64)]


class _Open(Body):
    """A body whose unknown fields are passed over: the client's versions differ in them."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Guest(_Open):
    """What a page may say of its person: a name, and the key by which they are known again."""

    name: Annotated[str, Field(max_length=512)] = ""
    participant: Key | None = None


class Offer(_Open):
    """The client's SDP offer. `pc_id` is what an earlier answer called this client; None for the first.

    With `restart_pc` it comes from a connection that replaces the other; without, from the one that stands.
    """

    sdp: Annotated[str, Field(min_length=1, max_length=65_536)]
    type: Literal["offer"]
    pc_id: Key | None = None
    restart_pc: bool | None = None
    request_data: Annotated[JsonValue, Field(validation_alias=AliasChoices("requestData", "request_data"))] = None


class Candidate(_Open):
    """One more way to reach the client; an empty one says that there are no more."""

    candidate: Annotated[str, Field(max_length=1024)]
    sdp_mid: Annotated[str, Field(max_length=64)] | None = None
    sdp_mline_index: Annotated[int, Field(ge=0, le=64)] | None = None


class Candidates(_Open):
    """Those that the client has found since it last told."""

    pc_id: Key
    candidates: Annotated[list[Candidate], Field(max_length=64)]


class Offers:
    """Answers a Pipecat client's requests. The `pc_id` that it is given is its participant key: nobody else knows it."""

    def __init__(self, door: Door, lines: Lines, commands: Commands, engine: RoomEngine, status: Callable[[], Status]) -> None:
        self._door = door
        self._lines = lines
        self._commands = commands
        self._engine = engine
        self._status = status

    async def serve(self, request: Request) -> Response:
        """POST: an offer in, an answer with all candidates out. PATCH: more candidates for the client's line."""
        return await (self._offer(request) if request.method == "POST" else self._more(request))

    async def _offer(self, request: Request) -> Response:
        room, standing = self._door.room_and_standing(request)
        self._door.spend_offer(request)
        offer = await read(request, Offer, self._door.settings.max_body_bytes)
        guest = _guest(offer.request_data)
        key = offer.pc_id or guest.participant or secrets.token_urlsafe(KEY_BYTES)
        person = Participant(self._door.participant(key), guest.name)
        try:
            answer = await self._same_line(room, person, offer) or await self._line(request, person, offer, standing)
        except TransportError as error:
            raise Refused(400, str(error)) from error
        return JSONResponse({"sdp": answer, "type": "answer", "pc_id": key})

    async def _more(self, request: Request) -> Response:
        room = self._door.room(request)
        more = await read(request, Candidates, self._door.settings.max_body_bytes)
        line = self._lines.find(room, self._door.participant(more.pc_id))
        try:
            for one in more.candidates:
                await line.call.add_candidate(one.candidate, one.sdp_mid, one.sdp_mline_index)
        except TransportError as error:
            raise Refused(400, str(error)) from error
        return JSONResponse({"status": "success"})

    async def _same_line(self, room: str, person: Participant, offer: Offer) -> str | None:
        """The answer of the line that stands; None when there is none, or the client has made another connection."""
        if offer.pc_id is None or offer.restart_pc:
            return None
        try:
            line = self._lines.find(room, person.id)
        except Refused:
            return None
        return await line.call.renegotiate(offer.sdp)

    async def _line(self, request: Request, person: Participant, offer: Offer, standing: Standing) -> str:
        """The answer of a line of its own; a client that dials again is told no farewell by the one it had."""
        room = self._door.room(request)
        sender = Sender(room, standing, person.id)
        commands = ClientCommands(self._door, self._commands, self._engine, sender, request)

        async def session(line: Line) -> None:
            await Session(line, self._engine, commands, self._about(line)).run()

        line, answer = await self._lines.open(room, person, offer.sdp, standing, beside=Beside(Chat(PEER_LEFT), session))
        if offer.restart_pc and line.before is not None and line.before.beside is not None:
            line.before.beside.chat.close()
        return answer

    def _about(self, line: Line) -> dict[str, JSON]:
        status = self._status()
        return {
            "library": "voiceagent",
            "library_version": status.version,
            "agent": status.agent,
            "room_id": line.room,
            "session_id": line.call.session_id,
            "participant_id": line.participant.id,
            "name": line.participant.display_name,
        }


def _guest(data: JsonValue) -> Guest:
    try:
        return Guest.model_validate(data if isinstance(data, dict) else {})
    except ValidationError as error:
        raise Refused(400, f"requestData: {told(error)}") from error
