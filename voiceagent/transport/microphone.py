"""A recording of some seconds by a microphone of this machine."""

from typing import Final

import numpy as np
import sounddevice

from voiceagent.audio.convert import Resampler, to_mono
from voiceagent.audio.frame import RATE, Samples
from voiceagent.errors import TransportError

_LATENCY_S: Final = 0.06


def record(seconds: float, device: str | None = None) -> Samples:
    """16 kHz mono, from the named device or the default one; blocks for as long. Raises TransportError."""
    try:
        rate = int(sounddevice.query_devices(device, "input")["default_samplerate"])
        sound = sounddevice.rec(
            round(seconds * rate), samplerate=rate, channels=1, dtype="int16", device=device, blocking=True, latency=_LATENCY_S
        )
    except (sounddevice.PortAudioError, ValueError) as error:
        raise TransportError(
            f"the microphone cannot be used ({error}); name another with --device, or give recordings"
        ) from error
    mono: Samples = to_mono(np.asarray(sound, dtype=np.int16))
    resampler = Resampler(rate, RATE)
    return np.concatenate([resampler.process(mono), resampler.flush()])
