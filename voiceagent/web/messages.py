"""Typed text from a page into its room."""

from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import InboundMessage, TextContent
from voiceagent.web.body import Body, read
from voiceagent.web.door import KEY_HEADER, Door
from voiceagent.web.lines import Lines
from voiceagent.web.refusal import Refused
from voiceagent.web.rooms import TEXT_CHANNEL


class Typed(Body):
    """What somebody typed; `key` makes sending it twice the same as once."""

    text: Annotated[str, Field(min_length=1, max_length=65_536)]
    key: Annotated[str, Field(min_length=8, max_length=64)] | None = None


class Messages:
    """Takes typed text from those who are on the line."""

    def __init__(self, door: Door, lines: Lines, engine: RoomEngine) -> None:
        self._door = door
        self._lines = lines
        self._engine = engine

    async def post(self, request: Request) -> Response:
        """POST: the text becomes an event of the room; 202 with its id."""
        room = self._door.room(request)
        self._door.spend_message(request)
        participant = self._door.participant(request.headers.get(KEY_HEADER, ""))
        self._lines.find(room, participant)
        typed = await read(request, Typed, self._door.settings.max_body_bytes)
        most = self._door.settings.max_text_chars
        text = typed.text.strip()
        if not text or len(text) > most:
            raise Refused(400, f"a message has 1 to {most} characters")
        key = f"{participant}:{typed.key}" if typed.key else None
        message = InboundMessage(TEXT_CHANNEL, TextContent(text), sender_id=participant, idempotency_key=key)
        result = await self._engine.process_inbound(message, room_id=room)
        if result.event is None or result.blocked:
            raise Refused(409, f"the room did not take the message: {result.reason or 'it was blocked'}")
        return JSONResponse({"event_id": result.event.id, "duplicate": result.duplicate}, status_code=202)
