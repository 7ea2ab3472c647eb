"""Measures what idle readers of a room's event stream cost a real server: memory and processor time.

    python benchmarks/streams.py [--streams 0 200 1000] [--seconds 30] [--json]

A server in a process of its own, on loopback, opens a room; so many plain sockets ask for the room's events and read what comes.
Memory is the server's resident set behind its size without any stream, divided by their number; processor time is the server's
over the seconds in which nothing happens in the room, so that all it does is to say that it is alive.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import uvicorn

from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.transport.call import Call
from voiceagent.web.server import build, uvicorn_config
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status

ROOM = "room"
SETTLE_S = 2
REQUEST = f"GET /v1/rooms/{ROOM}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number."""

    name: str
    value: float
    unit: str

    def line(self) -> str:
        """One row of the table."""
        return f"{self.name:<60}{self.value:>10,.2f} {self.unit}"


class Nobody:
    """A receiver of calls to whom nobody speaks."""

    async def receive(self, call: Call, *, room_id: str, participant: Participant) -> None:
        """Hangs up."""
        await call.hang_up()


async def _serve(port: Connection, streams: int) -> None:
    settings = WebSettings(max_streams=max(1, streams), requests_per_minute=streams + 100)
    async with RoomEngine() as kit:
        await kit.create_room(ROOM)
        app = build(Nobody(), kit, settings, lambda: Status("0", "nobody speaks here", "This is a measurement."))
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1024)
            port.send(listener.getsockname()[1])
            await uvicorn.Server(uvicorn_config(app, settings)).serve(sockets=[listener])


def _server(port: Connection, streams: int) -> None:
    asyncio.run(_serve(port, streams))


@contextmanager
def _served(streams: int) -> Iterator[tuple[int, int]]:
    """A server in a process of its own: its process id and its port."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_server, args=(theirs, streams))
    process.start()
    try:
        yield process.pid or 0, int(ours.recv())
    finally:
        process.terminate()
        process.join()


async def _read(port: int, open_: asyncio.Semaphore, opened: list[int]) -> None:
    async with open_:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        while b"stream.snapshot" not in (line := await reader.readline()):
            if not line:
                raise ConnectionError("the server refused a stream")
    opened.append(1)
    while await reader.read(65_536):
        pass


def _resident_kb(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def _cpu_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _idle(process: int, port: int, streams: int, seconds: int) -> tuple[int, int, float]:
    """Resident kB before and with the streams, and the share of one processor that they take."""
    await asyncio.sleep(SETTLE_S)
    before = _resident_kb(process)
    at_once, opened = asyncio.Semaphore(50), list[int]()
    readers = [asyncio.create_task(_read(port, at_once, opened)) for _ in range(streams)]
    while len(opened) < streams:
        await asyncio.sleep(0.05)
        for one in readers:
            if one.done():
                one.result()
    await asyncio.sleep(SETTLE_S)
    began = _cpu_s(process)
    await asyncio.sleep(seconds)
    share, after = (_cpu_s(process) - began) / seconds, _resident_kb(process)
    for one in readers:
        one.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    return before, after, share


def main() -> None:
    """Prints one row a figure, or JSON."""
    parser = argparse.ArgumentParser(description="Measures idle event streams.")
    parser.add_argument("--streams", type=int, nargs="+", default=(0, 200, 1_000))
    parser.add_argument("--seconds", type=int, default=30, help="how long nothing happens")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    figures: list[Figure] = []
    for streams in options.streams:
        with _served(streams) as (process, port):
            before, after, share = asyncio.run(_idle(process, port, streams, options.seconds))
        figures.append(Figure(f"server's memory, {streams} idle streams", after / 1024, "MB"))
        figures.append(Figure(f"server's CPU, {streams} idle streams", share * 100, "% of one"))
        if streams:
            figures.append(Figure(f"memory an idle stream, {streams}", (after - before) / streams, "kB"))
            figures.append(Figure(f"CPU an idle stream, {streams}", share / streams * 1e6, "us a second"))
    print(json.dumps([asdict(one) for one in figures], indent=1) if options.json else "\n".join(one.line() for one in figures))


if __name__ == "__main__":
    main()
