"""Takes a browser's audio packets out of aiortc's receiver before they are decoded."""

import logging
from collections.abc import Callable
from typing import Final

from aiortc import RTCRtpReceiver
from aiortc.jitterbuffer import JitterBuffer, JitterFrame
from aiortc.rtp import RtpPacket

from voiceagent.audio.jitter import Packet
from voiceagent.transport.opus import ticks_of

log = logging.getLogger(__name__)

_PLACE: Final = "_RTCRtpReceiver__jitter_buffer"


class Inlet(JitterBuffer):
    """Stands where aiortc has its jitter buffer, hands every packet on as it comes and gives aiortc nothing to decode.

    aiortc's own keeps 4 packets back, hands on nothing for 15 packets after one is lost, stays 280 ms late for good, and tells
    its decoder of no loss. There is no public place to name another.
    """

    def __init__(self, take: Callable[[Packet], None]) -> None:
        super().__init__(capacity=1)
        self._take = take

    def add(self, packet: RtpPacket) -> tuple[bool, JitterFrame | None]:
        """Hands the packet on. Never asks for a picture."""
        payload = packet.payload
        ticks = ticks_of(payload)
        if ticks:
            self._take(Packet(packet.sequence_number, packet.timestamp, payload, ticks, packet.ssrc))
        return False, None


def tap(receiver: RTCRtpReceiver, take: Callable[[Packet], None]) -> None:
    """From now on the receiver's packets go to `take`."""
    if not hasattr(receiver, _PLACE):
        raise RuntimeError("this version of aiortc keeps its jitter buffer elsewhere: nobody would be heard")
    setattr(receiver, _PLACE, Inlet(take))
