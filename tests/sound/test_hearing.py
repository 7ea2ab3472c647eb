"""Recordings through detector, segmenter, recognizer and rejection: speech gives its words, noise gives nothing."""

from pathlib import Path

import jiwer
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.sound.hearing import MADE, Hearing, load
from tests.sound.references import BEGINNINGS, HIGHEST_WER, REFERENCES, plain
from voiceagent.audio.frame import RATE, Samples
from voiceagent.speech.rejection import reject

MADE_REFERENCES = {
    "spoken_yes.wav": "yes",
    "spoken_opening_hours.wav": "what time does the library open on saturday",
    "spoken_borrow.wav": "how many books can i borrow at once and for how long",
}


async def test_the_recordings_give_their_words(shared_audio: Path, hearing: Hearing) -> None:
    heard = {name: plain(" ".join(await hearing.turns(load(shared_audio / name)))) for name in REFERENCES}
    assert all(heard.values()), f"nothing heard in {[name for name, words in heard.items() if not words]}"
    rate = jiwer.wer(list(REFERENCES.values()), [heard[name] for name in REFERENCES])
    assert rate <= HIGHEST_WER, {name: words for name, words in heard.items() if words != REFERENCES[name]}


@pytest.mark.parametrize("name", sorted(BEGINNINGS))
async def test_two_recordings_begin_with_their_words(shared_audio: Path, hearing: Hearing, name: str) -> None:
    assert plain(" ".join(await hearing.turns(load(shared_audio / name)))).startswith(BEGINNINGS[name])


@pytest.mark.parametrize("name", ["tau2-noise_car_horn.wav", "tau2-noise_dog_bark.wav", "tau2-noise_people_talking.wav"])
async def test_recorded_noise_is_no_turn(shared_audio: Path, hearing: Hearing, name: str) -> None:
    assert await hearing.turns(load(shared_audio / name)) == []


@pytest.mark.parametrize("skipped_s", [0, 3, 7, 11, 15, 19])
async def test_babble_that_breaks_into_silence_is_no_turn(shared_audio: Path, hearing: Hearing, skipped_s: int) -> None:
    babble = load(shared_audio / "tau2-noise_people_talking.wav")[skipped_s * RATE : (skipped_s + 8) * RATE]
    assert await hearing.turns(np.concatenate([np.zeros(2 * RATE, dtype=np.int16), babble])) == []


@pytest.mark.parametrize("name", ["leopard-test.wav", "tau2-order_status.wav"])
def test_babble_after_speech_ends_the_turn_within_3_s(shared_audio: Path, hearing: Hearing, name: str) -> None:
    speech = load(shared_audio / name)[:-RATE]
    babble = load(shared_audio / "tau2-noise_people_talking.wav")[4 * RATE : 16 * RATE]
    first = hearing.utterances(np.concatenate([speech, babble]))[0]
    assert first.end <= len(speech) + 2.5 * RATE


@pytest.mark.parametrize("name", sorted(MADE_REFERENCES))
async def test_the_projects_own_recordings_give_their_words(hearing: Hearing, name: str) -> None:
    assert plain(" ".join(await hearing.turns(load(MADE / name)))) == MADE_REFERENCES[name]


@pytest.mark.parametrize("name", sorted(path.name for path in MADE.glob("noise_*.wav")))
async def test_the_projects_own_noises_are_no_turn(hearing: Hearing, name: str) -> None:
    assert await hearing.turns(load(MADE / name)) == []


def pink(random: np.random.Generator) -> NDArray[np.float64]:
    spectrum = np.fft.rfft(random.normal(size=2 * RATE))
    sound: NDArray[np.float64] = np.fft.irfft(spectrum / np.sqrt(np.maximum(1, np.arange(len(spectrum)))))
    sound /= sound.std()
    return sound


@pytest.mark.parametrize("seed", range(4))
async def test_words_made_up_out_of_noise_are_rejected_without_the_detector(hearing: Hearing, seed: int) -> None:
    random = np.random.default_rng(seed)
    noises = {
        "silence": np.zeros(2 * RATE),
        "white": random.normal(size=2 * RATE) * 2000,
        "pink": pink(random) * 3000,
        "beating": pink(random) * 3000 * (1 + np.sin(np.arange(2 * RATE) * 8 * np.pi / RATE)),
    }
    for name, noise in noises.items():
        sound: Samples = np.clip(noise, -32768, 32767).astype(np.int16)
        words = await hearing.whisper.transcribe(sound)
        assert reject(words, 1.0, 2000) is not None, (name, words)


def test_the_detector_finds_voice_and_only_voice(shared_audio: Path, hearing: Hearing) -> None:
    speech = hearing.probabilities(load(shared_audio / "pocketsphinx-librivox-0870.wav")[RATE // 2 : 13 * RATE // 2])
    assert np.mean(np.array(speech) >= 0.35) > 0.95
    for name in ("tau2-noise_car_horn.wav", "tau2-noise_dog_bark.wav"):
        assert max(hearing.probabilities(load(shared_audio / name))) < 0.5


def test_a_reset_detector_hears_as_a_new_one_does(hearing: Hearing) -> None:
    sound = load(MADE / "spoken_yes.wav")
    assert hearing.probabilities(sound) == hearing.probabilities(sound)
    assert max(hearing.probabilities(sound)) > 0.9
