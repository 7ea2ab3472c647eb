"""What may sound over an agent, made here: coughs, slams, laughter and a hum by arithmetic, short words by the default voice."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voiceagent.audio.frame import RATE, Samples
from voiceagent.speech.engines import TextToSpeech, sound_of

Wave = NDArray[np.float64]

_OPEN = ((700.0, 150.0, 1.0), (1_200.0, 200.0, 0.7), (2_600.0, 300.0, 0.2))
_NASAL = ((250.0, 80.0, 1.0), (1_000.0, 150.0, 0.15), (2_200.0, 200.0, 0.05))
_RANDOM = np.random.default_rng(5)


def cough(ms: int = 250) -> Samples:
    """A burst of breath: noise through a throat, soon falling."""
    length = ms * RATE // 1000
    spectrum = np.fft.rfft(_RANDOM.normal(size=length))
    hertz = np.fft.rfftfreq(length, 1 / RATE)
    throat = 1 / (1 + (hertz / 1_500) ** 2) + 2 * np.exp(-(((hertz - 500) / 200) ** 2))
    time = np.arange(length) / length
    return _sound(np.fft.irfft(spectrum * throat, length) * np.minimum(1, time * 20) * np.exp(-3 * time))


def slam() -> Samples:
    """A door: a thump of 70 Hz and a crack."""
    time = np.arange(400 * RATE // 1000) / RATE
    return _sound(_RANDOM.normal(size=time.size) * np.exp(-time / 0.05) + 3 * np.sin(440 * time) * np.exp(-time / 0.08))


def laughter(times: int = 5) -> Samples:
    """Ha ha ha: a breath and a short falling vowel, four and a half times a second."""
    syllable = np.exp(-np.arange(90 * 16) / 1_200)
    parts: list[Wave] = []
    for number in range(times):
        parts += [
            _float(cough(60)) * 0.4,
            _voice(90, (265 - 15 * number, 255 - 15 * number), _OPEN) * syllable,
            np.zeros(70 * 16),
        ]
    return _sound(np.concatenate(parts))


def hum() -> Samples:
    """Mm-hm: two nasal syllables, the second one rising."""
    breath = _RANDOM.normal(size=60 * 16) * 0.06
    return _sound(np.concatenate([_voice(180, (115, 105), _NASAL), breath, _voice(280, (110, 140), _NASAL)]))


async def words(tts: TextToSpeech, text: str) -> Samples:
    """A word or a few, as somebody says them by the way."""
    return await sound_of(tts, text)


def _voice(ms: int, pitch: tuple[float, float], formants: Sequence[tuple[float, float, float]]) -> Wave:
    """A voice whose pitch glides, with formants of (hertz, width, strength)."""
    time = np.arange(ms * 16) / RATE
    tone = np.linspace(*pitch, time.size)
    phase = 2 * np.pi * np.cumsum(tone) / RATE
    waves = [
        np.sin(k * phase) * (0.03 + sum(strength * np.exp(-(((tone * k - at) / width) ** 2)) for at, width, strength in formants))
        for k in range(1, 25)
    ]
    voice: Wave = np.sum(waves, axis=0) * np.minimum(1, np.minimum(time, time[::-1]) / 0.02)
    return voice


def _float(sound: Samples) -> Wave:
    return sound / 10_000


def _sound(wave: Wave) -> Samples:
    sound: Samples = (wave / np.abs(wave).max() * 10_000).astype(np.int16)
    return sound
