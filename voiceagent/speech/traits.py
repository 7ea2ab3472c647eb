"""What the sound of an utterance tells of who said it."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voiceagent.audio.frame import Samples

Print = NDArray[np.float32]
"""A voice, shape (256,), of unit length; two are as alike as their product says: 1 is the same, 0 any two."""


@dataclass(frozen=True, slots=True)
class Timbre:
    """How an utterance sounds: its loudness in dBFS without its silences, and the highest frequency, in Hz, that is in it."""

    level: float
    reach: int


@dataclass(frozen=True, slots=True, eq=False)
class Traits:
    """By the sound alone: the print of whoever speaks, its timbre, and how much voice there was, pauses left out."""

    print: Print
    timbre: Timbre
    voice_ms: int


class TraitsReader(Protocol):
    """Reads them off an utterance; called from the event loop and must not block it."""

    async def traits(self, sound: Samples) -> Traits | None:
        """Of `sound` (16 kHz mono int16, any length); None where nobody speaks in it. Raises SpeechError."""
        ...


def unit(vector: NDArray[np.floating[Any]]) -> Print:
    """A vector of any length as a print."""
    return (vector / max(1e-9, float(np.linalg.norm(vector)))).astype(np.float32)
