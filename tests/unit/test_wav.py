"""Growing WAV files, read back by the standard library and by ffmpeg."""

import wave
from pathlib import Path

import numpy as np
import pytest

from voiceagent.audio import wav
from voiceagent.audio.decode import read_sound
from voiceagent.audio.wav import WavWriter
from voiceagent.errors import AudioError


def test_mono_comes_back_sample_for_sample(tmp_path: Path) -> None:
    sound = np.arange(-1000, 1000, dtype=np.int16)
    with WavWriter(tmp_path / "a.wav", 1) as file:
        for at in range(0, 2000, 320):
            file.append(sound[at : at + 320])
    assert np.array_equal(read_sound(tmp_path / "a.wav").samples, sound)


def test_stereo_keeps_left_and_right(tmp_path: Path) -> None:
    both = np.stack([np.full(400, 7), np.full(400, -9)], axis=1).astype(np.int16)
    with WavWriter(tmp_path / "a.wav", 2, rate=8_000) as file:
        file.append(both[:300])
        file.append(both[300:])
    with wave.open(str(tmp_path / "a.wav")) as file:
        assert (file.getnchannels(), file.getframerate(), file.getsampwidth(), file.getnframes()) == (2, 8_000, 2, 400)
        assert np.array_equal(np.frombuffer(file.readframes(400), dtype="<i2").reshape(-1, 2), both)


def test_a_file_without_sound_is_still_a_wav_file_and_closing_twice_is_safe(tmp_path: Path) -> None:
    file = WavWriter(tmp_path / "a.wav", 1)
    file.append(np.zeros(0, dtype=np.int16))
    file.close()
    file.close()
    with wave.open(str(tmp_path / "a.wav")) as back:
        assert back.getnframes() == 0


@pytest.mark.parametrize(
    ("channels", "samples"),
    [
        (1, np.zeros((4, 2), dtype=np.int16)),
        (2, np.zeros(4, dtype=np.int16)),
        (2, np.zeros((4, 3), dtype=np.int16)),
        (1, np.zeros(4, dtype=np.float32)),
    ],
)
def test_another_shape_is_refused(tmp_path: Path, channels: int, samples: np.ndarray) -> None:
    with WavWriter(tmp_path / "a.wav", channels) as file, pytest.raises(AudioError, match="takes int16"):
        file.append(samples)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match=r"nowhere/a\.wav cannot be written"):
        WavWriter(tmp_path / "nowhere" / "a.wav", 1)


def test_more_than_a_header_can_count_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wav, "_LARGEST", 1000)
    with WavWriter(tmp_path / "a.wav", 1) as file:
        file.append(np.zeros(500, dtype=np.int16))
        with pytest.raises(AudioError, match="4 GiB"):
            file.append(np.zeros(1, dtype=np.int16))
