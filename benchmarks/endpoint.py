"""How soon the end of a turn is decided, and how often too soon: whole utterances, and 60 made and all real pauses inside them.

Run: OPENBLAS_NUM_THREADS=1 python benchmarks/endpoint.py   (recordings from ../shared/audio where they are, the rest made here)
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from faster_whisper import WhisperModel

from voiceagent import weights
from voiceagent.audio.decode import read_sound
from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, RATE, Samples, to_ms, to_samples
from voiceagent.speech.detector import GatedDetector, Silero
from voiceagent.speech.endpoint import Expectation, Silence, wait_ms
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.segmenter import Segmenter, SpeechEnded, SpeechHushed, SpeechPaused, SpeechResumed
from voiceagent.speech.settings import HearingSettings
from voiceagent.speech.smartturn import SmartTurn
from voiceagent.speech.whisper import WhisperEngine

RECORDINGS = Path(__file__).resolve().parent.parent.parent / "shared" / "audio"
PAUSES_MS = (300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200)
FOREVER_MS = 1_000_000
SENTENCES = (
    "What time does the library open on Saturday?",
    "I would like to book a table for two people tomorrow night.",
    "Can you tell me where my order is right now?",
    "Please turn on the light in the kitchen.",
    "My name is Robert and I live in the north of the city.",
    "I need to change the date of my appointment to next Friday.",
    "How much does it cost to send a parcel to Canada?",
    "The blue one with the long sleeves is the one that I want.",
    "Could you read me the last message from my sister?",
    "I was wondering if you have any rooms left for the weekend.",
    "Play some quiet music in the living room.",
    "Yesterday I called you about the broken heating in my flat.",
    "Is there a train to London before six in the morning?",
    "Set an alarm for half past seven and another for eight.",
    "I think that my card was stolen on the bus this afternoon.",
    "What is the weather going to be like on Sunday?",
    "Tell me more about the history of the old bridge.",
    "We have been waiting for the delivery since last week.",
    "Remind me to buy bread and milk on the way home.",
    "Do you know how long the museum stays open today?",
    "My number is five five five two three four nine.",
    "I want to know whether the blue jacket comes in a larger size.",
    "Send a message to Anna that I will be late for dinner.",
    "The meeting was moved to the big room on the second floor.",
    "Which of the two hotels is closer to the station?",
    "I am looking for a present for my daughter who is ten.",
    "Cancel my subscription at the end of the month please.",
    "When will the next bus to the airport leave from here?",
    "You can put the boxes next to the door in the hall.",
    "Add two bottles of water to the shopping list.",
)
SHORT = ("Yes.", "No.", "Hello.", "Okay.", "Thank you.", "Thursday.", "Robert Miller.", "No, thanks.", "Stop.", "Half past six.")
WHOLE = (
    "faster-whisper-jfk.flac", "leopard-test.wav", "openwakeword-hey_jane.wav", "pocketsphinx-cards-001.wav",
    "pocketsphinx-cards-002.wav", "pocketsphinx-cards-003.wav", "pocketsphinx-librivox-0870.wav",
    "pocketsphinx-librivox-0880.wav", "tau2-hello.wav", "tau2-hi_how_are_you.wav", "tau2-no.wav", "tau2-order_status.wav",
    "tau2-thank_you.wav", "tau2-yes.wav", "wyoming-turn_on_the_living_room_lamp.wav",
)  # fmt: skip
TELEPHONE = "pyannote-sample.wav"
TURNS_MS = ((6_680, 7_160), (8_440, 9_800), (10_780, 14_180), (14_440, 17_770), (17_790, 21_480), (21_940, 28_430))
"""The telephone's turns of one person each, by the list that came with it."""


@dataclass(frozen=True)
class Fact:
    """One silence of at least 200 ms in an utterance; `lasts_ms` is FOREVER_MS at its end.

    Its words are known and it is judged so many ms after the last voice: begun at 100 and at 200 ms.
    """

    name: str
    lasts_ms: int
    finished: float
    words: str
    voiced_ms: int
    judged_ms: int
    known_ms: int


class Bench:
    """The engines, and what they say of each silence."""

    def __init__(self) -> None:
        self.silero = Silero()
        self.judge = SmartTurn(weights.path("smart-turn"))
        self.whisper = WhisperEngine(weights.path("whisper-tiny.en"))
        self.times = WhisperModel(str(weights.path("whisper-tiny.en")), device="cpu", compute_type="int8", cpu_threads=1)
        self.voice = PiperEngine(weights.path("en_US-joe-medium"))

    async def facts(self, name: str, sound: Samples) -> list[Fact]:
        """Its silences, in order; none after a part that the detector itself ended."""
        detector, segmenter = GatedDetector(self.silero), Segmenter(HearingSettings())
        sound = np.concatenate([sound, np.zeros(6 * RATE, dtype=np.int16)])
        pause: SpeechPaused | None = None
        hush = sound[:0]
        told: list[Fact] = []
        voiced = 0
        for at in range(0, sound.size - FRAME_SAMPLES + 1, FRAME_SAMPLES):
            frame = sound[at : at + FRAME_SAMPLES]
            for event in segmenter.hear(frame, detector.probability(frame), to_samples(5_000)):
                match event:
                    case SpeechHushed():
                        hush = event.sound
                    case SpeechPaused():
                        pause = event
                    case SpeechResumed() | SpeechEnded() if pause is not None:
                        lasts = FOREVER_MS if isinstance(event, SpeechEnded) else to_ms(event.at - pause.at)
                        told.append(await self._fact(name, (hush, pause.sound), lasts, voiced))
                        pause = None
            voiced += FRAME_MS * segmenter.voiced
        return told

    async def _fact(self, name: str, sounds: tuple[Samples, Samples], lasts_ms: int, voiced_ms: int) -> Fact:
        began = time.perf_counter()
        finished = self.judge.judge(sounds[1])
        judged = time.perf_counter()
        words = (await self.whisper.transcribe(sounds[0])).text
        took = [200 + round((judged - began) * 1000), 100 + round((time.perf_counter() - judged) * 1000)]
        return Fact(name, lasts_ms, finished, words, voiced_ms, *took)

    async def spoken(self, text: str) -> Samples:
        """`text` as the voice says it."""
        return np.concatenate([piece async for piece in self.voice.speak(text) if isinstance(piece, np.ndarray)])

    def borders(self, sound: Samples) -> list[int]:
        """Where one word ends and the next begins, in samples: the quietest 20 ms around what the recognizer says."""
        segments, _ = self.times.transcribe(sound.astype(np.float32) / 32768, language="en", word_timestamps=True)
        words = [word for segment in segments for word in segment.words or ()]
        return [_quietest(sound, int(word.end * RATE)) for word in words[:-1]]


def _quietest(sound: Samples, near: int) -> int:
    places = range(max(160, near - to_samples(80)), min(sound.size - 160, near + to_samples(80)), 80)
    return min(places, key=lambda at: int((sound[at - 160 : at + 160].astype(np.int64) ** 2).sum()), default=near)


def paused(sound: Samples, at: int, ms: int) -> Samples:
    """`sound` with so much silence put in at `at`."""
    return np.concatenate([sound[:at], np.zeros(to_samples(ms), dtype=np.int16), sound[at:]])


async def gather() -> list[Fact]:
    """Everything there is, made and recorded."""
    bench, facts = Bench(), []
    lengths = iter(PAUSES_MS * 6)
    for text in (*SENTENCES, *SHORT):
        sound = await bench.spoken(text)
        facts += await bench.facts(f"made: {text}", sound)
        borders = bench.borders(sound)
        if text in SHORT or len(borders) < 4:
            continue
        for border in (borders[len(borders) // 3], borders[2 * len(borders) // 3]):
            facts += await bench.facts(f"pause in: {text}", paused(sound, border, next(lengths)))
    for name, sound in recorded():
        facts += await bench.facts(name, sound)
    return facts


def recorded() -> Iterator[tuple[str, Samples]]:
    """The recordings' utterances; nothing where they are not here."""
    if not RECORDINGS.is_dir():
        return
    for name in WHOLE:
        yield name, read_sound(RECORDINGS / name).samples
    call = read_sound(RECORDINGS / TELEPHONE).samples
    for start, end in TURNS_MS:
        yield f"telephone {start}", call[to_samples(start) : to_samples(end)]


def decided(fact: Fact, settings: HearingSettings) -> int:
    """The silence after which this one is taken for the end, in ms, asked frame by frame as the ear does."""
    for at in range(200, 10_000, FRAME_MS):
        judging = at < fact.judged_ms
        words = fact.words if at >= fact.known_ms else None
        known = Silence(fact.voiced_ms, None if judging else fact.finished, words, judging=judging)
        if at >= wait_ms(known, Expectation(), settings):
            return at
    return 10_000


def row(name: str, facts: list[Fact], waits: list[int]) -> str:
    """One way of deciding."""
    ends = sorted(wait for fact, wait in zip(facts, waits, strict=True) if fact.lasts_ms == FOREVER_MS)
    holds = [wait < fact.lasts_ms for fact, wait in zip(facts, waits, strict=True) if fact.lasts_ms != FOREVER_MS]
    p50, p95 = statistics.median(ends), ends[int(len(ends) * 0.95)]
    return f"{name:16} {p50:8.0f} {p95:8.0f} {statistics.mean(ends):8.0f} {sum(holds):6} of {len(holds)}"


def main() -> None:
    """Prints the table; a file named as the argument keeps what was measured, for a second look."""
    facts = asyncio.run(gather())
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps([asdict(fact) for fact in facts]), encoding="utf-8")
    ends = sum(fact.lasts_ms == FOREVER_MS for fact in facts)
    print(f"{ends} ends, {len(facts) - ends} pauses; wait in ms from the last voice, and pauses taken for the end")
    print(f"{'':16} {'p50':>8} {'p95':>8} {'mean':>8} {'false cut-offs':>12}")
    for silence in (500, 800):
        print(row(f"VAD only {silence}", facts, [silence] * len(facts)))
    for patience in ("eager", "normal", "patient"):
        settings = HearingSettings(patience=patience)
        print(row(patience, facts, [decided(fact, settings) for fact in facts]))


if __name__ == "__main__":
    main()
