"""What a line sends in, at whatever pace, as one frame every 20 ms: gaps become silence, floods are cut."""

import numpy as np

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, SILENCE, AudioFrame, Samples, to_samples

LATE_MS = 60
"""How long a frame may be overdue before silence takes its place; a packet's usual jitter is below it."""

AHEAD_MS = 400
"""How far frames may run ahead of the clock after a burst; what would go beyond is dropped, oldest first."""

GAP_SAMPLES = to_samples(1000)


class Arrivals:
    """Decides which 20 ms come next on a line, from samples as they arrive and from the clock when they do not.

    Sound is handed on as soon as it is here. A frame that is LATE_MS overdue is replaced by silence, so whoever listens may
    count time in frames; sound that arrives after all is still handed on, and the clock then catches up with it. A hole in
    the sender's own positions (a lost packet) is filled with silence at its place.
    """

    def __init__(self, began_ms: int) -> None:
        self._began = began_ms
        self._samples: Samples = np.zeros(0, dtype=np.int16)
        self._given = 0
        self._expected: int | None = None
        self._filled = 0
        self.dropped = 0

    def add(self, samples: Samples, position: int, now: int) -> None:
        """Takes 16 kHz mono samples whose first has this position on the sender's clock."""
        hole = 0
        if self._expected is not None:
            hole = min(max(0, position - self._expected - self._filled), GAP_SAMPLES)
        self._expected = position + len(samples)
        self._filled = 0
        self._samples = np.concatenate((self._samples, np.zeros(hole, dtype=np.int16), samples))
        self._bound(now)

    def take(self, now: int) -> AudioFrame | None:
        """The next frame, if its sound is here or its time is over; None: ask again at `due`, or when more was added."""
        if len(self._samples) >= FRAME_SAMPLES:
            samples = self._samples[:FRAME_SAMPLES]
            self._samples = self._samples[FRAME_SAMPLES:]
            return self._frame(samples)
        if now >= self.due:
            self._filled += FRAME_SAMPLES
            return self._frame(SILENCE)
        return None

    @property
    def due(self) -> int:
        """When silence takes the place of the next frame, in milliseconds on the loop's clock."""
        return self._began + self._given * FRAME_MS + LATE_MS

    def _frame(self, samples: Samples) -> AudioFrame:
        frame = AudioFrame(samples, self._given * FRAME_SAMPLES)
        self._given += 1
        return frame

    def _bound(self, now: int) -> None:
        behind = now - self._began - self._given * FRAME_MS
        room = max(FRAME_SAMPLES, to_samples(AHEAD_MS + behind))
        excess = len(self._samples) - room
        if excess > 0:
            self.dropped += excess
            self._samples = self._samples[excess:]
