"""What the loudspeaker plays is taken out of what the microphone hears; who speaks over it stays."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("livekit.rtc", reason="pip install 'voiceagent[speaker]'")

from tests.sound.hearing import load
from voiceagent.audio.frame import RATE, Samples, to_samples
from voiceagent.transport.speaker.canceller import Canceller


def power(sound: Samples) -> float:
    return float((sound.astype(np.float64) ** 2).mean()) + 1e-9


def through(far: Samples, near: Samples) -> Samples:
    """In pieces of a device's odd lengths, far end first."""
    canceller, out = Canceller(), []
    for at in range(0, near.size, 441):
        canceller.played(far[at : at + 441])
        out.append(canceller.heard(near[at : at + 441]))
    return np.concatenate(out)


@pytest.mark.parametrize("delay_ms", [40, 160, 300])
def test_an_echo_is_taken_out_and_a_person_over_it_stays(shared_audio: Path, delay_ms: int) -> None:
    far = np.tile(load(shared_audio / "faster-whisper-jfk.flac"), 2)
    echo = np.concatenate([np.zeros(to_samples(delay_ms), dtype=np.int16), far])[: far.size] // 2
    left = through(far, echo)
    late = slice(far.size // 2, left.size)
    assert 10 * np.log10(power(echo[late]) / power(left[late])) > 20

    person = np.zeros(far.size, dtype=np.int16)
    words = load(shared_audio / "tau2-order_status.wav")
    begin = far.size // 2 + 4 * RATE
    person[begin : begin + words.size] = words
    over = through(far, np.clip(echo.astype(int) + person, -32768, 32767).astype(np.int16))
    said = slice(begin, begin + words.size)
    assert 10 * np.log10(power(person[said]) / power(over[said])) < 9


def test_pieces_of_any_length_lose_nothing() -> None:
    canceller = Canceller()
    given = sum(canceller.heard(np.zeros(count, dtype=np.int16)).size for count in (1, 159, 7, 400, 153, 80))
    assert given == 800
