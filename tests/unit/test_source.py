"""Live or out of a loudspeaker: by bandwidth, continuity and level, each by table."""

import numpy as np
import pytest

from voiceagent.audio.frame import RATE, Samples
from voiceagent.speech.source import Talk, loudspeaker, timbre
from voiceagent.speech.surroundings import surroundings
from voiceagent.speech.traits import Timbre


def noise(low: int, high: int, loud: float = 2_000.0) -> Samples:
    """A second of noise between two frequencies, in Hz, so loud at the root of its mean square."""
    spectrum = np.fft.rfft(np.random.default_rng(0).normal(size=RATE))
    hertz = np.fft.rfftfreq(RATE, 1 / RATE)
    spectrum[(hertz < low) | (hertz > high)] = 0
    sound = np.fft.irfft(spectrum, RATE)
    return np.asarray(sound * loud / np.sqrt(np.mean(sound**2))).astype(np.int16)


@pytest.mark.parametrize("high", [3_400, 5_000, 7_500])
def test_how_far_a_sound_reaches(high: int) -> None:
    assert timbre(noise(300, high)).reach == pytest.approx(high, abs=300)


def test_how_loud_it_is() -> None:
    assert timbre(noise(300, 3_400, 3_276.8)).level == pytest.approx(-20.0, abs=0.3)


def test_too_little_to_tell() -> None:
    assert timbre(np.zeros(100, dtype=np.int16)) == Timbre(-100.0, 0)


@pytest.mark.parametrize(
    ("heard", "talk", "usual", "low", "high"),
    [
        (Timbre(-20, 8_000), 0.2, None, 0.0, 0.3),  # a person beside the microphone who now and then says something
        (Timbre(-20, 3_500), 0.2, None, 0.7, 1.0),  # telephone sound
        (Timbre(-20, 8_000), 0.9, None, 0.8, 1.0),  # talk without end
        (Timbre(-40, 8_000), 0.2, -20.0, 0.3, 0.6),  # far fainter than the people who are known
        (Timbre(-20, 8_000), 0.2, -40.0, 0.0, 0.2),  # nearer than they
        (Timbre(-20, 3_500), 0.9, -10.0, 0.95, 1.0),
    ],
)
def test_the_chance(heard: Timbre, talk: float, usual: float | None, low: float, high: float) -> None:
    assert low <= loudspeaker(heard, talk, usual) <= high


@pytest.mark.parametrize(("seconds", "share"), [(0, 0.0), (60, 1 - np.exp(-1)), (600, 1.0)])
def test_talk_without_end_is_known_after_a_minute_or_so(seconds: int, share: float) -> None:
    talk = Talk()
    for _ in range(seconds * 50):
        talk.hear(voiced=True)
    assert talk.share == pytest.approx(share, abs=0.01)


def test_talk_that_ended_is_forgotten() -> None:
    talk = Talk()
    for voiced in (True, False):
        for _ in range(180 * 50):
            talk.hear(voiced=voiced)
    assert talk.share < 0.06


def test_other_surroundings_of_a_voice_are_the_same_each_time_and_as_loud_as_they_should_be() -> None:
    voice = noise(300, 3_400)
    itself, noisy, far = surroundings(voice)
    again = surroundings(voice)
    assert itself is voice
    assert all(np.array_equal(one, other) for one, other in zip((itself, noisy, far), again, strict=True))
    under = noisy.astype(np.float64) - voice
    assert 10 * np.log10(np.mean(under**2) / np.mean(voice.astype(np.float64) ** 2)) == pytest.approx(-6.0, abs=0.2)
    assert not np.array_equal(far, voice)
    assert {sound.size for sound in again} == {voice.size}
