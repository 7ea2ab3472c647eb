"""The sound that a browser is sent: paced by the clock, and nothing at all while nobody speaks."""

import asyncio

import av
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack

from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, AudioFrame
from voiceagent.transport.opus import stamped
from voiceagent.transport.outbox import Outbox
from voiceagent.transport.spurt import Listener, Spurts

LAG_MS = 100
"""A sender this late does not hurry after its slots; it takes up the clock again."""


class SpeechTrack(MediaStreamTrack):
    """Hands aiortc one Opus packet every 20 ms while something waits, stamped with real time across pauses.

    Packets leave already encoded, so no frame goes through asyncio's default thread pool.
    """

    kind = "audio"

    def __init__(self, spurts: Spurts) -> None:
        super().__init__()
        self._outbox = Outbox()
        self._listener = Listener(spurts)
        self._filled = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._began: int | None = None
        self._slot = -1

    @property
    def queued(self) -> int:
        """Samples that have not left."""
        return self._outbox.queued

    def play(self, frame: AudioFrame) -> int:
        """Queues a frame; never blocks. Returns how many samples were dropped since too much waited."""
        dropped = self._outbox.put(frame.samples, clock.now())
        self._filled.set()
        self._drained.clear()
        return dropped

    def clear(self) -> int:
        """Drops what waits; the listener hears nothing more of it."""
        return self._outbox.clear()

    async def drained(self) -> None:
        """Returns once all that was queued has left, its tail of silence included."""
        await self._drained.wait()

    async def recv(self) -> "av.Packet[av.AudioStream]":
        """The next packet, when its time has come; called by aiortc's sender alone."""
        while self.readyState == "live":
            await self._slot_begins()
            samples = self._outbox.take()
            if samples is not None:
                return stamped(self._listener.encode(samples), self._slot)
            self._listener.pause()
        raise MediaStreamError

    async def _slot_begins(self) -> None:
        if self._outbox.idle:
            self._listener.pause()
            self._drained.set()
            self._filled.clear()
            await self._filled.wait()
        now = clock.now()
        if self._began is None:
            self._began = now
        while (ready := self._outbox.ready_at(now)) > now:
            await clock.sleep_until(min(ready, now + FRAME_MS))
            now = clock.now()
        at = self._began + (self._slot + 1) * FRAME_MS
        if now - at > LAG_MS:
            self._slot = (now - self._began) // FRAME_MS
            return
        self._slot += 1
        await clock.sleep_until(at)
