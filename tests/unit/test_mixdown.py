"""The run's sound: pieces at their times, added up and held in range, in two tracks."""

import wave
from pathlib import Path

import numpy as np

from voiceagent.audio.frame import FRAME_SAMPLES, Samples
from voiceagent.cli.mixdown import track, write_stereo


def frame(value: int) -> Samples:
    return np.full(FRAME_SAMPLES, value, dtype=np.int16)


def test_pieces_stand_at_their_times_and_add_up() -> None:
    sound = track([(20, frame(5)), (30, frame(7))], 60)
    assert sound.size == 960
    assert (sound[:320] == 0).all()
    assert (sound[320:480] == 5).all()
    assert (sound[480:640] == 12).all()
    assert (sound[640:800] == 7).all()
    assert (sound[800:] == 0).all()


def test_what_is_too_loud_is_held_and_what_is_too_late_is_left_out() -> None:
    sound = track([(0, frame(30_000)), (0, frame(30_000)), (10, frame(1)), (500, frame(1))], 15)
    assert sound.tolist() == [32_767] * 240


def test_people_are_left_and_the_agent_is_right(tmp_path: Path) -> None:
    write_stereo(tmp_path / "mix.wav", frame(1), frame(2))
    with wave.open(str(tmp_path / "mix.wav")) as file:
        assert (file.getnchannels(), file.getframerate(), file.getnframes()) == (2, 16_000, 320)
        assert np.frombuffer(file.readframes(1), dtype="<i2").tolist() == [1, 2]
