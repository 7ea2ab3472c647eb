"""A line's packets as frames: decoded in order, concealed where they are missing, quiet left out when time runs ahead."""

import numpy as np
import pytest

from voiceagent.audio.frame import FRAME_SAMPLES, RATE, AudioFrame, Samples
from voiceagent.audio.jitter import SLOT, Packet
from voiceagent.transport.arrivals import CONCEALED, Arrivals
from voiceagent.transport.opus import OpusEncoder


def _vowel(frames: int) -> Samples:
    """A voice-like sound of 120 Hz with 12 harmonics."""
    times = np.arange(frames * FRAME_SAMPLES) / RATE
    sound = sum(np.sin(2 * np.pi * 120 * n * times) / n for n in range(1, 13))
    return np.asarray(4000 * sound, dtype=np.int16)


def _packets(sound: Samples) -> list[Packet]:
    encoder = OpusEncoder()
    frames = sound.reshape(-1, FRAME_SAMPLES)
    return [Packet(n, n * SLOT, encoder.encode(frame)) for n, frame in enumerate(frames)]


def _levels(frames: list[AudioFrame]) -> list[float]:
    return [float(np.sqrt(np.mean(frame.samples.astype(float) ** 2))) for frame in frames]


def _drain(arrivals: Arrivals, now: int) -> list[AudioFrame]:
    frames = []
    while (frame := arrivals.take(now)) is not None:
        frames.append(frame)
    return frames


def _wait(arrivals: Arrivals, start: int, end: int) -> list[AudioFrame]:
    return [frame for now in range(start, end + 1, 5) for frame in _drain(arrivals, now)]


def _heard(packets: list[Packet | None]) -> list[AudioFrame]:
    """What is heard when these come on time, and nothing in the place of None."""
    arrivals, frames = Arrivals(0), []
    for slot, packet in enumerate(packets):
        if packet is not None:
            arrivals.add(packet, 20 * slot)
        frames += _drain(arrivals, 20 * slot)
    return frames


def test_each_packet_is_a_frame_at_once() -> None:
    packets = _packets(_vowel(20))
    arrivals = Arrivals(0)
    for slot, packet in enumerate(packets):
        arrivals.add(packet, 20 * slot)
        frames = _drain(arrivals, 20 * slot)
        assert [frame.at for frame in frames] == [slot * FRAME_SAMPLES]


def test_a_missing_packet_sounds_like_its_neighbours() -> None:
    packets: list[Packet | None] = [*_packets(_vowel(120))]
    whole = _levels(_heard(packets))
    packets[100] = None
    frames = _heard(packets)
    levels = _levels(frames)
    assert len(frames) == 120
    assert 0.6 * whole[100] < levels[100] < 1.3 * whole[100]
    assert 0.8 * whole[102] < levels[102] < 1.2 * whole[102]


def test_what_stays_away_fades_to_digital_silence_and_time_goes_on() -> None:
    arrivals = Arrivals(0)
    for slot, packet in enumerate(_packets(_vowel(50))):
        arrivals.add(packet, 20 * slot)
        _drain(arrivals, 20 * slot)
    frames = _wait(arrivals, 985, 3000)
    levels = _levels(frames)
    assert 0 <= 3000 // 20 - 50 - len(frames) <= 4
    assert levels[0] > 500
    assert max(levels[CONCEALED + 1 :]) == 0


def test_before_anybody_speaks_there_is_silence_every_20_ms() -> None:
    arrivals = Arrivals(1000)
    assert arrivals.take(1000) is None
    assert arrivals.due == 1060
    frames = _wait(arrivals, 1005, 1060 + 180)
    assert [frame.at for frame in frames] == [n * FRAME_SAMPLES for n in range(10)]
    assert not any(frame.samples.any() for frame in frames)


def test_who_came_late_loses_nothing_and_quiet_makes_up_for_it() -> None:
    sound = np.concatenate((_vowel(100), np.zeros(30 * FRAME_SAMPLES, dtype=np.int16)))
    packets = _packets(sound)
    arrivals, frames = Arrivals(0), []
    for slot in range(90):
        arrivals.add(packets[slot], 20 * slot)
        frames += _drain(arrivals, 20 * slot)
    frames += _wait(arrivals, 1785, 1960)
    for packet in packets[90:99]:
        arrivals.add(packet, 1965)
    frames += _drain(arrivals, 1965)
    behind = arrivals.ahead_ms
    assert behind >= 60
    for slot in range(99, 130):
        arrivals.add(packets[slot], 20 * slot)
        frames += _drain(arrivals, 20 * slot)
    assert arrivals.ahead_ms == 0
    assert len(frames) == 130


@pytest.mark.parametrize("payload", [b"\xff\xff\xff", b"\x00" * 4, b"\x4b\x83junk"])
def test_a_damaged_packet_is_concealed(payload: bytes) -> None:
    packets: list[Packet | None] = [*_packets(_vowel(20))]
    packets[10] = Packet(10, 10 * SLOT, payload)
    assert len(_heard(packets)) == 20
