"""A recording as a caller: it speaks what is on it, and keeps what it heard, each at its place in time."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, SILENCE, AudioFrame, Samples, to_ms, to_samples
from voiceagent.errors import TransportError

AHEAD_MS: Final = 200
"""The most that may wait for the listener, as on every line."""

_JITTER_MS: Final = FRAME_MS
"""A frame that comes this much late still follows the last one without a gap, as it would in a listener's own buffer."""


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """A stretch that the person heard: `samples` (16 kHz mono int16) from `at_ms` on, counted from the opening of the line."""

    at_ms: int
    samples: Samples

    @property
    def ends_at_ms(self) -> int:
        """When the line was free again."""
        return self.at_ms + to_ms(self.samples.size)


class FileCall:
    """A Call whose person is a recording.

    The line opens with the first `frames()` or `play()`. It carries silence for `start_ms`, then the recording, then silence
    until `finish()`, `hang_up()`, or the end of `tail_ms`. Frame n is due (n + 1) * 20 ms after the opening, on the loop's
    clock: at once on a virtual loop, in real time otherwise, and never drifting. The listener has no buffer of its own:
    a frame has left whole in the moment it begins to sound, and only frames that wait behind one still sounding are queued.
    """

    has_screen = False
    """A recording sees nothing."""

    def __init__(self, session_id: str, sound: Samples, *, start_ms: int = 0, tail_ms: int | None = None) -> None:
        """`sound` is 16 kHz mono int16. `tail_ms`: silence after it before the person hangs up; None: never by themselves."""
        self.speaks_until_ms = start_ms + -(-sound.size * 1000 // to_samples(1000))
        self._session_id = session_id
        self._sound = sound
        self._start = to_samples(start_ms)
        self._leaves_at_ms = None if tail_ms is None else self.speaks_until_ms + tail_ms
        self._opened_at_ms: int | None = None
        self._taken = False
        self._closed = False
        self._never = 0
        self._heard: list[Heard] = []

    @property
    def session_id(self) -> str:
        """Names this line."""
        return self._session_id

    @property
    def opened_at_ms(self) -> int | None:
        """The loop's time at which the line opened, position 0 of everything said and heard; None before."""
        return self._opened_at_ms

    @property
    def closed(self) -> bool:
        """Whether either side has hung up."""
        return self._closed

    def heard(self) -> tuple[Heard, ...]:
        """Everything that left for the listener, in order; stretches never overlap, and what waits is not yet among them."""
        return tuple(self._heard[: len(self._heard) - self._waiting(self._position_ms())])

    async def frames(self) -> AsyncIterator[AudioFrame]:
        """The recording at the pace of sound. Raises TransportError when called a second time."""
        if self._taken:
            raise TransportError(f"call {self._session_id}: its sound is already being listened to")
        self._taken = True
        opened = self._open()
        number = 0
        while await self._still_open_at(opened + (number + 1) * FRAME_MS):
            yield AudioFrame(self._said(number * FRAME_SAMPLES), number * FRAME_SAMPLES)
            number += 1
            if self._leaves_at_ms is not None and number * FRAME_MS >= self._leaves_at_ms:
                self.finish()

    def play(self, frame: AudioFrame) -> int:
        """Takes the next 20 ms for the person's ear: heard now, or after what still sounds; ignored on a closed line.

        Returns how many waiting samples were dropped for it.
        """
        if self._closed:
            return 0
        self._open()
        now = self._position_ms()
        free_at = self._heard[-1].ends_at_ms if self._heard else 0
        self._heard.append(Heard(free_at if now - free_at <= _JITTER_MS and self._heard else max(now, free_at), frame.samples))
        return self._keep_near(now)

    def clear(self) -> int:
        """Drops the frames that wait; returns how many 16 kHz samples that was. What has begun to sound has left."""
        dropped = self._waiting(self._position_ms())
        del self._heard[len(self._heard) - dropped :]
        never, self._never = self._never, 0
        return never + dropped * FRAME_SAMPLES

    @property
    def queued(self) -> int:
        """16 kHz samples that wait behind a frame still sounding, or that a hang-up came before."""
        return self._never + self._waiting(self._position_ms()) * FRAME_SAMPLES

    @property
    def behind(self) -> int:
        """The listener hears what leaves at once."""
        return 0

    def finish(self) -> None:
        """The person hangs up, now."""
        self._never = self.clear()
        self._closed = True

    async def hang_up(self) -> None:
        """Closes the line once the last frame has been heard to its end; safe to call twice."""
        while not self._closed and self._heard and self._position_ms() < self._heard[-1].ends_at_ms:
            await clock.sleep_until(self._open() + self._heard[-1].ends_at_ms)
        self._closed = True

    async def _still_open_at(self, at_ms: int) -> bool:
        if not self._closed:
            await clock.sleep_until(at_ms)
        return not self._closed

    def _open(self) -> int:
        if self._opened_at_ms is None:
            self._opened_at_ms = clock.now()
        return self._opened_at_ms

    def _position_ms(self) -> int:
        return 0 if self._opened_at_ms is None else clock.now() - self._opened_at_ms

    def _said(self, at: int) -> Samples:
        """The 20 ms from position `at` of the line on: silence, sound, or the border of both."""
        begin = at - self._start
        piece = self._sound[max(begin, 0) : max(begin + FRAME_SAMPLES, 0)]
        if piece.size == FRAME_SAMPLES:
            return piece
        if not piece.size:
            return SILENCE
        frame = np.zeros(FRAME_SAMPLES, dtype=np.int16)
        offset = max(-begin, 0)
        frame[offset : offset + piece.size] = piece
        return frame

    def _waiting(self, now: int) -> int:
        """How many frames at the end of what was handed over have not begun to sound."""
        waiting = 0
        while waiting < len(self._heard) and self._heard[-1 - waiting].at_ms > now:
            waiting += 1
        return waiting

    def _keep_near(self, now: int) -> int:
        """Drops the oldest waiting frame, moving those behind it up, while the line would be too far ahead of the listener."""
        before = len(self._heard)
        while self._heard[-1].ends_at_ms - now > AHEAD_MS:
            oldest = len(self._heard) - self._waiting(now)
            later = self._heard[oldest + 1 :]
            self._heard[oldest:] = [replace(piece, at_ms=piece.at_ms - FRAME_MS) for piece in later]
        return (before - len(self._heard)) * FRAME_SAMPLES
