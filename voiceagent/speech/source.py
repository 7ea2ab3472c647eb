"""Whether speech comes from a person in the room or out of a loudspeaker: a guess by level, bandwidth and continuity."""

import math
from typing import Final

import numpy as np

from voiceagent.audio.frame import FRAME_MS, RATE, Samples
from voiceagent.audio.level import dbfs
from voiceagent.speech.traits import Timbre

_WINDOW: Final = 512
_MOST_WINDOWS: Final = 200
_REACH_DB: Final = 45.0
"""How far under the strongest third of the speech band a band still belongs to the sound."""

_LOWEST: Final = 300
_STEP: Final = 250

_TALK_MS: Final = 60_000
"""The time over which talk is continuous or not, roughly: it is forgotten by then to a third."""


def timbre(voice: Samples) -> Timbre:
    """Of speech without silences (16 kHz mono int16, any length)."""
    count = voice.size // _WINDOW
    if not count:
        return Timbre(dbfs(voice), 0)
    windows = voice[: count * _WINDOW].reshape(count, _WINDOW).astype(np.float32)
    chosen = windows[np.unique(np.linspace(0, count - 1, min(count, _MOST_WINDOWS)).astype(int))]
    power = (np.abs(np.fft.rfft(chosen * np.hanning(_WINDOW).astype(np.float32))) ** 2).mean(axis=0)
    hertz = np.fft.rfftfreq(_WINDOW, 1 / RATE)
    edges = range(_LOWEST, RATE // 2, _STEP)
    bands = np.array([power[(hertz >= edge) & (hertz < edge + _STEP)].mean() for edge in edges])
    levels = 10 * np.log10(np.maximum(1e-9, bands))
    within = np.flatnonzero(levels >= levels.max() - _REACH_DB)
    return Timbre(dbfs(voice), edges[int(within[-1])] + _STEP)


class Talk:
    """One line's: how much of the last minute or so somebody spoke."""

    def __init__(self) -> None:
        self._share = 0.0

    @property
    def share(self) -> float:
        """0 to 1."""
        return self._share

    def hear(self, *, voiced: bool) -> None:
        """The next 20 ms."""
        self._share += (float(voiced) - self._share) * FRAME_MS / _TALK_MS


_BASE: Final = -1.5
_NARROW: Final = 3.0
"""Added in full for telephone sound, which reaches 3.4 kHz, and not at all from 7 kHz on."""

_ENDLESS: Final = 4.0
"""Added in full where somebody speaks all the time; people who talk to an agent leave it half of the time at least."""

_FAINT: Final = 0.05
"""Added for each decibel that it is fainter than people here usually are."""


def loudspeaker(heard: Timbre, talk: float, usual: float | None = None) -> float:
    """The chance (0 to 1) that it came out of a loudspeaker: `talk` is the share of the last minute that somebody spoke, `usual`
    the level in dBFS of people who are known to be here; None while nobody is.

    A weak guess: noise reaches all frequencies, so that bandwidth tells nothing in a room, and some people's sound is narrow.
    """
    narrow = min(1.0, max(0.0, (7_000 - heard.reach) / 3_600))
    endless = min(1.0, max(0.0, (talk - 0.3) / 0.5))
    faint = 0.0 if usual is None else min(20.0, max(-20.0, usual - heard.level))
    return 1 / (1 + math.exp(-(_BASE + _NARROW * narrow + _ENDLESS * endless + _FAINT * faint)))
