"""The wake word by its real network, said by made voices: what wakes a line, what does not, and which words go on."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.sound.echoing import echo_of
from tests.sound.hearing import load
from tests.sound.references import plain
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples, to_ms
from voiceagent.speech.detector import GatedDetector, Silero
from voiceagent.speech.engines import sound_of
from voiceagent.speech.gate import Gate
from voiceagent.speech.microwake import MicroSpotter
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.settings import WakeSettings
from voiceagent.speech.wake import WakeFilter
from voiceagent.speech.whisper import WhisperEngine
from voiceagent.voice.leak import Leak
from voiceagent.voice.stopping import StopListener

PAUSE = np.zeros(RATE, dtype=np.int16)


@pytest.fixture
def line() -> WakeFilter:
    return WakeFilter(WakeSettings(phrase="okay_nabu"), MicroSpotter("okay_nabu"), MicroSpotter("okay_nabu"), Gate())


def frames(sound: Samples) -> Iterator[Samples]:
    for at in range(0, sound.size - FRAME_SAMPLES + 1, FRAME_SAMPLES):
        yield sound[at : at + FRAME_SAMPLES]


def through(line: WakeFilter, sound: Samples) -> Samples:
    """What goes on of a sound."""
    given = [samples for number, frame in enumerate(frames(sound)) for samples in line.hear(frame, number * 20)]
    return np.concatenate([PAUSE[:0], *given])


async def test_the_words_right_behind_the_wake_word_are_whole(
    line: WakeFilter, piper: PiperEngine, whisper: WhisperEngine
) -> None:
    said = await sound_of(piper, "Okay Nabu, turn on the living room lamp.")
    given = through(line, np.concatenate([PAUSE, said, PAUSE]))
    assert to_ms(given.size) < to_ms(said.size) + 1_000
    assert plain((await whisper.transcribe(given)).text).endswith("turn on the living room lamp")


def test_recordings_in_which_nobody_calls_do_not_wake_it(line: WakeFilter, shared_audio: Path) -> None:
    files = ("tau2-noise_people_talking.wav", "pyannote-sample.wav", "faster-whisper-jfk.flac", "openwakeword-hey_jane.wav")
    assert through(line, np.concatenate([load(shared_audio / file) for file in files])).size == 0


@pytest.mark.parametrize("level_db", [-6.0, -12.0])
@pytest.mark.parametrize("delay_ms", [80, 300])
async def test_the_agent_saying_it_does_not_wake_it(line: WakeFilter, piper: PiperEngine, level_db: float, delay_ms: int) -> None:
    said = np.concatenate([PAUSE, await sound_of(piper, "Okay Nabu. That is how you call me."), PAUSE])
    leak, echo = Leak(), echo_of(said, level_db, delay_ms).astype(np.int16)
    assert through(WakeFilter(WakeSettings(), MicroSpotter("okay_nabu"), MicroSpotter("okay_nabu"), Gate()), echo).size, (
        "as a person's it would"
    )
    for number, (played, heard) in enumerate(zip(frames(said), frames(echo), strict=True)):
        now = number * 20
        leak.played(played, now)
        line.played(played, now)
        leak.heard(heard, now)
        assert line.hear(heard, now, own=leak.own) == ()


@pytest.mark.parametrize(("text", "stops"), [("Stop.", True), ("Wait!", True), ("Pass me the salt.", False)])
async def test_a_stop_is_found_asleep_and_nothing_else(
    text: str, stops: bool, piper: PiperEngine, whisper: WhisperEngine, silero: Silero
) -> None:
    listener = StopListener(whisper, GatedDetector(silero))
    said = np.concatenate([PAUSE, await sound_of(piper, text), PAUSE])
    backs: list[tuple[int, int]] = []
    for number, frame in enumerate(frames(said)):
        back_ms = listener.hear(frame)
        if back_ms is not None:
            backs.append((number * 20, back_ms))
        # the recording is fed as fast as it goes: words are waited for at the frame that asked for them
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name() == "stop"))
        if backs:
            break
    listener.forget()
    assert len(backs) == stops
    if backs:
        at_ms, back_ms = backs[0]
        assert 0 < at_ms - back_ms < 1_000 + 300, "it goes back to before its first sound, the pre-roll"
        ended = to_ms(int(np.flatnonzero(np.abs(said) > 300)[-1]))
        assert at_ms - ended <= 220, "the words are asked for so late after its end; decoding takes about 70 ms more"
