"""Packets that a network brought late, twice, in disorder or not at all, as one place after another in the sender's time."""

from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import Final

from voiceagent.audio.frame import FRAME_MS
from voiceagent.audio.lateness import Lateness

TICKS_MS: Final = 48
SLOT: Final = FRAME_MS * TICKS_MS
"""20 ms on the 48 kHz clock of Opus in RTP."""

MOST_MS: Final = 400
MOST: Final = MOST_MS * TICKS_MS
"""How much may be handed on beyond the sender's own time, and how long a hole is filled at most."""

HELD: Final = 64
SEEN: Final = 128

LEAD_MS: Final = 500
"""How far a sender may run ahead of real time; 1 % faster clocks are real."""

PAUSE: Final = 1_000 * TICKS_MS
OVERSLEPT_MS: Final = 20
READING_MS: Final = 30
"""Who asks so much too late did not get the processor: what came meanwhile is given this long to be read."""

STUCK_MS: Final = 200
STUCK: Final = 10


@dataclass(frozen=True, slots=True)
class Packet:
    """What a sender says in one packet: `sequence` of 16 bits and `timestamp` of 32 wrap, `ticks` is how long it sounds (48 kHz),
    `stream` changes when a sender begins anew."""

    sequence: int
    timestamp: int
    payload: bytes
    ticks: int = SLOT
    stream: int = 0


class Missing(Enum):
    """20 ms without a packet: `LOST`, one of them is known to be missing; `QUIET`, nothing came, or nothing was sent."""

    LOST = "lost"
    QUIET = "quiet"


Place = Packet | Missing


class JitterBuffer:
    """Decides what comes next, and when a packet has been waited for long enough. Times are whole ms of the loop's clock.

    A packet in its order is handed on at once, since the ear plays nothing out; only a hole costs time, 20 to 200 ms by what
    the line's packets have done of late. Who comes later than that has been replaced, and is heard all the same if nobody
    behind him was: time then runs `ahead` of the sender's, 400 ms at most, until quiet places are left out.
    """

    def __init__(self, began: int) -> None:
        self._lateness = Lateness()
        self._held: dict[int, tuple[int, Packet]] = {}
        self._seen: deque[int] = deque(maxlen=SEEN)
        self._stream: int | None = None
        self._former: int | None = None
        self._newest = 0  # timestamp of the newest packet, unwrapped
        self._newest_sequence = 0
        self._next = 0  # timestamp of the next place
        self._handed_sequence = 0
        self._filled = 0  # ticks handed on as quiet, of which nobody knows yet whether they have a place
        self._ahead = 0
        self._stuck = 0  # packets that were all too late, one behind the other
        self._stuck_since = 0
        self._pace = _Pace(began)
        self._first_due = began + self._lateness.wait_ms
        self._promised: int | None = None
        self._excused = began
        self.dropped = 0

    @property
    def wait_ms(self) -> int:
        """How long a missing packet is waited for now."""
        return self._lateness.wait_ms

    @property
    def ahead_ms(self) -> int:
        """How much more has been handed on than the sender has sent: what is heard lies so far behind."""
        return self._ahead // TICKS_MS

    @property
    def due(self) -> int:
        """When the next place is given up, in milliseconds."""
        return max(self._excused, self._over)

    @property
    def _over(self) -> int:
        """When the next place is over by the sender's clock."""
        if self._stream is None:
            return self._first_due
        return self._lateness.fastest + (self._next + self._filled) // TICKS_MS + self._lateness.wait_ms

    def add(self, packet: Packet, now: int) -> None:
        """Takes a packet as it comes."""
        if packet.stream != self._stream and not self._begin(packet):
            return
        at = self._newest + _signed(packet.timestamp - self._newest, 32)
        sequence = self._newest_sequence + _signed(packet.sequence - self._newest_sequence, 16)
        if sequence in self._seen or at in self._held:
            return
        self._seen.append(sequence)
        self._lateness.add(now - at // TICKS_MS, now)
        if sequence > self._newest_sequence:
            if at - self._newest > PAUSE:  # after so long a pause two clocks may differ
                self._next = min(self._next, at)
            self._newest, self._newest_sequence = max(at, self._newest), sequence
        if at < self._next and not self._unstick(at, sequence, now):
            self.dropped += 1
            return
        self._stuck = 0
        self._held[at] = (sequence, packet)
        self._bound()

    def take(self, now: int) -> Place | None:
        """What comes next; None while it is worth waiting: ask again at `due`, or when a packet has come."""
        if self._promised is not None and now - self._promised > OVERSLEPT_MS:
            self._excused = now + READING_MS
        place = self._take(now)
        self._promised = self.due if place is None else None
        return place

    def _take(self, now: int) -> Place | None:
        while self._held:
            at = min(self._held)
            self._settle(at)
            if at > self._next:
                return self._hole(at, now)
            sequence, packet = self._held.pop(at)
            self._next, self._handed_sequence = at + max(packet.ticks, 1), sequence
            if self._pace.allows(packet.ticks, now):
                return packet
            self.dropped += 1
        if now < self.due:
            return None
        return self._fill()

    def leave_out(self) -> None:
        """A place that was handed on has been left out by whoever heard that it was quiet."""
        self._ahead = max(0, self._ahead - SLOT)

    def _begin(self, packet: Packet) -> bool:
        """Another stream; False for the remains of the one before it."""
        if packet.stream == self._former:
            return False
        self._former, self._stream = self._stream, packet.stream
        self._newest, self._newest_sequence = packet.timestamp, packet.sequence
        self._next, self._handed_sequence = packet.timestamp, packet.sequence - 1
        self._held.clear()
        self._seen.clear()
        self._lateness = Lateness()
        self._filled = 0
        return True

    def _unstick(self, at: int, sequence: int, now: int) -> bool:
        """A sender all of whose packets are too late, for 200 ms, has another clock than we thought."""
        if sequence < self._newest_sequence:
            return False
        if not self._stuck:
            self._stuck_since = now
        self._stuck += 1
        if self._stuck < STUCK or now - self._stuck_since < STUCK_MS:
            return False
        self._next, self._filled = at, 0
        self._lateness = Lateness()
        self._lateness.add(now - at // TICKS_MS, now)
        return True

    def _settle(self, at: int) -> None:
        """Now that the next packet is known, so is the place of what was handed on before it."""
        hole = at - self._next
        used = min(hole, self._filled)
        self._ahead = min(MOST, self._ahead + self._filled - used)
        self._filled = 0
        self._next = max(self._next + used, at - MOST)
        if at - self._next < SLOT // 2:
            self._next = at

    def _hole(self, at: int, now: int) -> Place | None:
        sequence, _ = self._held[at]
        silent = sequence == self._handed_sequence + 1
        if not silent and now < self.due:
            return None
        if silent and self._ahead >= SLOT:
            left_out = min(self._ahead, at - self._next)
            self._ahead -= left_out
            self._next += left_out
            return self._take(now)
        if not self._pace.allows(SLOT, now):
            self._next = at
            return self._take(now)
        self._next = min(self._next + SLOT, at)
        return Missing.QUIET if silent else Missing.LOST

    def _fill(self) -> Missing:
        if self._stream is None:
            self._first_due += FRAME_MS
        elif self._filled + self._ahead < MOST:
            self._filled += SLOT
        else:
            self._next += SLOT
        return Missing.QUIET

    def _bound(self) -> None:
        """The oldest goes when too many are held: their places are over."""
        while len(self._held) > HELD:
            at = min(self._held)
            self._handed_sequence, packet = self._held.pop(at)
            self._next = max(self._next, at + max(packet.ticks, 1))
            self.dropped += 1


class _Pace:
    """Keeps a sender to real time: what runs further ahead than LEAD_MS is not let through."""

    def __init__(self, began: int) -> None:
        self._at = began
        self._lead = 0.0

    def allows(self, ticks: int, now: int) -> bool:
        self._lead = max(0.0, self._lead - (now - self._at) * 1.01)
        self._at = now
        lead = self._lead + ticks / TICKS_MS
        if lead > LEAD_MS:
            return False
        self._lead = lead
        return True


def _signed(difference: int, bits: int) -> int:
    """The shortest way between two numbers that wrap."""
    half = 1 << (bits - 1)
    return (difference + half) % (1 << bits) - half
