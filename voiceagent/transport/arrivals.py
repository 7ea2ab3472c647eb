"""What a browser's packets sound like: one frame every 20 ms, with what is missing concealed."""

from collections import deque
from typing import Final

import numpy as np

from voiceagent.audio.frame import FRAME_SAMPLES, SILENCE, AudioFrame, Samples
from voiceagent.audio.jitter import SLOT, JitterBuffer, Missing, Packet, Place
from voiceagent.audio.thirds import Thirds
from voiceagent.transport.opus import OpusDecoder

CONCEALED: Final = 5
"""So many missing frames in a row are concealed; by then the decoder has faded out, and silence follows."""

QUIET: Final = 0.125
LOUDEST_KEPT: Final = 0.995
NOISE: Final = 100.0
"""A frame is quiet when its peak is 18 dB below the highest of late (which fades by half in 3 s), or below -50 dBFS."""

_NOTHING: Final = np.zeros(SLOT, dtype=np.int16)


class Arrivals:
    """Decides by packets and the clock which 20 ms come next; whoever listens may count time in frames.

    Packets are decoded here, in the jitter buffer's order, one decoder a line: 0.05 ms each. While more was handed on than was
    sent (after packets that came very late), quiet frames are left out.
    """

    def __init__(self, began_ms: int) -> None:
        self._buffer = JitterBuffer(began_ms)
        self._decoder = OpusDecoder()
        self._thirds = Thirds()
        self._ready: deque[Samples] = deque()
        self._rest: Samples = SILENCE[:0]
        self._given = 0
        self._missing = CONCEALED
        self._loudest = 0.0

    @property
    def due(self) -> int:
        """When something takes the place of the next frame, in milliseconds on the loop's clock."""
        return self._buffer.due

    @property
    def ahead_ms(self) -> int:
        """By how much what is heard lies behind what is said, for packets that came very late."""
        return self._buffer.ahead_ms

    def add(self, packet: Packet, now: int) -> None:
        """Takes a packet, in whatever order they come."""
        self._buffer.add(packet, now)

    def take(self, now: int) -> AudioFrame | None:
        """The next frame, if its sound is here or its time is over; None: ask again at `due`, or when more was added."""
        while not self._ready:
            place = self._buffer.take(now)
            if place is None:
                return None
            self._hear(self._sound(place))
        frame = AudioFrame(self._ready.popleft(), self._given * FRAME_SAMPLES)
        self._given += 1
        return frame

    def _sound(self, place: Place) -> Samples:
        if isinstance(place, Missing):
            self._missing += 1
            if self._missing > CONCEALED + 1:
                return SILENCE
            sound = self._decoder.conceal() if self._missing <= CONCEALED else _NOTHING
        else:
            self._missing = 0
            sound = _of_length(self._decoder.decode(place.payload), place.ticks)
        return self._thirds.process(sound)

    def _hear(self, sound: Samples) -> None:
        """Cuts sound into frames; a quiet one is left out when time runs ahead."""
        if len(self._rest):
            sound = np.concatenate((self._rest, sound))
        whole = len(sound) // FRAME_SAMPLES * FRAME_SAMPLES
        for start in range(0, whole, FRAME_SAMPLES):
            frame = sound[start : start + FRAME_SAMPLES]
            if self._is_quiet(frame) and self._buffer.ahead_ms:
                self._buffer.leave_out()
            else:
                self._ready.append(frame)
        self._rest = sound[whole:]

    def _is_quiet(self, frame: Samples) -> bool:
        peak = float(max(frame.max(), -int(frame.min())))
        self._loudest = max(peak, self._loudest * LOUDEST_KEPT)
        return peak < max(NOISE, QUIET * self._loudest)


def _of_length(sound: Samples, ticks: int) -> Samples:
    """What a packet claims to last is what it lasts, also one whose inside says otherwise."""
    if len(sound) == ticks:
        return sound
    return np.concatenate((sound[:ticks], np.zeros(max(0, ticks - len(sound)), dtype=np.int16)))
