"""A caller made of OpenAI's agents client under node, which does what it is told and tells what happens to it."""

import asyncio
import base64
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from voiceagent.audio.convert import Resampler
from voiceagent.audio.frame import RATE, Samples

SOURCE = Path(__file__).parent / "openai_agents"
INSTALL = ("install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
OLDEST_NODE = 20


def node_with_client() -> str:
    """The node to run the client with, its packages fetched; skips where node is missing or too old for them."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("node and npm are missing: install node 20 or later")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    if int(version.lstrip("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"node {version} is too old for OpenAI's agents client: install node {OLDEST_NODE} or later")
    if not (SOURCE / "node_modules" / "@openai" / "agents-realtime").is_dir():
        fetched = subprocess.run([npm, *INSTALL], cwd=SOURCE, capture_output=True, text=True, timeout=300, check=False)
        if fetched.returncode:
            unmade = f"npm could not fetch OpenAI's agents client: {fetched.stderr[-500:]}"
            (pytest.fail if os.environ.get("CI") else pytest.skip)(unmade)
    return node


class Caller:
    """One process; `told` is what it has said so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.told: list[dict[str, Any]] = []
        self._process = process
        self._more = asyncio.Condition()

    async def read(self) -> None:
        """Until the process ends."""
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            async with self._more:
                self.told.append(json.loads(line))
                self._more.notify_all()

    async def do(self, what: str, **wish: Any) -> None:
        """Tells the caller to do something."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps({'do': what, **wish})}\n".encode())
        await self._process.stdin.drain()

    def all(self, what: str) -> list[dict[str, Any]]:
        """What was told of one kind."""
        return [line for line in self.told if line["what"] == what]

    def events(self, type: str) -> list[dict[str, Any]]:
        """The protocol's own events of one type, as the client read them."""
        return [line["event"] for line in self.all("event") if line["event"]["type"] == type]

    def sound(self) -> Samples:
        """All that was heard, 24 kHz."""
        data = b"".join(base64.b64decode(line["data"]) for line in self.all("audio"))
        return np.frombuffer(data, dtype="<i2").astype(np.int16)

    async def until(self, what: str, count: int = 1, seconds: float = 20) -> dict[str, Any]:
        """The `count`th thing of a kind, or event of a type; waits for it."""
        try:
            async with asyncio.timeout(seconds), self._more:
                await self._more.wait_for(lambda: len(self.all(what) or self.events(what)) >= count)
        except TimeoutError:
            told = [line.get("event", {}).get("type", line["what"]) for line in self.told if line["what"] != "audio"]
            raise AssertionError(f"waited in vain for {what}; told were {told}; {self.all('error')}") from None
        return (self.all(what) or self.events(what))[count - 1]


@asynccontextmanager
async def calling(node: str, url: str) -> AsyncIterator[Caller]:
    """A caller that is connected to the server at this WebSocket's URL."""
    process = await asyncio.create_subprocess_exec(
        node, "caller.js", url, cwd=SOURCE, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 22
    )
    caller = Caller(process)
    reading = asyncio.create_task(caller.read())
    try:
        await caller.until("connected")
        yield caller
    finally:
        process.kill()
        await process.wait()
        await reading


def as_pcm(samples: Samples, path: Path) -> Path:
    """16 kHz sound in a file as the client sends it: 24 kHz, 16 bits."""
    resampler = Resampler(RATE, 24_000)
    path.write_bytes(np.concatenate((resampler.process(samples), resampler.flush())).astype("<i2").tobytes())
    return path
