"""The echo of a real voice and real people over it, frame by frame."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.sound.echoing import NOISE, echo_of
from tests.sound.hearing import load
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples, to_samples
from voiceagent.speech.engines import TextToSpeech
from voiceagent.voice.leak import OWN, Leak

TEXTS = (
    "You can borrow up to twelve books at once, for three weeks. After that you may renew them twice.",
    "The reading room is on the second floor, next to the stairs. It is quiet there, and there are forty seats.",
)
PEOPLE = ("leopard-test.wav", "pocketsphinx-librivox-0870.wav", "tau2-order_status.wav", "leopard-test_fr.wav")
AT_MS = 4_000
ECHOES = [(-6, 80), (-6, 230), (-12, 110), (-12, 300), (-20, 80), (-20, 200), (-20, 300)]


@pytest.fixture(scope="module")
def played(piper: TextToSpeech) -> Samples:
    async def spoken() -> list[Samples]:
        sounds: list[Samples] = []
        for text in TEXTS:
            sounds.append(np.zeros(RATE, dtype=np.int16))
            sounds.extend([piece async for piece in piper.speak(text) if isinstance(piece, np.ndarray)])
        return sounds

    return np.concatenate(asyncio.run(spoken()))


def shares(played: Samples, heard: NDArray[np.float64]) -> NDArray[np.float64]:
    leak, picked_up = Leak(), np.clip(heard, -32768, 32767).astype(np.int16)
    said = []
    for number, at in enumerate(range(0, played.size - FRAME_SAMPLES + 1, FRAME_SAMPLES)):
        if played[at : at + FRAME_SAMPLES].any():
            leak.played(played[at : at + FRAME_SAMPLES], 1_000 + 20 * number)
        said.append(leak.heard(picked_up[at : at + FRAME_SAMPLES], 1_000 + 20 * number))
    return np.array(said)


def loud(sound: NDArray[np.float64], least: float) -> NDArray[np.bool_]:
    whole = sound[: sound.size // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    frames: NDArray[np.bool_] = np.sqrt((whole**2).mean(axis=1)) > least
    return frames


def microphone(played: Samples, level_db: float, delay_ms: int) -> NDArray[np.float64]:
    """Echo and noise."""
    return echo_of(played, level_db, delay_ms) + np.random.default_rng(3).normal(size=played.size) * NOISE


@pytest.mark.parametrize(("level_db", "delay_ms"), ECHOES)
def test_case_19_the_echo_alone_is_never_60_ms_of_a_person(played: Samples, level_db: int, delay_ms: int) -> None:
    """60 ms of voice with gaps of up to 200 ms is what lowers an answer."""
    heard = microphone(played, level_db, delay_ms)
    missed = np.flatnonzero(loud(heard, 10 * NOISE) & (shares(played, heard) < OWN))
    assert all(np.count_nonzero((missed >= at) & (missed < at + 10)) < 3 for at in missed), missed


@pytest.mark.parametrize(("over_db", "seen", "within_ms"), [(0, 0.55, 450), (6, 0.8, 250)])
@pytest.mark.parametrize("name", PEOPLE)
def test_case_19_a_person_over_the_echo_is_seen(
    played: Samples, shared_audio: Path, name: str, over_db: int, seen: float, within_ms: int
) -> None:
    person = load(shared_audio / name)[:-RATE].astype(float)
    said = person[np.flatnonzero(np.abs(person) > np.abs(person).max() * 0.1)[0] :]
    for level_db, delay_ms in ECHOES[::2]:
        heard = microphone(played, level_db, delay_ms)
        strength = rms(said) / rms(echo_of(played, level_db, delay_ms)) / 10 ** (over_db / 20)
        at = to_samples(AT_MS)
        part = said[: heard.size - at] / strength
        heard[at : at + part.size] += part
        speaks = loud(part, rms(part) * 0.2)
        found = shares(played, heard)[at // FRAME_SAMPLES :][: speaks.size] < OWN
        speaks = speaks[: found.size]
        assert found[speaks].mean() >= seen, (level_db, delay_ms)
        assert np.flatnonzero(found & speaks)[2] * 20 <= within_ms, (level_db, delay_ms)


def rms(sound: NDArray[np.float64]) -> float:
    """Of what is loud in it."""
    power = (sound[: sound.size // 320 * 320].reshape(-1, 320) ** 2).mean(axis=1)
    return float(np.sqrt(power[power > power.max() * 0.01].mean()))
