"""The written side of a browser's line: text messages both ways over one data channel, in order, beside the sound."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Final

from aiortc import RTCDataChannel

log = logging.getLogger(__name__)

LABEL: Final = "chat"
"""The name of the data channel; others that a browser may open are not read."""

WAITING: Final = 256
"""Messages that may wait to be read before the browser writes too fast for us."""

LONGEST: Final = 65_536
"""Characters of one message from a browser."""

HIGH_BYTES: Final = 262_144
LOW_BYTES: Final = 65_536
"""A message waits while more than HIGH_BYTES have not left, until less than LOW_BYTES have."""

FAREWELL_MS: Final = 300
"""How long the last words may take to leave."""


class Chat:
    """Messages of one line. Who reads and who writes may begin before the channel is there; both end with the line.

    `farewell` is sent when this side ends the line, so that the browser need not guess why it fell silent. A browser that
    writes what is too long, or faster than it is read, has its chat closed.
    """

    def __init__(self, farewell: str | None = None) -> None:
        self._farewell = farewell
        self._channel: RTCDataChannel | None = None
        self._inbox: asyncio.Queue[str | None] = asyncio.Queue()
        self._opened = asyncio.Event()  # there, or it never will be
        self._low = asyncio.Event()
        self._over = False

    def take_channel(self, channel: RTCDataChannel) -> None:
        """The browser has opened a data channel; the first one of the right name is ours."""
        if channel.label != LABEL or self._channel is not None or self._over:
            return
        channel.bufferedAmountLowThreshold = LOW_BYTES
        channel.on("message", self._came)
        channel.on("bufferedamountlow", self._low.set)
        channel.on("close", self.close)
        self._channel = channel
        self._opened.set()

    async def messages(self) -> AsyncIterator[str]:
        """What the browser writes, until the line is over. Called once."""
        while (message := await self._inbox.get()) is not None:
            yield message

    async def send(self, message: str) -> bool:
        """Sends once the channel is there and not too much waits to leave; False when the line is over."""
        await self._opened.wait()
        channel = self._channel
        while channel is not None and not self._over and channel.bufferedAmount > HIGH_BYTES:
            self._low.clear()
            await self._low.wait()
        return self._send(message)

    def close(self) -> None:
        """Nothing more is read or sent; safe to call twice."""
        if not self._over:
            self._over = True
            self._inbox.put_nowait(None)
            self._opened.set()
            self._low.set()

    async def bid_farewell(self) -> None:
        """Closes; the last words are given a moment to leave."""
        channel = self._channel
        told = self._farewell is not None and self._send(self._farewell)
        self.close()
        if told and channel is not None and channel.bufferedAmount:
            channel.bufferedAmountLowThreshold = 0
            self._low.clear()
            try:
                async with asyncio.timeout(FAREWELL_MS / 1000):
                    await self._low.wait()
            except TimeoutError:
                log.debug("the browser did not take the last words")

    def _send(self, message: str) -> bool:
        if self._over or self._channel is None or self._channel.readyState != "open":
            return False
        self._channel.send(message)
        return True

    def _came(self, message: str | bytes) -> None:
        if isinstance(message, bytes) or self._over:
            return
        if len(message) > LONGEST or self._inbox.qsize() >= WAITING:
            log.warning("a browser writes more than can be read: its chat is closed")
            self.close()
            return
        self._inbox.put_nowait(message)
