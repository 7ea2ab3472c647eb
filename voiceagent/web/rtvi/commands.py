"""What an RTVI client writes becomes the room's commands; each message that wants an answer gets one, under its own id."""

import json
from typing import Final

from pydantic import ValidationError
from starlette.requests import HTTPConnection

from voiceagent.errors import VoiceAgentError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import InboundMessage, TextContent
from voiceagent.values import JSON
from voiceagent.web.command import Ack, Command, parse
from voiceagent.web.commands import Commands, Sender
from voiceagent.web.door import Door
from voiceagent.web.refusal import Refused
from voiceagent.web.rooms import TEXT_CHANNEL
from voiceagent.web.rtvi.messages import (
    CancelJobGroup,
    ClientMessage,
    Envelope,
    Message,
    SendText,
    SendTextOptions,
    complaint,
    error_response,
    server_response,
)

ALOUD_ONLY: Final = "answers are spoken here: audio_response cannot be false"


class ClientCommands:
    """One line's: who writes is the person on it, and has the rights that they joined with."""

    def __init__(self, door: Door, commands: Commands, engine: RoomEngine, sender: Sender, connection: HTTPConnection) -> None:
        """`connection` is the request by which the line was made; its client is whose messages are counted."""
        self._door = door
        self._commands = commands
        self._engine = engine
        self._sender = sender
        self._connection = connection

    async def answer(self, asked: Envelope, session_id: str) -> Message | None:
        """Does what a message asks for; None when that has no answer. `session_id` makes the message's id unique."""
        try:
            self._door.spend_command(self._connection)
            return await self._answer(asked, f"{session_id}:{asked.id}"[-64:])
        except ValidationError as error:
            return error_response(asked.id, complaint(error))
        except (Refused, VoiceAgentError) as error:
            return error_response(asked.id, str(error))

    async def _answer(self, asked: Envelope, id: str) -> Message | None:
        match asked.type:
            case "client-message":
                message = ClientMessage.model_validate(asked.data)
                ack = await self._do({"type": message.t, "id": id, "data": message.d})
                return _refusal(asked, ack) or server_response(asked.id, message.t, ack.model_dump(exclude_none=True))
            case "send-text":
                return await self._text(asked, SendText.model_validate(asked.data), id)
            case "ui-cancel-job-group":
                job_id = CancelJobGroup.model_validate(asked.data).job_id
                return _refusal(asked, await self._do({"type": "job.cancel", "id": id, "data": {"job_id": job_id}}))
        return error_response(asked.id, f"{asked.type} is not served here")

    async def _do(self, command: JSON) -> Ack:
        read: Command | Ack = parse(json.dumps(command))
        return read if isinstance(read, Ack) else await self._commands.do(self._connection, self._sender, read)

    async def _text(self, asked: Envelope, typed: SendText, id: str) -> Message | None:
        options = typed.options or SendTextOptions()
        if not options.audio_response:
            return error_response(asked.id, ALOUD_ONLY)
        if options.run_immediately:
            return _refusal(asked, await self._do({"type": "input.submit", "id": id, "data": {"text": typed.content}}))
        self._door.spend_message(self._connection)
        text, most = typed.content.strip(), self._door.settings.max_text_chars
        if not 0 < len(text) <= most:
            return error_response(asked.id, f"a text has 1 to {most} characters that are not all space")
        person = self._sender.participant
        kept = InboundMessage(
            TEXT_CHANNEL, TextContent(text), sender_id=person, addressed_to=(), idempotency_key=f"{person}:{id}"
        )
        result = await self._engine.process_inbound(kept, room_id=self._sender.room)
        blocked = result.event is None or result.blocked
        return error_response(asked.id, f"the room did not take it: {result.reason or 'it was blocked'}") if blocked else None


def _refusal(asked: Envelope, ack: Ack) -> Message | None:
    if ack.accepted:
        return None
    return error_response(asked.id, ack.error.message if ack.error is not None else "refused")
