"""Servers as processes, paired by their own doors, and readers of their inboxes."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.wire.asked import Device, Object

_ROOT = Path(__file__).resolve().parents[2]
LONGEST_S = 20


class HostProcess:
    """A server of its own, started on a file; it may be killed and started again in the same place."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._file = folder / f"{name}.db"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = int(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}/"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Starts it; returns once it serves."""
        command = [sys.executable, str(Path(__file__).with_name("asking_host.py")), self.name, str(self._file), str(self._port)]
        env = {**os.environ, "PYTHONPATH": str(_ROOT)}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        assert self._say(None) == self.url

    def kill(self) -> None:
        """Ends it as a power cut would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.communicate()
            self._process = None

    def ask(self, room: str, question: str, *options: str, kind: str = "question") -> str:
        """Has its agent ask; the question's id."""
        return self._say("\t".join((room, kind, question, *options)))

    async def ended(self, question_id: str) -> str:
        """How a question of its agent has ended, once it has."""
        async with asyncio.timeout(LONGEST_S):
            return await asyncio.to_thread(self._say, f"ended\t{question_id}")

    def told(self) -> list[Object]:
        """What its agent was told of."""
        return list(json.loads(self._say("told")))

    def _say(self, line: str | None) -> str:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        if line is not None:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
        said = process.stdout.readline()
        assert said, "the process has ended by itself"
        return said.rstrip("\n")


@contextlib.contextmanager
def hosts(folder: Path, *names: str) -> Iterator[list[HostProcess]]:
    """These hosts, running."""
    made = [HostProcess(name, folder) for name in names]
    try:
        for one in made:
            one.start()
        yield made
    finally:
        for one in made:
            one.kill()


def pair(one: HostProcess, other: HostProcess, level: str = "read") -> str:
    """Pairs two hosts by a code that the first has made; returns the code."""
    code = httpx.post(f"{one.url}v1/pairings/code", json={"level": level}, timeout=LONGEST_S).json()["code"]
    joined = httpx.post(f"{other.url}v1/pairings", json={"address": one.url, "code": code, "level": level}, timeout=LONGEST_S)
    assert joined.status_code == 200, joined.text
    assert (joined.json()["name"], joined.json()["granted"]) == (one.name, level)
    return str(code)


def unpair(host: HostProcess, name: str) -> Object:
    """Ends a pairing at a host; what that says."""
    return dict(httpx.delete(f"{host.url}v1/pairings/{name}", timeout=LONGEST_S).json())


def pairings(host: HostProcess) -> Object:
    """What a host says of its pairings."""
    return dict(httpx.get(f"{host.url}v1/pairings", timeout=LONGEST_S).json())


async def listed(device: Device, host: str, **wanted: Any) -> Object:
    """What a paired host lists, once it fits: its `reachable`, and the states of its questions in `states`."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            line = await device.next()
            for one in line["data"]["hosts"] if line["type"] == "inbox.snapshot" else [line["data"]]:
                if line["type"] in ("inbox.snapshot", "inbox.host") and one["host"] == host and _fits(one, wanted):
                    return dict(one)


def _fits(listing: Object, wanted: Object) -> bool:
    known = {**listing, "states": [question["state"] for question in listing["questions"]]}
    return all(known[name] == value for name, value in wanted.items())


async def gone(device: Device, host: str) -> None:
    """Returns once a host is listed no longer."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            line = await device.next()
            if line["type"] == "inbox.snapshot" and host not in [one["host"] for one in line["data"]["hosts"]]:
                return
