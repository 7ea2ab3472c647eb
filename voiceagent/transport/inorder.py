"""A browser's audio packets in order and at once, in place of aiortc's jitter buffer."""

from aiortc.jitterbuffer import JitterBuffer, JitterFrame
from aiortc.rtp import RtpPacket
from aiortc.utils import uint16_gt


class InOrder(JitterBuffer):
    """Hands each packet on as it comes; one that comes after a later one is let go.

    aiortc's own audio buffer keeps 4 packets back (60 ms more delay than this), and after one lost packet hands on nothing for
    15 packets and stays 280 ms late for good. Here a lost packet is a hole in the positions, which Arrivals fills with silence
    in its place, and lateness is Arrivals' business too.
    """

    def __init__(self) -> None:
        super().__init__(capacity=1)
        self._newest: int | None = None

    def add(self, packet: RtpPacket) -> tuple[bool, JitterFrame | None]:
        """The packet's frame, None when a later one has gone before it. Never asks for a picture."""
        if self._newest is not None and not uint16_gt(packet.sequence_number, self._newest):
            return False, None
        self._newest = packet.sequence_number
        return False, JitterFrame(data=packet._data, timestamp=packet.timestamp)  # type: ignore[attr-defined]  # noqa: SLF001
