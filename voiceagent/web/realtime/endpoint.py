"""The door for clients of OpenAI's realtime protocol: each WebSocket is one person's call in one room."""

import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from voiceagent.agent.context import AIGenerationEvent
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.room.hooks import HookExecution, HookResult, HookTrigger
from voiceagent.transport.socket import SocketCall
from voiceagent.voice.inputs import SpeechMark, Transcription
from voiceagent.web.door import Door
from voiceagent.web.lines import Receiver
from voiceagent.web.names import check_room, distinct_name
from voiceagent.web.realtime.connection import Connection
from voiceagent.web.realtime.requests import Words
from voiceagent.web.realtime.session import Guest, Session
from voiceagent.web.realtime.spoken import HELD
from voiceagent.web.refusal import Refused, deny
from voiceagent.web.rooms import Rooms
from voiceagent.web.status import Status

log = logging.getLogger(__name__)

PROTOCOL: Final = "realtime"
ROOM_PREFIX: Final = "room:"
"""A model's name that begins so names a room, for clients that can name nothing else."""

_LAST: Final = 1_000
_FIRST: Final = -1_000


@dataclass(frozen=True, slots=True)
class Entrance:
    """What a call passes on its way in."""

    door: Door
    rooms: Rooms
    receiver: Receiver
    status: Callable[[], Status]


class Realtime:
    """Serves clients; tells their sessions what the room's hooks tell, which is earlier or finer than the feed."""

    def __init__(self, entrance: Entrance, engine: RoomEngine, words: Words | None = None) -> None:
        """`words` finds the words of a message that a client ends itself; without it, clients must leave turns to us."""
        self._door = entrance.door
        self._rooms = entrance.rooms
        self._receiver = entrance.receiver
        self._status = entrance.status
        self._engine = engine
        self._words = words
        self._sessions: dict[str, Session] = {}
        engine.hook(HookTrigger.ON_SPEECH_START, execution=HookExecution.ASYNC, name="realtime")(self._speech_started)
        engine.hook(HookTrigger.ON_SPEECH_END, execution=HookExecution.ASYNC, name="realtime")(self._speech_ended)
        engine.hook(HookTrigger.ON_TRANSCRIPTION, priority=_LAST, name="realtime", fail_closed=False)(self._said)
        engine.hook(HookTrigger.BEFORE_AI_GENERATION, priority=_FIRST, name="realtime")(self._adapt)

    async def serve(self, socket: WebSocket) -> None:
        """One client from its opening to its end; who may not enter is told so by a plain answer instead."""
        try:
            guest = self._admit(socket)
            await self._rooms.enter(guest.room)
        except Refused as refused:
            await deny(socket, refused)
            return
        try:
            await self._serve(socket, self._named(guest))
        except WebSocketDisconnect:
            pass
        finally:
            self._rooms.leave(guest.room)

    async def _serve(self, socket: WebSocket, guest: Guest) -> None:
        await socket.accept(PROTOCOL if PROTOCOL in socket.scope.get("subprotocols", ()) else None)
        call = SocketCall(f"call-{secrets.token_hex(8)}")
        session = Session(self._engine, guest, call)
        self._sessions[call.session_id] = session
        try:
            code, why = await Connection(socket, session, self._door, self._words).run(self._receiver)
        except Exception:
            log.exception("call %s in room %s failed", call.session_id, guest.room)
            code, why = 1011, "failed"
        finally:
            del self._sessions[call.session_id]
        if socket.application_state is WebSocketState.CONNECTED and socket.client_state is WebSocketState.CONNECTED:
            await socket.close(code, why)

    def _admit(self, socket: WebSocket) -> Guest:
        """Who comes, and where. Raises Refused."""
        model = socket.query_params.get("model", "")[:128]
        named = socket.query_params.get("room") or (model.removeprefix(ROOM_PREFIX) if model.startswith(ROOM_PREFIX) else None)
        room, standing = self._door.room_for(socket, check_room(named) if named else None)
        self._door.spend_offer(socket)
        here = sum(session.guest.room == room for session in self._sessions.values())
        if here >= self._door.settings.max_people or len(self._sessions) >= self._door.settings.max_lines:
            raise Refused(503, "too many calls are open: try again later")
        person = self._door.holder(socket) or f"realtime-{secrets.token_hex(8)}"
        return Guest(room, Participant(person, socket.query_params.get("name", "")[:512]), standing, model or "voiceagent")

    def _named(self, guest: Guest) -> Guest:
        """The guest under a name that nobody else in the room has."""
        people = self._engine.context(guest.room).participants
        taken = [
            self._status().agent,
            *(one.display_name or "" for one in people if one.active and one.id != guest.participant.id),
        ]
        name = distinct_name(guest.participant.display_name or "", taken)
        return Guest(guest.room, Participant(guest.participant.id, name), guest.standing, guest.model)

    # -- hooks ----------------------------------------------------------------------------------------------------------

    async def _speech_started(self, mark: SpeechMark) -> None:
        session = self._sessions.get(mark.session_id)
        if session is not None:
            session.speech_started(mark.input_id, mark.at_ms)

    async def _speech_ended(self, mark: SpeechMark) -> None:
        session = self._sessions.get(mark.session_id)
        if session is not None:
            session.speech_ended(mark.input_id, mark.at_ms)

    async def _said(self, said: Transcription) -> HookResult[Transcription] | None:
        session = self._sessions.get(said.session_id)
        if session is None or await session.said(said.input_id, said.text):
            return None
        return HookResult.block(HELD)

    async def _adapt(self, event: AIGenerationEvent) -> HookResult[AIGenerationEvent] | None:
        here = [session for session in self._sessions.values() if session.guest.room == event.room_id]
        return None if all(session.adapt(event) for session in here) else HookResult.block(HELD)
