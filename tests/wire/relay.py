"""A UDP relay between two WebRTC peers that loses, delays, disorders, doubles and holds back what one of them says."""

import asyncio
import random
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial

_CANDIDATE = re.compile(r"a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ host[^\r\n]*")

Address = tuple[str, int]


@dataclass
class Weather:
    """What happens to the speaker's sound packets, by number and by chance."""

    seed: int
    loss: float = 0.0
    jitter_ms: int = 0
    twice: float = 0.0
    lost: frozenset[int] = frozenset()
    held: range = range(0)
    """These packets come together, when the last of them would."""
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)

    def delays_ms(self, number: int) -> list[float]:
        """When the copies of this packet come, in ms from now."""
        late = [self._chance.uniform(0, self.jitter_ms)]
        if self._chance.random() < self.twice:
            late.append(self._chance.uniform(0, 2 * self.jitter_ms))
        if number in self.lost or self._chance.random() < self.loss:
            return []
        return [one + 20 * (self.held.stop - number) for one in late] if number in self.held else late


class _Side(asyncio.DatagramProtocol):
    def __init__(self, take: Callable[[bytes, Address], None]) -> None:
        self._take = take

    def datagram_received(self, data: bytes, addr: Address) -> None:
        self._take(data, addr)


class Relay:
    """Use it as `async with`; then `to_speaker` and `to_hearer` rewrite the SDP that either is given."""

    def __init__(self, weather: Weather) -> None:
        self._weather = weather
        self._ends = AsyncExitStack()
        self._addresses: dict[str, Address] = {}
        self._doors: dict[str, asyncio.DatagramTransport] = {}
        self._number = 0

    async def __aenter__(self) -> "Relay":
        loop = asyncio.get_running_loop()
        for side, other in (("speaker", "hearer"), ("hearer", "speaker")):
            door, _ = await loop.create_datagram_endpoint(partial(_Side, self._way(side, other)), ("0.0.0.0", 0))
            self._doors[side] = door
            self._ends.callback(door.close)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._ends.aclose()

    def to_hearer(self, sdp: str) -> str:
        """The speaker's offer: it seems to live at the relay."""
        return self._rewrite(sdp, "speaker", "hearer")

    def to_speaker(self, sdp: str) -> str:
        """The hearer's answer, the same."""
        return self._rewrite(sdp, "hearer", "speaker")

    def _rewrite(self, sdp: str, whose: str, reader: str) -> str:
        found = next(match for match in _CANDIDATE.finditer(sdp) if ":" not in match[1])
        self._addresses[whose] = found[1], int(found[2])
        port = self._doors[reader].get_extra_info("sockname")[1]
        mine = found[0].replace(f" {found[1]} {found[2]} ", f" {found[1]} {port} ")
        lines = [line for line in sdp.split("\r\n") if not line.startswith("a=candidate:")]
        lines.insert(next(at for at, line in enumerate(lines) if line.startswith("m=")) + 2, mine)
        return "\r\n".join(lines)

    def _way(self, side: str, other: str) -> Callable[[bytes, Address], None]:
        def take(data: bytes, address: Address) -> None:
            self._addresses[side] = address
            if side == "speaker" and 128 <= data[0] < 192 and not 192 <= data[1] < 224:
                late = self._weather.delays_ms(self._number)
                self._number += 1
                for ms in late:
                    asyncio.get_running_loop().call_later(ms / 1000, self._send, other, data)
            else:
                self._send(other, data)

        return take

    def _send(self, side: str, data: bytes) -> None:
        if not self._doors[side].is_closing():
            self._doors[side].sendto(data, self._addresses[side])
