"""A line whose sound a WebSocket carries: it comes in pieces, and leaves as soon as somebody may have it."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final

from voiceagent import clock
from voiceagent.audio.frame import FRAME_SAMPLES, AudioFrame, Samples
from voiceagent.errors import TransportError
from voiceagent.transport.pieces import Pieces

MOST_FRAMES: Final = 10
"""Never more than 200 ms wait for the listener, as on every line."""


class SocketCall:
    """A Call over a socket that somebody else reads and writes: `hear()` is given what came, `take()` gives what is to leave.

    Frames leave at the pace at which they are handed over, which is that of sound: the listener is sent nothing ahead, and
    a reply that is cut stops there too. `deaf`: a listener who wants no sound; what is handed over is as good as heard.
    """

    has_screen = False
    """Nothing is known to be shown at the other end."""

    def __init__(self, session_id: str) -> None:
        self.deaf = False
        self._session_id = session_id
        self._pieces = Pieces(clock.now())
        self._out: deque[Samples] = deque()
        self._came = asyncio.Event()
        self._tell: Callable[[], object] = lambda: None
        self._taken = False
        self._ended = False

    @property
    def session_id(self) -> str:
        """Names this line."""
        return self._session_id

    @property
    def heard_ms(self) -> int:
        """The place on the line that has been heard."""
        return self._pieces.given_ms

    def hear(self, samples: Samples) -> bool:
        """The person's next sound, 16 kHz mono of any length; False, and nothing of it is heard, when too much waits."""
        taken = self._pieces.add(samples, clock.now())
        self._came.set()
        return taken

    def forget(self) -> None:
        """Lets go of the person's sound that has not been heard yet."""
        self._pieces.clear()

    async def frames(self) -> AsyncIterator[AudioFrame]:
        """The person's sound, silence where none comes. Raises TransportError when called a second time."""
        if self._taken:
            raise TransportError(f"call {self._session_id}: its sound is already being listened to")
        self._taken = True
        while not self._ended:
            now = clock.now()
            frame = self._pieces.take(now)
            if frame is not None:
                yield frame
                await asyncio.sleep(0)
                continue
            self._came.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0, self._pieces.due - now) / 1000):
                    await self._came.wait()

    def play(self, frame: AudioFrame) -> int:
        """Takes the next 20 ms for the person's ear; returns how many waiting samples were dropped for it."""
        if self._ended or self.deaf:
            return 0
        self._out.append(frame.samples)
        self._tell()
        if len(self._out) <= MOST_FRAMES:
            return 0
        return self._out.popleft().size

    def take(self) -> Samples | None:
        """What leaves next, 20 ms of 16 kHz; None when nothing waits."""
        return self._out.popleft() if self._out and not self._ended else None

    def when_waiting(self, tell: Callable[[], object]) -> None:
        """Names what to call whenever something was handed over."""
        self._tell = tell

    def clear(self) -> int:
        """Drops what waits; returns how many samples that was."""
        dropped = self.queued
        self._out.clear()
        return dropped

    @property
    def queued(self) -> int:
        """16 kHz samples that have not left."""
        return len(self._out) * FRAME_SAMPLES

    @property
    def behind(self) -> int:
        """Nobody tells what lies between the socket and the ear."""
        return 0

    def end(self) -> None:
        """The line is over, now; what waits is not sent any more, and counts as queued until it is cleared."""
        self._ended = True
        self._came.set()

    async def hang_up(self) -> None:
        """Closes the line; safe to call twice. What waits is 200 ms at most, and goes with it."""
        self.end()
