"""A line that loses, delays, disorders and doubles packets, between our call and aiortc's own peer, through a UDP relay."""

import asyncio
import fractions
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamTrack

from tests.sound.hearing import load, model
from tests.sound.references import REFERENCES, plain
from tests.wire.relay import Relay, Weather
from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, RATE, Samples
from voiceagent.speech.whisper import WhisperEngine
from voiceagent.transport.webrtc import WebRtcCall

SILENT_MS = 1000
STEP = RATE // 200
SPOKEN = "faster-whisper-jfk.flac"


class _Speaker(MediaStreamTrack):
    """Says a second of silence, then the samples over and over, in real time."""

    kind = "audio"

    def __init__(self, samples: Samples) -> None:
        super().__init__()
        self.samples = samples
        self.began = 0.0
        self._sent = 0

    def said(self, start_ms: int, end_ms: int) -> Samples:
        """What was said between these times."""
        places = np.arange(start_ms, end_ms).repeat(RATE // 1000) * (RATE // 1000) + np.tile(
            np.arange(RATE // 1000), end_ms - start_ms
        )
        silent = SILENT_MS * RATE // 1000
        return np.where(places < silent, 0, np.take(self.samples, places - silent, mode="wrap")).astype(np.int16)

    async def recv(self) -> av.AudioFrame:
        loop = asyncio.get_running_loop()
        self.began = self.began or loop.time()
        await asyncio.sleep(max(0.0, self.began + self._sent / RATE - loop.time()))
        at = self._sent * 1000 // RATE
        frame = av.AudioFrame.from_ndarray(self.said(at, at + FRAME_MS).reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, self._sent, fractions.Fraction(1, RATE)
        self._sent += FRAME_SAMPLES
        return frame


class _Heard:
    """The frames that came, and when, in ms since the speaker began."""

    def __init__(self) -> None:
        self.frames: list[Samples] = []
        self.at_ms: list[int] = []

    def take(self, samples: Samples, at_ms: int) -> None:
        self.frames.append(samples)
        self.at_ms.append(at_ms)

    def late_ms(self, said: _Speaker, start_ms: int, end_ms: int) -> int:
        """How long after it was said a frame came, the median of those that came in this time; their place in what was said
        is found by correlation of levels."""
        frames = [at for at, ms in enumerate(self.at_ms) if start_ms <= ms < end_ms]
        levels = _levels(np.concatenate([self.frames[at] for at in frames]))
        length = len(frames) * FRAME_MS

        def alike(began: int) -> float:
            return float(np.corrcoef(levels, _levels(said.said(began, began + length)))[0, 1])

        began = max(range(start_ms - 800, start_ms + 400, 5), key=alike)
        return int(np.median([self.at_ms[at] - began - place * FRAME_MS for place, at in enumerate(frames)]))


def _levels(samples: Samples) -> np.ndarray:
    levels: np.ndarray = np.log(np.abs(samples.astype(float)).reshape(-1, STEP).mean(axis=1) + 30)
    return levels


async def _call(samples: Samples, weather: Weather, length_ms: int) -> tuple[_Heard, _Speaker]:
    call, peer, speaker, heard = WebRtcCall("lossy"), RTCPeerConnection(), _Speaker(samples), _Heard()
    peer.addTrack(speaker)
    loop = asyncio.get_running_loop()
    async with Relay(weather) as relay, asyncio.timeout(length_ms / 1000 + 15):
        await peer.setLocalDescription(await peer.createOffer())
        answer = await call.accept(relay.to_hearer(peer.localDescription.sdp))
        running = asyncio.create_task(call.run())
        await peer.setRemoteDescription(RTCSessionDescription(relay.to_speaker(answer), "answer"))
        assert await call.connected()
        async for frame in call.frames():
            at_ms = round((loop.time() - speaker.began) * 1000) if speaker.began else -FRAME_MS
            heard.take(frame.samples, at_ms)
            if at_ms >= length_ms:
                break
        await peer.close()
        await call.close()
        await running
    return heard, speaker


@pytest.fixture(scope="module")
def whisper() -> Iterator[WhisperEngine]:
    engine = WhisperEngine(model("whisper-tiny.en"))
    yield engine
    engine.close()


def _wrong(heard: str, said: str) -> int:
    """Words that are missing, added or other."""
    words, truth = plain(heard).split(), plain(said).split()
    row = list(range(len(truth) + 1))
    for index, word in enumerate(words, 1):
        last, row[0] = row[0], index
        for place, other in enumerate(truth, 1):
            last, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, last + (word != other))
    return row[-1]


@pytest.mark.parametrize("lost", [frozenset({150}), frozenset(range(140, 190, 7))], ids=["one", "some"])
async def test_lost_packets_cost_their_own_20_ms_and_no_delay(shared_audio: Path, lost: frozenset[int]) -> None:
    heard, said = await _call(load(shared_audio / SPOKEN), Weather(1, lost=lost), 6000)
    early, late = heard.late_ms(said, 1200, 2800), heard.late_ms(said, 4000, 5800)
    assert late - early <= 10, (early, late)
    assert late <= 60, late


async def test_a_bad_line_keeps_the_words_and_a_gap_of_two_seconds_leaves_no_delay(
    shared_audio: Path, whisper: WhisperEngine
) -> None:
    samples = load(shared_audio / SPOKEN)
    gap = range(620, 720)
    weather = Weather(7, loss=0.05, jitter_ms=60, twice=0.05, held=gap)
    heard, said = await _call(samples, weather, 20_500)
    spoken = [frame for frame, at_ms in zip(heard.frames, heard.at_ms, strict=True) if 0 <= at_ms < 12_400]
    words = (await whisper.transcribe(np.concatenate(spoken))).text
    assert _wrong(words, REFERENCES[SPOKEN]) <= 2, words
    assert heard.late_ms(said, 3000, 11_000) < 100
    back = gap.stop * FRAME_MS + 3000
    assert heard.late_ms(said, back, back + 2500) < 100


async def test_two_seconds_that_are_lost_keep_their_time(shared_audio: Path) -> None:
    heard, said = await _call(load(shared_audio / SPOKEN), Weather(3, lost=frozenset(range(200, 300))), 9500)
    early, late = heard.late_ms(said, 1200, 3500), heard.late_ms(said, 6500, 9300)
    assert abs(late - early) <= 10, (early, late)
    assert late <= 60, late
