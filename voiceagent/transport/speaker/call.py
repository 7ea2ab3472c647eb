"""The line to whoever is in the room: a microphone is heard, a loudspeaker played on, and both come back when they were gone."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import Final

from voiceagent import clock
from voiceagent.audio.frame import SILENCE, AudioFrame
from voiceagent.audio.level import Level
from voiceagent.errors import TransportError
from voiceagent.transport.pieces import Pieces
from voiceagent.transport.speaker import devices
from voiceagent.transport.speaker.canceller import Canceller
from voiceagent.transport.speaker.capture import Capture
from voiceagent.transport.speaker.playout import AHEAD_MS, Playout

log = logging.getLogger(__name__)

LOOK_MS: Final = 1_000
"""A device that has asked for nothing, or brought nothing, for so long is gone, whatever its stream says of itself."""

AGAIN_MS: Final = 500
"""Between two looks for a device that is gone."""

_LEFT_MS: Final = 20


class SpeakerCall:
    """A Call. `run()` opens the devices and keeps them open, and ends with the line; `on_state` is told whether they are."""

    has_screen = False

    def __init__(
        self, session_id: str, microphone: str | None = None, loudspeaker: str | None = None, *, cancel: bool = True
    ) -> None:
        """Devices are named by a part of their names; without, they are the machine's defaults. `cancel` False: the microphone
        does not hear the loudspeaker, as with headphones."""
        self.muted = False
        self.level = Level()
        self.on_state: Callable[[bool], None] = lambda _: None
        self._session_id = session_id
        self._microphone, self._loudspeaker = microphone, loudspeaker
        self._canceller = Canceller() if cancel else None
        self._pieces = Pieces(clock.now())
        self._capture: Capture | None = None
        self._playout: Playout | None = None
        self._came = asyncio.Event()
        self._over = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    @property
    def session_id(self) -> str:
        """Names this line."""
        return self._session_id

    async def run(self) -> None:
        """Until the line is over; its owner gives it a task. Raises TransportError when the devices cannot be had at first: those
        that go later are looked for until they are back."""
        known = False
        while not self._over.is_set():
            try:
                async with self._opened():
                    known = True
                    self.on_state(True)
                    await self._watch()
            except TransportError as error:
                if not known:
                    raise
                log.info("line %s: not back yet: %s", self._session_id, error)
            if not self._over.is_set():
                self.on_state(False)
                await self._waits(AGAIN_MS)
                await asyncio.to_thread(devices.refresh)

    async def frames(self) -> AsyncIterator[AudioFrame]:
        """What is said in the room, one frame every 20 ms until the line is over; silence while muted, and without a device."""
        while not self._over.is_set():
            self._take_in()
            now = clock.now()
            frame = self._pieces.take(now)
            if frame is not None:
                self.level.add(frame.samples)
                yield AudioFrame(SILENCE, frame.at) if self.muted else frame
                await asyncio.sleep(0)
                continue
            self._came.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0, self._pieces.due - now) / 1000):
                    await self._came.wait()

    def play(self, frame: AudioFrame) -> int:
        """Takes the next 20 ms for the loudspeaker; without one it is as good as heard."""
        return 0 if self._playout is None or self._over.is_set() else self._playout.play(frame.samples)

    def clear(self) -> int:
        """Drops what the loudspeaker has not been given; returns how many 16 kHz samples that was."""
        return 0 if self._playout is None else self._playout.clear()

    @property
    def queued(self) -> int:
        """16 kHz samples that the loudspeaker has not been given."""
        return 0 if self._playout is None else self._playout.queued

    @property
    def behind(self) -> int:
        """16 kHz samples that the device itself holds, by its own word."""
        return 0 if self._playout is None else self._playout.behind

    async def hang_up(self) -> None:
        """Closes the line once what is queued has left; safe to call twice."""
        deadline = clock.now() + AHEAD_MS
        while self.queued and clock.now() < deadline and not self._over.is_set():
            await self._waits(_LEFT_MS)
        self._over.set()
        self._came.set()

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[None]:
        """Both devices, opened and closed in threads: that takes up to a second."""
        stack = contextlib.ExitStack()
        try:
            self._capture, self._playout = await asyncio.to_thread(self._open, stack)
            yield
        finally:
            self._capture = self._playout = None
            await asyncio.to_thread(stack.close)

    def _open(self, stack: contextlib.ExitStack) -> tuple[Capture, Playout]:
        capture = Capture(devices.find("input", self._microphone), lambda: self._loop.call_soon_threadsafe(self._came.set))
        playout = Playout(devices.find("output", self._loudspeaker))
        stack.enter_context(playout.opened())
        stack.enter_context(capture.opened())
        return capture, playout

    async def _watch(self) -> None:
        """Returns when a device stands still, or the line is over."""
        before = (-1, -1)
        while not self._over.is_set() and self._capture is not None and self._playout is not None:
            await self._waits(LOOK_MS)
            blocks = self._capture.blocks, self._playout.blocks
            if any(now == then for now, then in zip(blocks, before, strict=True)):
                log.warning("line %s: a sound device has gone; looking for it", self._session_id)
                return
            before = blocks

    async def _waits(self, ms: int) -> None:
        """So long, or until the line is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ms / 1000):
                await self._over.wait()

    def _take_in(self) -> None:
        """What the devices brought since: what sounded first, then what was heard over it."""
        if self._capture is None or self._playout is None:
            return
        sounded, heard = self._playout.sounded(), self._capture.read()
        if self._canceller is not None:
            self._canceller.played(sounded)
            heard = self._canceller.heard(heard)
        if heard.size:
            self._pieces.add(heard, clock.now())
