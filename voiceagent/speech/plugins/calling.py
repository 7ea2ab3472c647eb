"""How a plugin is called: one try, sound as LiveKit's frames, and its failures as ours, without what a message may hold."""

from typing import Final

import numpy as np
from livekit import rtc
from livekit.agents import APIConnectOptions, APIStatusError

from voiceagent.audio.convert import to_mono
from voiceagent.audio.frame import RATE, Samples
from voiceagent.errors import SpeechError

ONE_TRY: Final = APIConnectOptions(max_retry=0, timeout=5.0)
"""Trying again is ours: a plugin's own reconnect loses the sound that it had already sent."""


def frame_of(samples: Samples) -> rtc.AudioFrame:
    """16 kHz mono int16 as a frame of any length."""
    return rtc.AudioFrame(samples.tobytes(), RATE, 1, samples.size)


def samples_of(frame: rtc.AudioFrame) -> Samples:
    """The frame's sound, mono int16, at the frame's own rate."""
    wide: Samples = np.frombuffer(frame.data, dtype=np.int16)
    return wide if frame.num_channels == 1 else to_mono(wide.reshape(-1, frame.num_channels))


def failure(name: str, error: Exception) -> SpeechError:
    """What to tell of it: its kind and status; a plugin's message may hold a key or what was said."""
    status = f", status {error.status_code}" if isinstance(error, APIStatusError) else ""
    return SpeechError(f"{name} failed ({type(error).__name__}{status})")
