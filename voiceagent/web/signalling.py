"""Offers, candidates, mute, playout and leave: the requests by which a page's line is made, tended and ended."""

from typing import Annotated, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voiceagent.errors import TransportError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.web.body import Body, read
from voiceagent.web.door import KEY_HEADER, Door
from voiceagent.web.lines import Lines
from voiceagent.web.refusal import Refused


class Offer(Body):
    """A page asks to join: its SDP offer, the person's name, and the key by which a reload is known again."""

    sdp: Annotated[str, Field(min_length=1, max_length=32_768)]
    type: Literal["offer"]
    name: Annotated[str, Field(max_length=512)]
    participant: Annotated[str, Field(max_length=64)]


class Candidate(Body):
    """One more way to reach the page, as the browser names it; an empty one says there are no more."""

    candidate: Annotated[str, Field(max_length=1024)]
    sdpMid: Annotated[str, Field(max_length=64)] | None = None
    sdpMLineIndex: Annotated[int, Field(ge=0, le=64)] | None = None
    usernameFragment: Annotated[str, Field(max_length=256)] | None = None


class Mute(Body):
    """Whether the person's microphone is off; the page itself stops the sound, the others are told."""

    muted: bool


class Playout(Body):
    """How long sound waits in the page before it is heard, in milliseconds: its jitter buffer and its loudspeaker's."""

    ms: Annotated[int, Field(ge=0, le=10_000)]


class Signalling:
    """Answers the requests about lines."""

    def __init__(self, door: Door, lines: Lines, engine: RoomEngine) -> None:
        self._door = door
        self._lines = lines
        self._engine = engine

    async def offer(self, request: Request) -> Response:
        """POST: an offer in, an answer with all candidates out."""
        room, standing = self._door.room_and_standing(request)
        self._door.spend_offer(request)
        offer = await read(request, Offer, self._door.settings.max_body_bytes)
        participant = self._door.participant(offer.participant)
        try:
            line, answer = await self._lines.open(room, Participant(participant, offer.name), offer.sdp, standing)
        except TransportError as error:
            raise Refused(400, str(error)) from error
        return JSONResponse(
            {
                "sdp": answer,
                "type": "answer",
                "session": line.call.session_id,
                "participant": participant,
                "name": line.participant.display_name,
                "epoch": line.epoch,
            }
        )

    async def candidate(self, request: Request) -> Response:
        """POST: one more candidate for the line that the key's holder has in this room."""
        room, participant = self._holder(request)
        line = self._lines.find(room, participant)
        candidate = await read(request, Candidate, self._door.settings.max_body_bytes)
        try:
            await line.call.add_candidate(candidate.candidate, candidate.sdpMid, candidate.sdpMLineIndex)
        except TransportError as error:
            raise Refused(400, str(error)) from error
        return Response(status_code=204)

    async def mute(self, request: Request) -> Response:
        """POST: tells the room that a microphone is off or on."""
        room, participant = self._holder(request)
        self._lines.find(room, participant)
        mute = await read(request, Mute, self._door.settings.max_body_bytes)
        self._engine.feed(room).publish("participant.muted", {"participant_id": participant, "muted": mute.muted})
        return Response(status_code=204)

    async def playout(self, request: Request) -> Response:
        """POST: how much later than it comes the page plays what it is sent; what was heard is told by it."""
        room, participant = self._holder(request)
        line = self._lines.find(room, participant)
        playout = await read(request, Playout, self._door.settings.max_body_bytes)
        line.call.plays_late(playout.ms)
        return Response(status_code=204)

    async def leave(self, request: Request) -> Response:
        """DELETE: ends the line; does nothing when there is none. With `session`, only if that is still the line."""
        room, participant = self._holder(request)
        try:
            line = self._lines.find(room, participant)
        except Refused:
            return Response(status_code=204)
        if request.query_params.get("session", line.call.session_id) == line.call.session_id:
            await line.call.close()
        return Response(status_code=204)

    def _holder(self, request: Request) -> tuple[str, str]:
        return self._door.room(request), self._door.participant(request.headers.get(KEY_HEADER, ""))
