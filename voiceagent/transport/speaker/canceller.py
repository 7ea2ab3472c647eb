"""What the loudspeaker plays, taken out of what the microphone hears: WebRTC's audio processing, in this process."""

from typing import Final

import numpy as np
from livekit.rtc import AudioFrame as Block
from livekit.rtc import AudioProcessingModule

from voiceagent.audio.frame import RATE, Samples

BLOCK: Final = RATE // 100
"""It works on exactly 10 ms at a time."""


class Canceller:
    """One microphone's. 16 kHz mono in and out, in pieces of any length; 10 ms cost 0.12 ms. It finds the delay between the two
    by itself, up to 400 ms, within a second of sound; noise is softened too."""

    def __init__(self) -> None:
        self._processing = AudioProcessingModule(echo_cancellation=True, noise_suppression=True, high_pass_filter=True)
        self._far: Samples = np.zeros(0, dtype=np.int16)
        self._near: Samples = np.zeros(0, dtype=np.int16)

    def played(self, samples: Samples) -> None:
        """What the loudspeaker was given next."""
        blocks, self._far = _blocks(self._far, samples)
        for block in blocks:
            self._processing.process_reverse_stream(block)

    def heard(self, samples: Samples) -> Samples:
        """What the microphone heard next, without the loudspeaker: whole blocks, the rest comes with the next piece."""
        blocks, self._near = _blocks(self._near, samples)
        for block in blocks:
            self._processing.process_stream(block)
        return np.concatenate([np.frombuffer(block.data, dtype=np.int16) for block in blocks] or [samples[:0]])


def _blocks(rest: Samples, samples: Samples) -> tuple[list[Block], Samples]:
    sound = np.concatenate((rest, samples))
    whole = sound.size // BLOCK * BLOCK
    return [Block(bytearray(part.tobytes()), RATE, 1, BLOCK) for part in sound[:whole].reshape(-1, BLOCK)], sound[whole:]
