"""A host's own detector of interruptions, asked about speech over a reply; its silence and its failures count as no opinion."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from voiceagent.audio.frame import FRAME_MS, Samples
from voiceagent.voice.detector import InterruptionDetector, Overlap

log = logging.getLogger(__name__)

KEPT: Final = 10_000 // FRAME_MS
"""Frames of an utterance that a detector is given at most, the last ones."""

EVERY_MS: Final = 300
"""How often it is asked about sound alone."""

Opinion = bool | None
"""Whether the person wants the turn; None: the detector does not know, or not in time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    overlap: Overlap
    then: Callable[[Opinion], None]


class Referee:
    """One call's. `ask` never waits, and asks one thing at a time: of what comes meanwhile, only the newest."""

    def __init__(self, detector: InterruptionDetector, timeout_ms: int, tasks: asyncio.TaskGroup) -> None:
        self._detector = detector
        self._timeout_ms = timeout_ms
        self._tasks = tasks
        self._sound: deque[Samples] = deque(maxlen=KEPT)
        self._voiced = self._lasted = 0
        self._asking: asyncio.Task[None] | None = None
        self._next: _Question | None = None

    @property
    def due(self) -> bool:
        """Whether it is time to ask about sound alone."""
        return self._asking is None and self._lasted > 0 and self._lasted % EVERY_MS == 0

    def hear(self, samples: Samples, *, voiced: bool) -> None:
        """The next 20 ms of what may be an utterance."""
        self._sound.append(samples)
        self._lasted += FRAME_MS
        self._voiced += FRAME_MS if voiced else 0

    def forget(self) -> None:
        """That was no utterance, or is over."""
        self._sound.clear()
        self._voiced = self._lasted = 0

    def ask(self, text: str, playing: str, then: Callable[[Opinion], None], *, final: bool = False) -> None:
        """Has `then` called with the detector's opinion; not at all when something newer is asked before its turn.

        `text` is what was understood so far, `final` when that is all, `playing` what the reply says.
        """
        sound = np.concatenate(self._sound) if self._sound else np.zeros(0, dtype=np.int16)
        self._next = _Question(Overlap(text, final, self._voiced, self._lasted, sound, playing), then)
        if self._asking is None:
            self._asking = self._tasks.create_task(self._ask(), name="interruption detector")

    def end(self) -> None:
        """Nobody waits for an opinion any more."""
        self._next = None
        if self._asking is not None:
            self._asking.cancel()

    async def _ask(self) -> None:
        try:
            while self._next is not None:
                question, self._next = self._next, None
                question.then(await self._opinion(question.overlap))
        finally:
            self._asking = None

    async def _opinion(self, overlap: Overlap) -> Opinion:
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                return await self._detector.judge(overlap)
        except TimeoutError:
            log.warning("the interruption detector gave no opinion within %d ms", self._timeout_ms)
        except Exception:
            log.exception("the interruption detector failed; words and sound decide")
        return None
