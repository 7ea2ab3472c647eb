"""Measures how many browsers' connections one core serves: one person speaks, everybody else in the room hears it.

    python benchmarks/connections.py [--people 15,25,30] [--seconds 10] [--microphones open|closed] [--sound WAV] [--json]

The server is a process of its own on the first core: real lines, the real reception with its voice detector, a recognizer that
hears no words; its CPU is its own account of all its threads. The people are plain RTP peers in another process on the second
core: they shake hands as a browser does, then read the clock for each packet and decrypt nothing. With `open` microphones
everybody sends 50 packets of room noise a second, as browsers do; with `closed` ones only the speaker sends. Spacing is between
packets that follow each other by their RTP timestamps; what the peers' own loop adds is in it. A core's connections are those at
which it would be full, by the share used at the largest number whose 99th percentile of |spacing - 20 ms| is below 10 ms.
"""

import argparse
import asyncio
import json
import os
import statistics
import struct
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import cycle, pairwise
from pathlib import Path
from typing import TypedDict

import av
import numpy as np
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamTrack

from voiceagent.audio.decode import read_sound
from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, RATE, Samples
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.speech.detector import GatedDetector, Silero
from voiceagent.speech.engines import Transcript
from voiceagent.transport.opus import RTP_TICKS, OpusEncoder, stamped
from voiceagent.transport.spurt import Spurts
from voiceagent.transport.webrtc import WebRtcCall
from voiceagent.voice.hearing import Hearing
from voiceagent.voice.reception import Reception
from voiceagent.voice.settings import VoiceSettings

ROOT = Path(__file__).resolve().parent.parent
SOUND = ROOT / "tests" / "audio" / "spoken_opening_hours.wav"
ROOM = "hall"
CLEAN_MS = 10.0
AIM = 25


class Row(TypedDict):
    """One number of people, measured; `cpu` in shares of a core, spacing in ms off 20."""

    people: int
    microphones: str
    cpu: float
    spacing_p50: float
    spacing_p99: float
    packets: int
    clean: bool
    connections_a_core: float


class _NoWords:
    """A recognizer that hears no words, and a voice that says none."""

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        return Transcript("")

    async def speak(self, text: str) -> AsyncIterator[Samples]:
        no_sound: tuple[Samples, ...] = ()
        for piece in no_sound:
            yield piece


async def serve() -> None:
    """Answers offers, one line of JSON each on standard input, and says its CPU seconds on the word "cpu"."""
    silero, spurts = Silero(), Spurts()
    async with RoomEngine() as engine, asyncio.TaskGroup() as tasks:
        hearing = Hearing(_NoWords(), lambda: GatedDetector(silero))
        reception = Reception(engine, hearing, _NoWords(), VoiceSettings(greeting=""))
        calls: list[WebRtcCall] = []
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            if line == "cpu":
                print(json.dumps(time.process_time()), flush=True)
                continue
            number = len(calls)
            calls.append(call := WebRtcCall(f"call-{number}", spurts=spurts))
            answer = await call.accept(json.loads(line))
            tasks.create_task(call.run())
            tasks.create_task(_received(reception, call, number))
            print(json.dumps(answer), flush=True)
        for call in calls:
            await call.close()


async def _received(reception: Reception, call: WebRtcCall, number: int) -> None:
    if await call.connected():
        await reception.receive(call, room_id=ROOM, participant=Participant(f"p{number}", f"Person {number}"))


class _Microphone(MediaStreamTrack):
    """Sends packets that were encoded beforehand, every 20 ms, over and over."""

    kind = "audio"

    def __init__(self, packets: list[bytes], began: float) -> None:
        super().__init__()
        self._packets = cycle(packets)
        self._began = began
        self._slot = -1

    async def recv(self) -> "av.Packet[av.AudioStream]":
        loop = asyncio.get_running_loop()
        self._slot = max(self._slot + 1, int((loop.time() - self._began) / 0.02))
        await asyncio.sleep(max(0.0, self._began + self._slot * 0.02 - loop.time()))
        return stamped(next(self._packets), self._slot)


class _Closed(MediaStreamTrack):
    """A microphone that never says anything."""

    kind = "audio"

    async def recv(self) -> "av.Packet[av.AudioStream]":
        await asyncio.get_running_loop().create_future()
        raise AssertionError


class _Peer:
    """One person: a handshake, then a clock read for each packet."""

    def __init__(self, microphone: MediaStreamTrack) -> None:
        self.came: list[tuple[float, int]] = []
        self._peer = RTCPeerConnection()
        self._peer.addTrack(microphone)
        self._up = asyncio.Event()
        self._peer.on("connectionstatechange", self._changed)

    def _changed(self) -> None:
        if self._peer.connectionState == "connected":
            self._up.set()

    async def join(self, server: asyncio.subprocess.Process) -> None:
        await self._peer.setLocalDescription(await self._peer.createOffer())
        answer = await _ask(server, json.dumps(self._peer.localDescription.sdp))
        await self._peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        await self._up.wait()
        transport = self._peer.getReceivers()[0].transport

        async def note(data: bytes, arrival_time_ms: int) -> None:
            self.came.append((time.perf_counter(), struct.unpack_from("!I", data, 4)[0]))

        transport._handle_rtp_data = note  # type: ignore[method-assign]  # noqa: SLF001 - nothing public stands before it

    def spacing(self, since: float) -> list[float]:
        """By how many ms packets that follow each other were off their 20."""
        came = [one for one in self.came if one[0] >= since]
        return [
            abs((after - before) * 1000 - FRAME_MS)
            for (before, stamp), (after, stamp_after) in pairwise(came)
            if stamp_after - stamp == RTP_TICKS
        ]

    async def leave(self) -> None:
        await self._peer.close()


async def _ask(server: asyncio.subprocess.Process, line: str) -> str:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(line.encode() + b"\n")
    return str(json.loads(await server.stdout.readline()))


def _encoded(samples: Samples) -> list[bytes]:
    encoder = OpusEncoder()
    return [
        encoder.encode(frame) for frame in samples[: len(samples) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    ]


def _people(people: int, microphones: str, sound: Path) -> list[_Peer]:
    """The first of them speaks."""
    samples = read_sound(sound).samples
    noise = np.random.default_rng(1).normal(0, 20, 5 * RATE).astype(np.int16)
    spoken, quiet = _encoded(samples), _encoded(noise)
    began = asyncio.get_running_loop().time()
    heard = [_Microphone(quiet, began + n % 20 / 1000) if microphones == "open" else _Closed() for n in range(1, people)]
    return [_Peer(_Microphone(spoken, began)), *map(_Peer, heard)]


async def measure(people: int, seconds: float, microphones: str, sound: Path, *, core: int) -> Row:
    """One room of so many people, the first of whom speaks."""
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        __file__,
        "--serve",
        "--core",
        str(core),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 20,
    )
    peers = _people(people, microphones, sound)
    for peer in peers:
        await peer.join(server)
    await asyncio.sleep(3)
    since, before = time.perf_counter(), float(await _ask(server, "cpu"))
    await asyncio.sleep(seconds)
    cpu = (float(await _ask(server, "cpu")) - before) / (time.perf_counter() - since)
    off = sorted(one for peer in peers[1:] for one in peer.spacing(since))
    for peer in peers:
        await peer.leave()
    assert server.stdin is not None
    server.stdin.close()
    with suppress(TimeoutError):
        await asyncio.wait_for(server.wait(), 20)
    p99 = off[len(off) * 99 // 100] if off else float("inf")
    return Row(
        people=people,
        microphones=microphones,
        cpu=round(cpu, 3),
        spacing_p50=round(statistics.median(off), 2) if off else float("inf"),
        spacing_p99=round(p99, 2),
        packets=len(off),
        clean=p99 < CLEAN_MS and cpu < 1,
        connections_a_core=round(people / cpu, 1),
    )


def main() -> None:
    """Measures each number of people, and says the connections a core."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", default="15,25,30", help="how many, each measured by itself (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each is measured (default: %(default)s)")
    parser.add_argument("--microphones", choices=("open", "closed"), default="open", help="whether those who listen send, too")
    parser.add_argument(
        "--sound", type=Path, default=SOUND, help="what is said, over and over (default: a recording of the tests)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    parser.add_argument(
        "--core", type=int, default=min(os.sched_getaffinity(0)), help="the server's core; the peers take the last"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        os.sched_setaffinity(0, {chosen.core})
        asyncio.run(serve())
        return
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    load = os.getloadavg()[0]
    rows = [
        asyncio.run(measure(int(n), chosen.seconds, chosen.microphones, chosen.sound, core=chosen.core))
        for n in chosen.people.split(",")
    ]
    best = max((row for row in rows if row["clean"]), key=lambda row: row["people"], default=None)
    if chosen.json:
        print(json.dumps({"load_before": load, "aim": AIM, "rows": rows, "best": best}))
        return
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    print(f"aim: {AIM} connections a core; load before: {load:.2f}")


if __name__ == "__main__":
    main()
