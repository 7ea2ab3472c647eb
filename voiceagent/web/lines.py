"""Who is on the line: one entry a browser, from its offer until its call has ended."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Protocol

from voiceagent.room.events import Participant
from voiceagent.transport.call import Call
from voiceagent.transport.chat import Chat
from voiceagent.transport.spurt import Spurts
from voiceagent.transport.webrtc import WebRtcCall
from voiceagent.web.names import distinct_name
from voiceagent.web.refusal import Refused
from voiceagent.web.rooms import Rooms
from voiceagent.web.settings import WebSettings
from voiceagent.web.standing import Standing

log = logging.getLogger(__name__)

REPLACED_MS = 5_000


class Receiver(Protocol):
    """Runs a call in its room until it ends; the voice layer's Reception."""

    async def receive(self, call: Call, *, room_id: str, participant: Participant) -> None:
        """Joins, greets, hears, hangs up and leaves."""
        ...


@dataclass(frozen=True, slots=True)
class Beside:
    """What goes on beside a line's sound: `run` has a task of its own while the line lives; an error in it ends the line."""

    chat: Chat
    run: Callable[["Line"], Coroutine[object, object, None]]


@dataclass(slots=True, eq=False)
class Line:
    """One browser's call in one room; `epoch` names the opening of the room that it belongs to, `before` the line it replaces."""

    room: str
    participant: Participant
    call: WebRtcCall
    standing: Standing
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    before: "Line | None" = None
    epoch: str = ""
    beside: Beside | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Whose line it is, and in which room."""
        return self.room, self.participant.id


class Lines:
    """All browsers on the line; use it as `async with`, which ends them all.

    Each line has a task of its own; one that fails is logged and takes nobody with it.
    """

    def __init__(self, receiver: Receiver, rooms: Rooms, settings: WebSettings, agent: Callable[[], str]) -> None:
        """`agent` tells the agent's name, which no guest may take."""
        self._receiver = receiver
        self._rooms = rooms
        self._settings = settings
        self._agent = agent
        self._tasks = asyncio.TaskGroup()
        self._lines: dict[tuple[str, str], Line] = {}
        self._living: set[Line] = set()
        self._closing = False
        self._spurts = Spurts()

    async def __aenter__(self) -> "Lines":
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._closing = True
        for line in tuple(self._living):
            await line.call.close()
        await self._tasks.__aexit__(kind, error, trace)

    async def open(
        self, room: str, person: Participant, offer: str, standing: Standing, *, beside: Beside | None = None
    ) -> tuple[Line, str]:
        """Answers an offer; a line that the same participant has in this room is replaced, once the answer is made.

        The name is cleaned, and numbered when somebody has it. Raises Refused, TransportError; then nothing has changed.
        """
        self._refuse_when_closing()
        others = [line for line in self._living if line.key != (room, person.id)]
        here = [line for line in others if line.room == room]
        if len(here) >= self._settings.max_people:
            raise Refused(503, f"the room is full: at most {self._settings.max_people} people at once")
        if len(others) >= self._settings.max_lines:
            raise Refused(503, f"the server is full: at most {self._settings.max_lines} people at once")
        taken = [self._agent(), *(line.participant.display_name or "" for line in here)]
        person = replace(person, display_name=distinct_name(person.display_name or "", taken))
        chat = beside.chat if beside is not None else None
        call = WebRtcCall(f"call-{secrets.token_hex(8)}", chat, spurts=self._spurts)
        line = Line(room, person, call, standing, beside=beside)
        self._living.add(line)
        try:
            answer = await line.call.accept(offer)
            self._refuse_when_closing()
            await self._rooms.enter(room, person.id)
        except BaseException:
            self._living.discard(line)
            await line.call.close()
            raise
        line.epoch = self._rooms.epoch(room)
        line.before = self._lines.get(line.key)
        self._lines[line.key] = line
        self._tasks.create_task(self._serve(line), name=f"line {line.call.session_id}")
        return line, answer

    def _refuse_when_closing(self) -> None:
        if self._closing:
            raise Refused(503, "the server is closing: try again later")

    def find(self, room: str, participant: str) -> Line:
        """The participant's line in this room. Raises Refused 404."""
        line = self._lines.get((room, participant))
        if line is None:
            raise Refused(404, "you are not on the line in this room: join first")
        return line

    async def _serve(self, line: Line) -> None:
        try:
            await self._give_way(line)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(line.call.run(), name=f"sound {line.call.session_id}")
                if line.beside is not None:
                    tasks.create_task(line.beside.run(line), name=f"beside {line.call.session_id}")
                expiring = tasks.create_task(self._expire(line), name=f"token {line.call.session_id}")
                if await line.call.connected():
                    await self._receiver.receive(line.call, room_id=line.room, participant=line.participant)
                expiring.cancel()
                await line.call.close()
        except* Exception:
            log.exception("line %s in room %s failed", line.call.session_id, line.room)
        finally:
            await line.call.close()
            self._forget(line)
            self._rooms.leave(line.room)
            line.ended.set()

    async def _expire(self, line: Line) -> None:
        await line.standing.ended()
        log.info("line %s: its token has expired", line.call.session_id)
        line.call.end()

    async def _give_way(self, line: Line) -> None:
        before, line.before = line.before, None
        if before is None:
            return
        await before.call.close()
        try:
            async with asyncio.timeout(REPLACED_MS / 1000):
                await before.ended.wait()
        except TimeoutError:
            log.warning("line %s did not end within %d s of being replaced", before.call.session_id, REPLACED_MS // 1000)

    def _forget(self, line: Line) -> None:
        self._living.discard(line)
        if self._lines.get(line.key) is line:
            del self._lines[line.key]
