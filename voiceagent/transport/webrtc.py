"""A line to a browser: sound both ways over WebRTC, from the offer to the hang-up."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Final

from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpCodecCapability, RTCRtpReceiver, RTCSessionDescription
from aiortc.sdp import SessionDescription, candidate_from_sdp

from voiceagent import clock
from voiceagent.audio.frame import AudioFrame, to_samples
from voiceagent.audio.jitter import Packet
from voiceagent.errors import TransportError
from voiceagent.transport.arrivals import Arrivals
from voiceagent.transport.chat import Chat
from voiceagent.transport.inlet import tap
from voiceagent.transport.spurt import Spurts
from voiceagent.transport.track import SpeechTrack

log = logging.getLogger(__name__)

CONNECT_MS: Final = 15_000
CANDIDATES: Final = 64
DRAIN_MS: Final = 1_000
BEHIND_MS: Final = 40
"""How much later a browser plays what comes, as long as it has not said so itself: two packets in its buffer."""

MOST_BEHIND_MS: Final = 500
SECTIONS: Final = 4
"""Of an offer with a chat: the sound, the chat, a camera and a screen."""


class WebRtcCall:
    """One browser's line. `accept` an offer, give `run` a task, then use it as a Call once `connected` said so.

    A page without a microphone has a living line all the same: its frames are silence. The line ends when the page says so,
    when the connection is lost (at most 40 s after the page is gone without a word), when it is not up within 15 s, or by
    `hang_up`.
    """

    has_screen = True
    """The page shows questions."""

    def __init__(self, session_id: str, chat: Chat | None = None, *, spurts: Spurts | None = None) -> None:
        """With a `chat`, the browser may open a data channel for it, and offer video, of which nothing is taken.

        Lines with the same `spurts` that are played the same frames encode them once.
        """
        self._session_id = session_id
        self._chat = chat
        self._peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._track = SpeechTrack(spurts or Spurts())
        self._settled = asyncio.Event()  # up, or over before it was
        self._over = asyncio.Event()
        self._arrived = asyncio.Event()
        self._arrivals: Arrivals | None = None
        self._behind_ms = BEHIND_MS
        self._candidates = 0
        self._closing: asyncio.Future[None] | None = None
        self._peer.on("connectionstatechange", self._state_changed)
        if chat is not None:
            self._peer.on("datachannel", chat.take_channel)

    @property
    def session_id(self) -> str:
        """Names this line; unique, never reused."""
        return self._session_id

    async def accept(self, offer: str) -> str:
        """Answers an SDP offer with one that holds all of our candidates. Raises TransportError for an offer nobody can use."""
        try:
            _check(offer, with_chat=self._chat is not None)
            transceiver = self._peer.addTransceiver(self._track, direction="sendrecv")
            transceiver.setCodecPreferences(_opus())
            tap(transceiver.receiver, self._packet_came)
            await self._peer.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
            return await self._answer()
        except Exception as error:  # what hostile SDP makes a library raise is no list
            await self.close()
            raise TransportError(f"the offer cannot be used: {error or type(error).__name__}") from error

    async def renegotiate(self, offer: str) -> str:
        """Answers another offer for the same line, which goes on. Raises TransportError; then it is over."""
        try:
            _check(offer, with_chat=self._chat is not None)
            await self._peer.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
            return await self._answer()
        except Exception as error:
            await self.close()
            raise TransportError(f"the offer cannot be used: {error or type(error).__name__}") from error

    async def _answer(self) -> str:
        for other in self._peer.getTransceivers():
            if other.kind != "audio":
                other.direction = "inactive"
        await self._peer.setLocalDescription(await self._peer.createAnswer())
        return str(self._peer.localDescription.sdp)

    async def add_candidate(self, line: str, mid: str | None, index: int | None) -> None:
        """Adds one of the browser's candidates, as it stands in SDP; an empty line says that there are no more."""
        self._candidates += 1
        if self._candidates > CANDIDATES:
            raise TransportError(f"a line takes at most {CANDIDATES} candidates")
        try:
            if not line:
                await self._peer.addIceCandidate(None)
                return
            candidate = candidate_from_sdp(line.removeprefix("candidate:"))
            candidate.sdpMid, candidate.sdpMLineIndex = mid, index
            await self._peer.addIceCandidate(candidate)
        except Exception as error:
            raise TransportError(f"the candidate cannot be used: {error or type(error).__name__}") from error

    async def connected(self) -> bool:
        """Whether sound can flow; waits until it can, or the line is over."""
        await self._settled.wait()
        return not self._over.is_set()

    async def run(self) -> None:
        """Takes in the browser's sound until the line is over, then lets go of everything. Its owner gives it a task."""
        try:
            async with asyncio.timeout(CONNECT_MS / 1000):
                if not await self.connected():
                    return
            await self._over.wait()
        except TimeoutError:
            log.info("line %s: no connection within %d s", self._session_id, CONNECT_MS // 1000)
        finally:
            await self.close()

    async def frames(self) -> AsyncIterator[AudioFrame]:
        """The person's sound, one frame every 20 ms until the line is over; silence where none comes. Called once."""
        self._arrivals = arrivals = Arrivals(clock.now())
        while not self._over.is_set():
            now = clock.now()
            frame = arrivals.take(now)
            if frame is not None:
                yield frame
                await asyncio.sleep(0)  # after a gap many are here at once: between two of them the loop serves others
                continue
            self._arrived.clear()
            try:
                async with asyncio.timeout((arrivals.due - now) / 1000):
                    await self._arrived.wait()
            except TimeoutError:
                continue

    def play(self, frame: AudioFrame) -> int:
        """Takes the next 20 ms for the person's ear; never blocks. Returns how many waiting samples were dropped for it."""
        return 0 if self._over.is_set() else self._track.play(frame)

    def clear(self) -> int:
        """Drops what has not left; returns how many 16 kHz samples that was."""
        return self._track.clear()

    @property
    def queued(self) -> int:
        """16 kHz samples that have not left yet."""
        return self._track.queued

    @property
    def behind(self) -> int:
        """16 kHz samples that the listener hears later than they leave, by the page's last word of it."""
        return to_samples(self._behind_ms)

    def plays_late(self, ms: int) -> None:
        """The page says how long sound waits at its end before it is heard; at most 500 ms are believed."""
        self._behind_ms = min(max(0, ms), MOST_BEHIND_MS)

    async def hang_up(self) -> None:
        """Closes the line once what is queued has left; safe to call twice."""
        if self._settled.is_set() and not self._over.is_set():
            try:
                async with asyncio.timeout(DRAIN_MS / 1000):
                    await self._track.drained()
            except TimeoutError:
                log.info("line %s: closed with %d samples unsent", self._session_id, self._track.queued)
        await self.close()

    async def close(self) -> None:
        """Closes the line at once; safe to call twice."""
        self.end()
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._let_go())
        await asyncio.shield(self._closing)  # aiortc never ends a second close when the first was cancelled half way

    def end(self) -> None:
        """The line is over: run() closes it."""
        self._over.set()
        self._settled.set()
        self._arrived.set()

    async def _let_go(self) -> None:
        if self._chat is not None:
            await self._chat.bid_farewell()
        await self._peer.close()

    def _state_changed(self) -> None:
        state = self._peer.connectionState
        if state == "connected":
            self._settled.set()
        elif state in ("failed", "closed"):
            self.end()

    def _packet_came(self, packet: Packet) -> None:
        """From within aiortc's receiver, for each packet."""
        if self._arrivals is not None:
            self._arrivals.add(packet, clock.now())
            self._arrived.set()


def _opus() -> list[RTCRtpCodecCapability]:
    capabilities = RTCRtpReceiver.getCapabilities("audio")
    return [codec for codec in capabilities.codecs if codec.name.lower() == "opus"] if capabilities else []


def _check(offer: str, *, with_chat: bool) -> None:
    media = [section.kind for section in SessionDescription.parse(offer).media]
    if with_chat and len(media) <= SECTIONS and media.count("application") <= 1:
        media = [kind for kind in media if kind not in ("video", "application")]
    if media != ["audio"]:
        raise ValueError(f"one audio section is wanted, not {media or 'none'}")
