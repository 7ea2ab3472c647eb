"""Real sounds over a real voice, through `voiceagent talk --fast`: what comes back, what cuts, and how soon it is silent."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.sound.hearing import load
from tests.sound.interjections import cough, hum, laughter, slam, words
from tests.sound.references import REFERENCES, plain
from tests.sound.talking import Talk, Talked, together, write
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples, to_samples
from voiceagent.speech.piper import PiperEngine

pytestmark = pytest.mark.usefixtures("default_models")

QUESTION = "tau2-order_status.wav"
ANSWER = (
    "The parcel left our house this morning with the first van. It is on its way to you, and the driver will ring at your door. "
    "Please have the number of the order at hand when she does so."
)
OVER_MS = 6_000
"""When something sounds over the answer, seconds after that has begun."""

SILENT_MS, DEAD_MS = 450, 2_500
"""Bounds at the listener: from the first sample over it to silence, and of silence in an answer that comes back."""


def spoken_over(talk: Talk, shared_audio: Path, sound: Samples, answers: tuple[str, ...] = (ANSWER, "Good.")) -> Talked:
    """Ann asks, and over the answer there is this sound."""
    ann = together((0, load(shared_audio / QUESTION)), (OVER_MS, sound))
    return talk(write(talk.folder / "Ann.wav", ann), answers=answers)


def longest_silence_ms(run: Talked) -> int:
    """Inside the first answer, as it was heard."""
    frames = np.abs(run.right[: run.right.size // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)).max(axis=1)
    loud = np.flatnonzero(frames > 30)
    return 20 * max((int(later - before) - 1 for before, later in pairwise(loud)), default=0)


NOISES = {"cough": cough, "slam": slam, "laughter": laughter, "short cough": lambda: cough(80), "mm-hm": hum}


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_case_15_16_a_noise_costs_no_word_of_the_answer(talk: Talk, shared_audio: Path, noise: Callable[[], Samples]) -> None:
    run = spoken_over(talk, shared_audio, noise())
    assert [(row["text"], row["cut"]) for row in run.said_by("Nova")] == [(ANSWER, False)]
    assert [plain(row["text"]) for row in run.said_by("Ann")] == [REFERENCES[QUESTION]]
    assert longest_silence_ms(run) <= DEAD_MS


@pytest.mark.parametrize("text", ["Okay.", "Right.", "Yeah.", "I see."])
def test_case_01_a_sign_of_listening_is_nobodys_turn(talk: Talk, shared_audio: Path, piper: PiperEngine, text: str) -> None:
    run = spoken_over(talk, shared_audio, asyncio.run(words(piper, text)))
    assert [(row["text"], row["cut"]) for row in run.said_by("Nova")] == [(ANSWER, False)]
    assert [plain(row["text"]) for row in run.said_by("Ann")] == [REFERENCES[QUESTION]]
    assert longest_silence_ms(run) <= DEAD_MS


@pytest.mark.parametrize("text", ["Stop.", "Wait, and for Montreal?", "No, I meant the other one."])
def test_case_09_18_who_wants_the_turn_has_silence_at_once_and_the_turn_soon(
    talk: Talk, shared_audio: Path, piper: PiperEngine, text: str
) -> None:
    over = asyncio.run(words(piper, text))
    run = spoken_over(talk, shared_audio, over)
    assert run.said_by("Nova")[0]["cut"]
    assert len(run.said_by("Ann")) >= 2
    onset = to_samples(OVER_MS) + int(np.flatnonzero(np.abs(over.astype(int)) > 500)[0])
    answers = run.said_by("Nova")[1:]
    assert bool(answers) is (text != "Stop.")  # who only stops it asks for nothing
    until = to_samples(answers[0]["start_ms"]) if answers else run.right.size
    last = np.flatnonzero(np.abs(run.right[:until].astype(int)) > 30)[-1]
    assert (last - onset) * 1000 // RATE <= SILENT_MS
