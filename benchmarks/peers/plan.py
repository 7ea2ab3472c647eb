"""What one run of one system is to do, written for its process by whoever starts it; plain JSON, so that any Python reads it."""

import json
import wave
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.speaker import RATE, Samples


@dataclass(frozen=True, slots=True)
class Clip:
    """Something a person says, or a noise they make: a 16 kHz mono wav, with the places (samples) where its sound begins and
    ends. `words`: what is said in it. `pauses`: how many pauses a made one has; 0 where nobody counted."""

    name: str
    path: str
    begin: int
    end: int
    words: str = ""
    pauses: int = 0

    def sound(self) -> Samples:
        """Its samples."""
        with wave.open(self.path) as file:
            return np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16)


@dataclass(frozen=True, slots=True)
class Plan:
    """One process: a system, a setting of it, the weights, and what is said to it. `lengths`: how many samples each of the long
    `replies` takes, spoken whole."""

    system: str
    setting: str
    whisper: str
    piper: str
    short: str
    replies: tuple[str, ...]
    lengths: tuple[int, ...]
    known: dict[str, str]
    floor_dbfs: float | None = -60.0
    idle_s: int = 8
    warm: tuple[Clip, ...] = ()
    waits: tuple[Clip, ...] = ()
    notes: tuple[Clip, ...] = ()
    pauses: tuple[Clip, ...] = ()
    barge: tuple[Clip, ...] = ()
    noises: tuple[Clip, ...] = ()
    murmurs: tuple[Clip, ...] = ()
    calls: tuple[int, ...] = ()

    def write(self, path: Path) -> None:
        """Keeps it."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """Reads it. Raises ValueError, KeyError or TypeError where it is none."""
        values = json.loads(path.read_text())
        for name in ("warm", "waits", "notes", "pauses", "barge", "noises", "murmurs"):
            values[name] = tuple(Clip(**clip) for clip in values[name])
        return cls(**{**values, **{name: tuple(values[name]) for name in ("replies", "lengths", "calls")}})


def write_wav(path: Path, sound: Samples) -> None:
    """A 16 kHz mono wav."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(sound.astype("<i2").tobytes())
