"""A browser's part in a call: aiortc's own peer, which speaks a recording, on a loop and a thread of its own."""

import asyncio
import fractions
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import av
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamTrack

from voiceagent.audio.frame import FRAME_SAMPLES, RATE, SILENCE, Samples


class _Microphone(MediaStreamTrack):
    """The recording once, in real time, and silence after it."""

    kind = "audio"

    def __init__(self, sound: Samples) -> None:
        super().__init__()
        self._sound = sound
        self._sent = 0
        self._began = 0.0

    async def recv(self) -> av.AudioFrame:
        loop = asyncio.get_running_loop()
        self._began = self._began or loop.time()
        await asyncio.sleep(max(0.0, self._began + self._sent / RATE - loop.time()))
        piece = self._sound[self._sent : self._sent + FRAME_SAMPLES]
        samples = piece if piece.size == FRAME_SAMPLES else SILENCE
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, self._sent, fractions.Fraction(1, RATE)
        self._sent += FRAME_SAMPLES
        return frame


class Visitor:
    """Calls: `await offer()`, then `answered(...)`."""

    def __init__(self, sound: Samples) -> None:
        self._sound = sound
        self._offer: Future[str] = Future()
        self._answer: Future[str] = Future()
        self._gone: Future[None] = Future()

    async def offer(self) -> str:
        """Its SDP, with all candidates."""
        return await asyncio.wrap_future(self._offer)

    def answered(self, answer: str) -> None:
        """The SDP that it is given; it speaks once it is connected."""
        self._answer.set_result(answer)

    def leave(self) -> None:
        """Hangs up."""
        for awaited in (self._answer, self._gone):
            awaited.cancel()

    async def call(self) -> None:
        """Until it leaves."""
        peer = RTCPeerConnection()
        peer.addTrack(_Microphone(self._sound))
        try:
            await peer.setLocalDescription(await peer.createOffer())
            self._offer.set_result(peer.localDescription.sdp)
            answer = await asyncio.wrap_future(self._answer)
            await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
            await asyncio.wrap_future(self._gone)
        except asyncio.CancelledError:
            pass
        finally:
            await peer.close()


@contextmanager
def visiting(sound: Samples) -> Iterator[Visitor]:
    """One that has its offer made meanwhile, and has left when this is over."""
    visitor = Visitor(sound)
    thread = threading.Thread(target=lambda: asyncio.run(visitor.call()), name="visitor")
    thread.start()
    try:
        yield visitor
    finally:
        visitor.leave()
        thread.join()
