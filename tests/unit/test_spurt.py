"""One encoding for all who hear the same; whoever hears something else has their own, and both decode as they should."""

import numpy as np
import pytest

from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples
from voiceagent.transport.opus import OpusDecoder, OpusEncoder, ticks_of
from voiceagent.transport.spurt import WINDOW, Listener, Spurts


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one for each frame that an encoder encodes."""
    counted: list[int] = []
    encode = OpusEncoder.encode

    def count(self: OpusEncoder, samples: Samples) -> bytes:
        counted.append(id(self))
        return encode(self, samples)

    monkeypatch.setattr(OpusEncoder, "encode", count)
    return counted


def _frames(count: int, pitch: int = 150) -> list[Samples]:
    times = np.arange(count * FRAME_SAMPLES) / RATE
    sound = sum(np.sin(2 * np.pi * pitch * n * times) / n for n in range(1, 10))
    return list(np.asarray(5000 * sound, dtype=np.int16).reshape(count, FRAME_SAMPLES))


def _decoded(packets: list[bytes]) -> Samples:
    decoder = OpusDecoder()
    return np.concatenate([decoder.decode(packet) for packet in packets])


def test_listeners_of_the_same_frames_share_every_packet_also_when_one_is_behind(encoded: list[int]) -> None:
    spurts, frames = Spurts(), _frames(40)
    first, second = Listener(spurts), Listener(spurts)
    early = [first.encode(frame) for frame in frames[:10]]
    late = [second.encode(frame) for frame in frames[:6]]
    for index in range(10, 40):
        early.append(first.encode(frames[index]))
        late.append(second.encode(frames[index - 4]))
    assert late == early[:36]
    assert len(encoded) == 40


def test_equal_frames_of_another_room_that_begin_apart_are_not_shared(encoded: list[int]) -> None:
    spurts = Spurts()
    first, second = Listener(spurts), Listener(spurts)
    for ours, theirs in zip(_frames(5), _frames(5, pitch=220), strict=True):
        first.encode(ours)
        second.encode(theirs)
    assert len(encoded) == 10
    assert len(set(encoded)) == 2


def test_who_hears_something_else_falls_out_and_is_back_with_the_next_spurt(encoded: list[int]) -> None:
    spurts, agent, mixed = Spurts(), _frames(60), _frames(60, pitch=230)
    all_others, speaker = Listener(spurts), Listener(spurts)
    packets, own = [], []
    for index, frame in enumerate(agent):
        packets.append(all_others.encode(mixed[index] if 20 <= index < 40 else frame))
        own.append(speaker.encode(frame))
    assert packets[:20] == own[:20]
    assert len(encoded) == 20 + 2 * 40
    all_others.pause()
    speaker.pause()
    before = len(encoded)
    assert all(all_others.encode(frame) == speaker.encode(frame) for frame in agent)
    assert len(encoded) - before == 60


def test_another_encoder_in_mid_speech_is_not_heard() -> None:
    """From the third frame behind the change on, the sound is as if nothing had happened."""
    frames = _frames(60)
    one = OpusEncoder()
    straight = [one.encode(frame) for frame in frames]
    other = OpusEncoder()
    changed = straight[:30] + [other.encode(frame) for frame in frames[30:]]
    plain, switched = _decoded(straight).astype(float), _decoded(changed).astype(float)
    place = 33 * 960
    error = np.sqrt(np.mean((plain[place:] - switched[place:]) ** 2)) / np.sqrt(np.mean(plain[place:] ** 2))
    assert error < 0.35
    levels = np.abs(switched[: 58 * 960].reshape(-1, 960)).max(axis=1)
    assert levels[29:].max() < 1.3 * levels[5:29].max()


def test_who_is_further_behind_than_packets_are_kept_has_their_own(encoded: list[int]) -> None:
    spurts, frames = Spurts(), _frames(WINDOW + 5)
    first, second = Listener(spurts), Listener(spurts)
    for frame in frames:
        first.encode(frame)
    assert [len(second.encode(frame)) > 0 for frame in frames[:3]] == [True] * 3
    assert len(encoded) == WINDOW + 5 + 3


@pytest.mark.parametrize(
    ("payload", "ticks"),
    [
        (b"", 0),
        (bytes([9 << 3]), 960),
        (bytes([3 << 3]), 2880),
        (bytes([3 << 3 | 1]), 5760),
        (bytes([3 << 3 | 3, 3]), 0),
        (bytes([16 << 3]), 120),
        (bytes([31 << 3 | 3, 6]), 5760),
        (bytes([15 << 3]), 960),
        (bytes([9 << 3 | 3]), 0),
    ],
)
def test_how_long_a_packet_sounds_is_in_its_first_bytes(payload: bytes, ticks: int) -> None:
    assert ticks_of(payload) == ticks
