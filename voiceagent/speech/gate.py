"""A cheap notice of what may be a voice: a few microseconds a frame, and in noise everything is one to it."""

import webrtcvad

from voiceagent.audio.frame import RATE, Samples


class Gate:
    """One line's."""

    def __init__(self, mode: int = 3) -> None:
        """`mode` 0..3: how readily it calls a frame silence."""
        self._vad = webrtcvad.Vad(mode)

    def __call__(self, frame: Samples) -> bool:
        """Whether 20 ms may hold a voice."""
        return bool(self._vad.is_speech(frame.tobytes(), RATE))
