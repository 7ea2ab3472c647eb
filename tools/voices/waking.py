"""How often a wake word is heard when it is said, how late, how often when it is not, and what listening for it costs."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Final, get_args

import numpy as np
import soxr

from tools.voices.material import BABBLE, CENTRE, ESPEAK, ORDERS, PEOPLE, TELEPHONE, espeak_says, in_room, recording
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples, to_ms, to_samples
from voiceagent.judgment.evaluation.measures import Share
from voiceagent.speech.engines import TextToSpeech, sound_of
from voiceagent.speech.gate import Gate
from voiceagent.speech.microwake import MicroSpotter
from voiceagent.speech.settings import WakePhrase, WakeSettings
from voiceagent.speech.wake import WakeFilter
from voiceagent.voice.leak import Leak

PHRASES: Final[tuple[WakePhrase, ...]] = get_args(WakePhrase)
SPEEDS: Final = (140, 165, 190)
TAKES: Final = 5
"""Times that Piper says a phrase: its rhythm is drawn anew each time."""

PAUSE: Final = np.zeros(RATE, dtype=np.int16)
_LOUD: Final = 300


def words(phrase: WakePhrase) -> str:
    """A phrase as it is spoken."""
    return phrase.replace("_", " ").title()


@dataclass(frozen=True, slots=True)
class Hits:
    """What of one phrase's sayings was heard, and how many ms after their end the line was awake."""

    phrase: WakePhrase
    where: str
    heard: Share
    late_ms: tuple[int, ...]


def said(phrase: WakePhrase, piper: TextToSpeech) -> list[Samples]:
    """The phrase by all the made voices."""
    joe = [asyncio.run(sound_of(piper, words(phrase) + ".")) for _ in range(TAKES)]
    voices = ("en-us", "en-gb", *ESPEAK, *CENTRE[::4])
    return [*joe, *(espeak_says(voice, words(phrase), speed) for voice in voices for speed in SPEEDS)]


def hits(phrase: WakePhrase, piper: TextToSpeech) -> Iterator[Hits]:
    """Said close to the microphone, and some metres off."""
    sayings = said(phrase, piper)
    for where, away in (("close", False), ("in the room", True)):
        late: list[int] = []
        for seed, sound in enumerate(sayings):
            whole = np.concatenate([PAUSE, sound, PAUSE])
            woken = woken_at(phrase, in_room(whole, seed=seed) if away else whole)
            if woken is not None:
                late.append(woken - to_ms(PAUSE.size + int(np.flatnonzero(np.abs(sound) > _LOUD)[-1])))
        yield Hits(phrase, where, Share(len(late), len(sayings)), tuple(late))


def filter_for(phrase: WakePhrase) -> WakeFilter:
    """A line that sleeps, as the program makes it."""
    return WakeFilter(WakeSettings(phrase=phrase), MicroSpotter(phrase), MicroSpotter(phrase), Gate())


def woken_at(phrase: WakePhrase, sound: Samples) -> int | None:
    """At which ms a sound wakes a line, if it does."""
    line = filter_for(phrase)
    for number, frame in enumerate(frames(sound), 1):
        if line.hear(frame, number * 20):
            return number * 20
    return None


def frames(sound: Samples) -> Iterator[Samples]:
    """Its frames of 20 ms."""
    for at in range(0, sound.size - FRAME_SAMPLES + 1, FRAME_SAMPLES):
        yield sound[at : at + FRAME_SAMPLES]


def talk(hours: float) -> Iterator[Samples]:
    """Recordings in which nobody says a wake word, over and over: each time louder or softer, faster or slower, in more noise or
    less. "Hey Jane" is among them."""
    random, left = np.random.default_rng(0), hours * 3_600 * RATE
    files = (*(file for files in PEOPLE.values() for file in files), TELEPHONE, BABBLE, *ORDERS)
    known = [recording(file) for file in files]
    for number, sound in enumerate(cycle(known)):
        if left <= 0:
            return
        paced = soxr.resample(sound, RATE, RATE * random.uniform(0.9, 1.1))
        heard = in_room(paced, level_db=random.uniform(-12, 3), noise_db=random.uniform(-30, -8), seed=number)
        left -= heard.size
        yield heard


def distinct_seconds() -> int:
    """How long those recordings last, once."""
    files = (*(file for files in PEOPLE.values() for file in files), TELEPHONE, BABBLE, *ORDERS)
    return sum(recording(file).size for file in files) // RATE


def false_wakes(phrase: WakePhrase, hours: float) -> int:
    """How often such talk wakes a line; woken, it is put to sleep again at once."""
    line, count, now = filter_for(phrase), 0, 0
    for sound in talk(hours):
        for frame in frames(sound):
            now += 20
            if line.hear(frame, now):
                count += 1
                line.sleep()
    return count


def own_wakes(phrase: WakePhrase, piper: TextToSpeech, *, known: bool) -> Share:
    """Of the times that the agent itself says the phrase, and its echo comes back, those that woke the line; `known` False: where
    the line does not know what is played, as a comparison."""
    sayings = [asyncio.run(sound_of(piper, f"{words(phrase)}. That is how you call me.")) for _ in range(TAKES)]
    woken = [
        _own_wakes(phrase, np.concatenate([PAUSE, sound, PAUSE]), level_db, delay_ms, known=known)
        for sound in sayings
        for level_db in (-6.0, -12.0, -20.0)
        for delay_ms in (80, 170, 300)
    ]
    return Share(sum(woken), len(woken))


def _own_wakes(phrase: WakePhrase, sound: Samples, level_db: float, delay_ms: int, *, known: bool) -> bool:
    line, leak, now = filter_for(phrase), Leak(), 0
    echo = in_room(np.concatenate([np.zeros(to_samples(delay_ms), dtype=np.int16), sound]), level_db=level_db)
    for played, heard in zip(frames(np.concatenate([sound, PAUSE])), frames(np.concatenate([echo, PAUSE])), strict=False):
        now += 20
        if known:
            line.played(played, now)
            leak.played(played, now)
        leak.heard(heard, now)
        if line.hear(heard, now, own=leak.own):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Cost:
    """What an idle line that sleeps costs: memory in MB, and the share of a core, in percent."""

    megabytes: float
    core: float


def cost() -> Cost:
    """Measured in a process of its own: the growth from numpy alone to having listened to a minute of quiet noise."""
    told = subprocess.run([sys.executable, "-m", "tools.voices.idle"], capture_output=True, text=True, check=True, timeout=120)
    megabytes, core = told.stdout.split()
    return Cost(float(megabytes), float(core))
