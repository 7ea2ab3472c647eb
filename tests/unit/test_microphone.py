"""A recording by a microphone: its rate becomes ours, and a device that cannot be used says what to do."""

import numpy as np
import pytest

from voiceagent import engines
from voiceagent.audio.frame import RATE
from voiceagent.errors import TransportError

try:
    import sounddevice

    from voiceagent.transport import microphone
except (ImportError, OSError) as error:  # OSError: PortAudio itself is missing
    pytest.skip(f"no microphones here: {error}", allow_module_level=True)


def test_what_it_records_is_16_khz(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def rec(frames: int, **wanted: object) -> object:
        asked.update(wanted, frames=frames)
        return (8_000 * np.sin(np.arange(frames) * 2 * np.pi * 440 / 48_000)).astype(np.int16).reshape(-1, 1)

    monkeypatch.setattr(sounddevice, "query_devices", lambda device, kind: {"default_samplerate": 48_000.0})
    monkeypatch.setattr(sounddevice, "rec", rec)
    sound = engines.record(2.0, "desk")
    assert (asked["frames"], asked["samplerate"], asked["device"]) == (96_000, 48_000, "desk")
    assert sound.size == pytest.approx(2 * RATE, abs=50)
    assert np.abs(np.fft.rfft(sound[:RATE])).argmax() == pytest.approx(440, abs=1)


def test_a_device_that_is_not_there_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(device: str, kind: str) -> object:
        raise ValueError(f"No input device matching {device!r}")

    monkeypatch.setattr(sounddevice, "query_devices", missing)
    with pytest.raises(TransportError, match=r"No input device matching 'attic'.*--device"):
        microphone.record(1.0, "attic")
