"""One ear alone on the virtual clock: a script of sound in, a log of what it says out, with engines that do as they are told."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.scenario.scripted import ScriptedDetector, frame_of
from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, Samples
from voiceagent.speech.endpoint import EndJudge, Expectation
from voiceagent.speech.engines import SpeechToText, VoiceDetector
from voiceagent.speech.settings import HearingSettings
from voiceagent.voice.ear import (
    Began,
    Calm,
    Candidate,
    Ear,
    EarEvent,
    Finished,
    Guess,
    Paused,
    Resumed,
    Speaks,
    Stir,
)
from voiceagent.voice.hearing import Hearing
from voiceagent.voice.settings import VoiceSettings


class ScriptedJudge:
    """Says the same of every pause, after `delay_ms`; an exception is raised."""

    def __init__(self, finished: float | Exception, *, delay_ms: int = 50) -> None:
        self.answer = finished
        self.delay_ms = delay_ms
        self.asked: list[int] = []

    async def finished(self, sound: Samples) -> float:
        self.asked.append(sound.size)
        await clock.sleep_until(clock.now() + self.delay_ms)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class Told:
    """What the ear said, as lines `at_ms what`, and the events behind them."""

    lines: list[str] = field(default_factory=list)
    events: list[EarEvent | Candidate | Guess] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def note(self, event: EarEvent | Candidate | Guess) -> None:
        self.events.append(event)
        match event:
            case Speaks():
                return
            case Stir() | Began():
                detail = f"{event.voiced_ms}"
            case Calm() | Resumed():
                detail = ""
            case Paused() | Finished():
                detail = f"{event.end_ms}"
            case Candidate():
                detail = event.transcript.text
            case Guess():
                detail = event.text
        self.lines.append(f"{clock.now()} {type(event).__name__.lower()} {detail}".strip())

    def only(self, *names: str) -> list[str]:
        """The lines of these kinds."""
        return [line for line in self.lines if line.split()[1] in names]


@dataclass(frozen=True)
class Around:
    """What an ear is set in."""

    judge: EndJudge | None = None
    settings: HearingSettings | None = None
    expecting: Callable[[], Expectation] = Expectation
    voice: VoiceSettings = field(default_factory=VoiceSettings)


async def listen(spans: Sequence[tuple[int, int]], stt: SpeechToText, around: Around = Around()) -> Told:
    """Hears spans of (ms, level), and waits for the words of what has finished."""
    return await hear([frame_of(level) for ms, level in spans for _ in range(ms // FRAME_MS)], stt, ScriptedDetector(), around)


async def hear(frames: Sequence[Samples], stt: SpeechToText, detector: VoiceDetector, around: Around = Around()) -> Told:
    """Hears frames of 20 ms at their time, and waits for the words of what has finished."""
    told, count, start = Told(), iter(range(1_000)), clock.now()
    async with asyncio.TaskGroup() as tasks:
        ear = Ear(
            Hearing(stt, lambda: detector, around.settings, judge=around.judge),
            around.voice,
            tasks,
            lambda: f"in{next(count)}",
            on_guess=told.note,
            on_candidate=told.note,
            expecting=around.expecting,
        )
        for at, frame in enumerate(frames, 1):
            await clock.sleep_until(start + at * FRAME_MS)
            for event in ear.hear(frame):
                told.note(event)
                if isinstance(event, Finished):
                    tasks.create_task(_words(event, told))
    return told


async def _words(event: Finished, told: Told) -> None:
    words = await event.words
    told.words.append(f"{clock.now()} {words if isinstance(words, Exception) else words.text}")
