"""A frame has one shape, and time counts in its samples."""

import numpy as np
import pytest

from voiceagent.audio.frame import SILENCE, AudioFrame, to_ms, to_samples


@pytest.mark.parametrize("samples", [np.zeros(319, np.int16), np.zeros((320, 1), np.int16), np.zeros(320, np.float32)])
def test_another_shape_is_no_frame(samples: np.ndarray) -> None:
    with pytest.raises(ValueError, match="a frame is 320 int16 samples"):
        AudioFrame(samples)


def test_silence_is_one_frame_and_cannot_be_written() -> None:
    assert AudioFrame(SILENCE).at == 0
    with pytest.raises(ValueError, match="read-only"):
        SILENCE[0] = 1


def test_milliseconds_and_samples() -> None:
    assert (to_samples(20), to_ms(320), to_ms(335)) == (320, 20, 20)
