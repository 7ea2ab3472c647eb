"""The voices that are measured: people's recordings and made ones, cut into utterances of one length, and a room around them."""

import asyncio
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
import soxr
from numpy.typing import NDArray

from voiceagent.audio.decode import read_sound
from voiceagent.audio.frame import RATE, Samples, to_samples
from voiceagent.speech.engines import TextToSpeech, sound_of
from voiceagent.speech.voices import voiced

ROOT: Final = Path(__file__).resolve().parents[2]
AUDIO: Final = Path(os.environ.get("VOICEAGENT_SHARED", ROOT.parent / "shared")) / "audio"

Kind = Literal["person", "made"]

PEOPLE: Final[dict[str, tuple[str, ...]]] = {
    "Kennedy": ("faster-whisper-jfk.flac",),
    "Quilter's reader": ("leopard-test.wav",),
    "French reader": ("leopard-test_fr.wav",),
    "Austen's reader": ("pocketsphinx-librivox-0870.wav", "pocketsphinx-librivox-0880.wav"),
    "card caller": ("pocketsphinx-cards-001.wav", "pocketsphinx-cards-002.wav", "pocketsphinx-cards-003.wav"),
    "lamp": ("wyoming-turn_on_the_living_room_lamp.wav",),
    "Jane's caller": ("openwakeword-hey_jane.wav",),
}
"""Real people by their recordings. That the three cards are one caller's, and the two chapters one reader's, their names say."""

ORDERS: Final = ("tau2-order_status.wav", "tau2-hi_how_are_you.wav", "tau2-thank_you.wav", "tau2-hello.wav")

TELEPHONE: Final = "pyannote-sample.wav"
DIANE: Final = ((6680, 7160), (8440, 9800), (10780, 14180), (17790, 21480), (28450, 29990))
SHEILA: Final = ((7630, 8160), (9840, 10780), (14440, 17770), (21940, 23980), (24060, 28430))
"""Where each of two people on a telephone speaks, in ms of the recording."""

BABBLE: Final = "tau2-noise_people_talking.wav"

ESPEAK: Final = ("en-us+f2", "en-us+m3", "en-us+m7", "en-us+Annie", "en-us+michel")
CENTRE: Final = tuple(
    f"en-us+{name}"
    for name in (
        *("m1", "m2", "m4", "m5", "m6", "m8", "f1", "f3", "f4", "f5", "steph", "belinda", "Andrea", "Mario", "Hugo", "edward"),
        *("grandma", "shelby", "quincy", "boris", "adam", "iven"),
    )
)
"""Made voices of which only the centre of prints is taken, and nothing is measured. Each differs; after en-gb none would."""

SENTENCES: Final = (
    "Could you tell me how long the library is open on a Saturday in winter?",
    "I would like to borrow the book about birds that we talked about yesterday.",
    "Please remind me tomorrow morning to water the flowers on the balcony.",
    "My sister comes to visit us next week, and she will stay until Sunday.",
)


@dataclass(frozen=True, slots=True, eq=False)
class Voice:
    """One person, or one made voice, and all that is heard of them."""

    name: str
    kind: Kind
    sounds: tuple[Samples, ...]

    def utterances(self, ms: int) -> list[Samples]:
        """Stretches with so much voice each, none of them in two, across pauses but not across recordings."""
        size = to_samples(ms)
        spoken = [voiced(sound) for sound in self.sounds]
        return [sound[at : at + size] for sound in spoken for at in range(0, sound.size - size + 1, size)]


def people() -> list[Voice]:
    """Everybody who was recorded."""
    known = [Voice(name, "person", tuple(recording(file) for file in files)) for name, files in PEOPLE.items()]
    return [*known, Voice("Diane", "person", _spans(DIANE)), Voice("Sheila", "person", _spans(SHEILA))]


def made(piper: TextToSpeech) -> list[Voice]:
    """Voices that programs speak with."""
    joe = tuple(asyncio.run(sound_of(piper, sentence)) for sentence in SENTENCES)
    espeak = [Voice(f"eSpeak {name}", "made", tuple(espeak_says(name, text) for text in SENTENCES)) for name in ESPEAK]
    orders = np.concatenate([recording(file) for file in ORDERS])
    return [Voice("Piper joe", "made", joe), Voice("order line", "made", (orders,)), *espeak]


def television() -> list[Voice]:
    """What a television is taken to be: two strangers on a telephone, and a crowd."""
    return [Voice("telephone", "person", (recording(TELEPHONE),)), Voice("crowd", "person", (recording(BABBLE),))]


def recording(file: str) -> Samples:
    """One of the recordings, 16 kHz mono."""
    return read_sound(AUDIO / file).samples


def _spans(spans: Sequence[tuple[int, int]]) -> tuple[Samples, ...]:
    """What one person says in the telephone recording, in one piece: each stretch is too short by itself."""
    sound = recording(TELEPHONE)
    return (np.concatenate([sound[to_samples(begin) : to_samples(end)] for begin, end in spans]),)


def espeak_says(voice: str, text: str, speed: int = 165) -> Samples:
    """A sentence by eSpeak NG."""
    done = subprocess.run(
        ["espeak-ng", "-v", voice, "-s", str(speed), "--stdout", text], capture_output=True, check=True, timeout=30
    )
    wide = np.frombuffer(done.stdout[44:], dtype="<i2").astype(np.float64)
    sound: NDArray[np.float64] = soxr.resample(wide, 22_050, RATE)
    return np.clip(sound, -32_768, 32_767).astype(np.int16)


def in_room(sound: Samples, *, level_db: float = -6.0, noise_db: float = -20.0, ring_ms: int = 300, seed: int = 1) -> Samples:
    """The sound as a microphone some metres off has it: quieter, with a tail that falls by 60 dB within `ring_ms`, and with a
    noise that is so far under it."""
    random = np.random.default_rng(seed)
    length = to_samples(ring_ms)
    tail = random.normal(size=length) * 10 ** (-3 * np.arange(length) / length) * 0.08
    tail[0] = 1.0
    size = sound.size + length
    heard = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(tail, size), size)[: sound.size] * 10 ** (level_db / 20)
    noise = random.normal(size=sound.size)
    pink = np.fft.irfft(np.fft.rfft(noise) / np.sqrt(np.maximum(1, np.arange(noise.size // 2 + 1))), noise.size)
    loud, pinks = float(np.sqrt(np.mean(heard**2))), float(np.sqrt(np.mean(pink**2)))
    return np.clip(heard + pink * loud / max(1e-9, pinks) * 10 ** (noise_db / 20), -32_768, 32_767).astype(np.int16)
