"""A line that loses packets, between our call and aiortc's own peer."""

import asyncio
import fractions
from pathlib import Path

import av
import numpy as np
import pytest
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamTrack

from tests.wire.browser import read_wav
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples
from voiceagent.transport.webrtc import WebRtcCall

SILENT_S = 0.5
FRAMES = 350
PART = 125
"""Frames at the beginning and at the end that are compared; the losses lie between."""


class _Speaker(MediaStreamTrack):
    """Says the samples over and over, in real time."""

    kind = "audio"

    def __init__(self, samples: Samples) -> None:
        super().__init__()
        self._samples = np.concatenate((np.zeros(int(SILENT_S * RATE), dtype=np.int16), samples))
        self._sent = 0
        self._began: float | None = None

    async def recv(self) -> av.AudioFrame:
        loop = asyncio.get_running_loop()
        if self._began is None:
            self._began = loop.time()
        await asyncio.sleep(max(0.0, self._began + self._sent / RATE - loop.time()))
        frame = av.AudioFrame.from_ndarray(
            np.take(self._samples, range(self._sent, self._sent + FRAME_SAMPLES), mode="wrap").reshape(1, -1),
            format="s16",
            layout="mono",
        )
        frame.sample_rate, frame.pts, frame.time_base = RATE, self._sent, fractions.Fraction(1, RATE)
        self._sent += FRAME_SAMPLES
        return frame


def _lose(peer: RTCPeerConnection, which: frozenset[int]) -> None:
    """These packets, counted from the first, never leave."""
    transport = peer.getSenders()[0].transport
    send, sent = transport._send_rtp, 0

    async def sometimes(data: bytes) -> None:
        nonlocal sent
        sent += 1
        if sent not in which:
            await send(data)

    transport._send_rtp = sometimes  # type: ignore[method-assign]


def _levels(samples: Samples) -> np.ndarray:
    whole = samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES].astype(float).reshape(-1, FRAME_SAMPLES)
    levels: np.ndarray = np.sqrt((whole**2).mean(axis=1))
    return levels


def _delay(heard: np.ndarray, said: np.ndarray) -> int:
    """Frames by which what was heard lies behind what was said."""
    return max(range(40), key=lambda late: float(np.corrcoef(heard[late:], said[: len(said) - late])[0, 1]))


@pytest.mark.parametrize("lost", [frozenset({150}), frozenset(range(140, 190, 7))], ids=["one", "some"])
async def test_lost_packets_cost_their_own_20_ms_and_no_delay(shared_audio: Path, lost: frozenset[int]) -> None:
    samples, _ = read_wav(shared_audio / "tau2-order_status.wav")
    call, peer = WebRtcCall("lossy"), RTCPeerConnection()
    peer.addTrack(_Speaker(samples))
    _lose(peer, lost)
    await peer.setLocalDescription(await peer.createOffer())
    answer = await call.accept(peer.localDescription.sdp)
    running = asyncio.create_task(call.run())
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    assert await call.connected()
    heard: list[Samples] = []
    async with asyncio.timeout(15):
        async for frame in call.frames():
            heard.append(frame.samples)
            if len(heard) == FRAMES:
                break
    await peer.close()
    await call.close()
    await running
    levels = _levels(np.concatenate(heard))
    said = np.resize(_levels(np.concatenate((np.zeros(int(SILENT_S * RATE), dtype=np.int16), samples))), FRAMES)
    early, late = _delay(levels[:PART], said[:PART]), _delay(levels[-PART:], said[FRAMES - PART :])
    assert abs(late - early) <= 1, (early, late)
