"""Packets in order and at once: a loss delays nothing, a late packet is let go, numbers wrap."""

from aiortc.rtp import RtpPacket

from voiceagent.transport.inorder import InOrder


def _packet(number: int) -> RtpPacket:
    packet = RtpPacket(sequence_number=number, timestamp=number * 960)
    packet._data = bytes([number % 256])  # type: ignore[attr-defined]
    return packet


def _through(*numbers: int) -> list[int]:
    buffer = InOrder()
    frames = [(number, buffer.add(_packet(number))) for number in numbers]
    assert not any(picture for _, (picture, _) in frames)
    return [number for number, (_, frame) in frames if frame is not None and frame.timestamp == number * 960]


def test_every_packet_at_once() -> None:
    assert _through(1, 2, 3) == [1, 2, 3]


def test_a_lost_packet_delays_nothing() -> None:
    assert _through(1, 3, 4, 9) == [1, 3, 4, 9]


def test_a_late_or_repeated_packet_is_let_go() -> None:
    assert _through(1, 3, 2, 3, 4) == [1, 3, 4]


def test_numbers_wrap() -> None:
    assert _through(65_534, 65_535, 0, 1) == [65_534, 65_535, 0, 1]
