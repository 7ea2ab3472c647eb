"""What goes out to one client, one event after the other: what is to be told, and sound as it leaves."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from voiceagent import clock
from voiceagent.transport.socket import SocketCall
from voiceagent.web.lifeline import text_of
from voiceagent.web.realtime.answers import Answers
from voiceagent.web.realtime.items import Event
from voiceagent.web.realtime.response import Response
from voiceagent.web.realtime.sound import Format, SoundOut

WAITING: Final = 4_000
"""Events that may wait for a client who takes none."""

SLOW_S: Final = 10
"""How long one write may wait."""

_OLD_NAMES: Final = {
    "response.output_audio.delta": "response.audio.delta",
    "response.output_audio.done": "response.audio.done",
    "response.output_audio_transcript.delta": "response.audio_transcript.delta",
    "response.output_audio_transcript.done": "response.audio_transcript.done",
    "response.output_text.delta": "response.text.delta",
    "response.output_text.done": "response.text.done",
    "conversation.item.added": "conversation.item.created",
}
_UNKNOWN_OF_OLD: Final = frozenset({"conversation.item.done"})


class Outlet:
    """Events first, since sound that waits belongs to what they open; what they close has left before."""

    def __init__(self, send: Callable[[str], Awaitable[None]], call: SocketCall, answers: Answers, *, old: bool) -> None:
        """`old`: the client knows the names of the protocol's first version."""
        self._send = send
        self._call = call
        self._answers = answers
        self._old = old
        self._events: deque[Event] = deque()
        self._sound = SoundOut(Format.PCM)
        self._of: Response | None = None
        self._wake = asyncio.Event()
        self._number = 0
        call.when_waiting(self._wake.set)

    @property
    def full(self) -> bool:
        """Whether the client takes too little of what it is told."""
        return len(self._events) > WAITING

    def put(self, events: Iterable[Event]) -> None:
        """Events that are to be told, in order."""
        self._events.extend(events)
        self._wake.set()

    def shape(self, format: Format) -> None:
        """How sound is written from the next answer on."""
        if format is not self._sound.format:
            self._sound = SoundOut(format)

    async def run(self) -> None:
        """Writes until it is cancelled. Raises TimeoutError for a client who takes nothing."""
        while True:
            if self._events:
                await self._tell(self._events.popleft())
            elif not await self._sounds():
                self._wake.clear()
                await self._wake.wait()

    async def _sounds(self) -> bool:
        """Sends the next 20 ms if they are somebody's; False when nothing can leave now."""
        target = self._answers.target
        samples = self._call.take() if target is not None else None
        if target is None or samples is None:
            return False
        self._of = target
        self._answers.sent(samples, clock.now())
        delta = self._sound.piece(samples)
        if delta:
            await self._write(target.sound(delta))
        return True

    async def _tell(self, event: Event) -> None:
        if event["type"] == "response.output_audio.done" and self._of is not None and event["response_id"] == self._of.id:
            of, self._of = self._of, None
            rest = self._sound.rest()
            if rest:
                await self._write(of.sound(rest))
        await self._write(event)

    async def _write(self, event: Event) -> None:
        name = str(event["type"])
        if self._old:
            if name in _UNKNOWN_OF_OLD:
                return
            event = {**event, "type": _OLD_NAMES.get(name, name)}
        self._number += 1
        async with asyncio.timeout(SLOW_S):
            await self._send(text_of({"event_id": f"event_{self._number}", **event}))
