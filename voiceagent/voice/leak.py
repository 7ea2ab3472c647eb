"""How much of what a microphone picks up is the sound that its own listener is being played."""

from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, RATE, SILENCE, Samples

Bands = NDArray[np.float32]
"""Power in each band, shape (BANDS,)."""

OWN: Final = 0.85
"""From this share on nobody but the agent is heard."""

BANDS: Final = 24
_WINDOW: Final = 512
_DELAYS: Final = 30
"""Frames that an echo may be late: 20 to 600 ms after the sound was handed over."""

_FIRST: Final = 12
"""Frames from which the strength of an echo is first taken."""

_KEEP: Final = 0.95
"""Of the correlation, a frame: it follows 400 ms."""

_HOLD: Final = 0.75
"""Of the share, a frame: it follows 80 ms."""

_SURE: Final = 0.86
"""Correlation that is an echo: people over other speech stay under 0.8, echo is at 0.9 within 100 ms."""

_AGAIN: Final = 0.9
"""Correlation at which the strength is taken anew, in case the echo has become stronger."""

_RUN: Final = 3
"""Frames in a row that have to be sure."""

_UNKNOWN: Final = 40
_SUSPECT: Final = 12
"""While nothing is known of a line, in its first 40 frames of sound, the first 12 frames that are loud pass for an echo."""

_LEARN_NOISE: Final = 5
"""Frames of a call that are taken for its noise, until a quieter one comes."""

_FLOOR: Final = 3.0
"""Power of a band that counts as silence; over all bands -62 dBFS."""

_SOUNDS: Final = 30 * BANDS * _FLOOR
_HEADROOM: Final = 2.0
"""How much louder than expected an echo may be in one band of one frame."""

_RING: Final = 0.5
"""What is left of an echo's power a frame later: rooms that ring for 400 ms."""

_BURST: Final = 10
"""Frames of a microphone that may come at once, after a stall."""

_HANN: Final = np.hanning(_WINDOW).astype(np.float32)


def _filters() -> NDArray[np.float32]:
    """Mean power of the bins of each band, evenly spaced by octaves from 200 to 6,400 Hz; shape (bins, BANDS)."""
    edges = np.geomspace(200, 6_400, BANDS + 1)
    bins = np.fft.rfftfreq(_WINDOW, 1 / RATE)[:, None]
    inside = (bins >= edges[:-1]) & (bins < edges[1:])
    centres = np.abs(bins - (edges[:-1] + edges[1:]) / 2).argmin(axis=0)
    inside[centres, np.arange(BANDS)] = True
    shares: NDArray[np.float32] = (inside / inside.sum(axis=0) / (_WINDOW * _WINDOW)).astype(np.float32)
    return shares


_FILTERS: Final = _filters()


class Leak:
    """One line's echo, learned while it is used; pure. `played()` takes what its listener is handed, `heard()` the microphone.

    Band energies of both are correlated over all delays (normalised, logarithmic, forgetting); where that is sure, the echo's
    strength in each band is followed, and what it explains of the microphone's energy is the share. Ways of this kind are usual
    for residual echo (C. Faller, C. Tournery, "Robust acoustic echo control using a simple echo path model", ICASSP 2006).
    """

    def __init__(self) -> None:
        self.share = 0.0
        self._handed: deque[tuple[int, Samples]] = deque(maxlen=_DELAYS)
        self._handed_slot = self._slot = 0
        self._tails = np.zeros((2, _WINDOW), np.float32)
        self._far = np.zeros((_DELAYS + _FIRST + 2, BANDS), np.float32)
        self._near = np.zeros((_FIRST, BANDS), np.float32)
        self._delays = _Delays()
        self._gain: Bands | None = None
        self._delay = 0
        self._expected = np.zeros(BANDS, np.float32)
        self._noise = np.full(BANDS, _FLOOR, np.float32)
        self._learned = self._heard = self._frames = self._loud = 0
        self._silent = _DELAYS
        self._own = self._all = 0.0

    @property
    def own(self) -> bool:
        """Whether nobody but the agent was heard in the last 80 ms."""
        return self.share >= OWN

    def played(self, samples: Samples, now_ms: int) -> None:
        """20 ms are handed to the listener; a time for which nothing was is silence."""
        self._handed_slot = _next_slot(self._handed_slot, now_ms, early=1)
        self._handed.append((self._handed_slot, samples))

    def heard(self, samples: Samples, now_ms: int) -> float:
        """Takes 20 ms of the microphone; the share, 0 to 1, of what was loud in the last 80 ms that is the echo of what plays."""
        self._slot = _next_slot(self._slot, now_ms, early=_BURST)
        far = self._taken(self._slot - 1)
        self._silent = 0 if far is not SILENCE else self._silent + 1
        near_power, far_power = self._powers(samples, far)
        if self._heard < _LEARN_NOISE:
            self._noise = np.maximum(near_power, _FLOOR)
        self._heard += 1
        self._noise += np.where(near_power < self._noise, (near_power - self._noise) * 0.3, self._noise * 0.01)
        self._near[1:], self._near[0] = self._near[:-1], near_power
        self._far[1:], self._far[0] = self._far[:-1], far_power
        if self._silent > _DELAYS + 2:
            self._own = self._all = self.share = 0.0
            return 0.0
        self._frames += 1
        loud = float(near_power.sum()) > 3 * (float(self._noise.sum()) + BANDS * _FLOOR)
        self._loud += loud
        self._learned += 1
        if self._delays.hear(np.maximum(near_power, 2 * self._noise), far_power, loud=loud):
            moved = self._gain is None or abs(self._delays.best - self._delay) > 1
            if moved or (self._learned >= _FIRST and not self.own and self._delays.peak > _AGAIN):
                self._learn(self._delays.best if moved else self._delay)
        self.share = self._explained(near_power, loud=loud) if loud or self._gain is not None else 0.0
        return self.share

    def _taken(self, slot: int) -> Samples:
        while self._handed and self._handed[0][0] < slot:
            self._handed.popleft()
        return self._handed.popleft()[1] if self._handed and self._handed[0][0] == slot else SILENCE

    def _powers(self, near: Samples, far: Samples) -> tuple[Bands, Bands]:
        self._tails[:, :-FRAME_SAMPLES] = self._tails[:, FRAME_SAMPLES:]
        self._tails[0, -FRAME_SAMPLES:], self._tails[1, -FRAME_SAMPLES:] = near, far
        spectrum = np.fft.rfft(self._tails * _HANN)
        power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32) @ _FILTERS
        return power[0], power[1]

    def _learn(self, delay: int) -> None:
        """The echo is sure: how strong it is in each band, from the last 240 ms."""
        sound = np.stack([self._behind(delay, back) for back in range(_FIRST)])
        self._delay, self._learned = delay, 0
        self._gain = np.exp(np.median(np.log(self._near + 1) - np.log(sound + _FLOOR), axis=0)).astype(np.float32)

    def _behind(self, delay: int, back: int = 0) -> Bands:
        """What was played about `delay` frames before the frame that lies `back` frames back."""
        first = max(0, delay - 1) + back
        sound: Bands = self._far[first : delay + 2 + back].max(axis=0)
        return sound

    def _explained(self, near: Bands, *, loud: bool) -> float:
        if self._gain is None:
            return float(loud and self._frames <= _UNKNOWN and self._loud <= _SUSPECT)
        sound = self._behind(self._delay)
        self._expected = np.maximum(self._gain * sound, _RING * self._expected)
        above = np.maximum(0, near - 2 * self._noise)
        echo = np.minimum(above, _HEADROOM * self._expected)
        self._own = _HOLD * self._own + float(np.sqrt(echo).sum())
        self._all = _HOLD * self._all + float(np.sqrt(above).sum())
        if float(sound.sum()) > _SOUNDS:
            self._follow(near, sound, float(echo.sum()) / (float(above.sum()) + 1e-9))
        return self._own / (self._all + 1e-9)

    def _follow(self, near: Bands, sound: Bands, explained: float) -> None:
        """The echo grows stronger while it explains what is heard, weaker always; a person over it teaches nothing."""
        assert self._gain is not None
        off = np.log(near + 1) - np.log(sound + _FLOOR) - np.log(self._gain + 1e-12)
        upward = 0.15 if explained > 0.7 else 0.0
        rate = np.where(off > 0, upward, 0.05) * (sound > sound.max() * 1e-4)
        self._gain *= np.exp(np.clip(off, -3, 3) * rate).astype(np.float32)


class _Delays:
    """At which delay the microphone follows what is played, and how surely."""

    def __init__(self) -> None:
        self.best = 0
        self.peak = 0.0
        self._runs = 0
        self._usual = np.full((2, BANDS), np.log(_FLOOR), np.float32)
        self._far = np.zeros((_DELAYS, BANDS), np.float32)
        self._common = np.zeros(_DELAYS, np.float32)
        self._near_energy = 1e-3
        self._far_energy = np.full(_DELAYS, 1e-3, np.float32)

    def hear(self, near: Bands, far: Bands, *, loud: bool) -> bool:
        """The next frame; whether an echo at the delay `best` is sure."""
        levels = np.log(np.stack((near, far)) + _FLOOR)
        for row, sounds in enumerate((loud, float(far.sum()) > _SOUNDS)):
            if sounds:
                self._usual[row] += (levels[row] - self._usual[row]) * 0.01
        now = levels - self._usual
        self._far[1:], self._far[0] = self._far[:-1], now[1]
        self._common = _KEEP * self._common + self._far @ now[0]
        self._near_energy = _KEEP * self._near_energy + float(now[0] @ now[0])
        self._far_energy = _KEEP * self._far_energy + np.einsum("ij,ij->i", self._far, self._far)
        correlation = self._common / np.sqrt(self._near_energy * self._far_energy + 1e-9)
        before, self.best = self.best, int(correlation.argmax())
        self.peak = float(correlation[self.best])
        sure = loud and self.peak > _SURE
        self._runs = (self._runs + 1 if abs(self.best - before) <= 1 else 1) if sure else 0
        return self._runs >= _RUN


def _next_slot(slot: int, now_ms: int, *, early: int) -> int:
    """Frames are counted one after the other as long as they are one frame late by the clock, or `early` ahead, at most."""
    due = now_ms // FRAME_MS
    return slot + 1 if -1 <= slot + 1 - due <= early else due
