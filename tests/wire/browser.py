"""A real server on a loopback port, and real browsers with a microphone that plays a file."""

import asyncio
import shutil
import socket
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import uvicorn
from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from starlette.types import ASGIApp

from voiceagent.audio.frame import RATE, Samples
from voiceagent.web.server import uvicorn_config
from voiceagent.web.settings import WebSettings

FLAGS = (
    "--no-sandbox",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
)

LISTEN = """
() => {
  const heard = window.heard = [];
  const context = new AudioContext();
  const source = context.createMediaStreamSource(document.querySelector('#line').srcObject);
  const analyser = context.createAnalyser();
  analyser.fftSize = 512;
  source.connect(analyser);
  const data = new Float32Array(analyser.fftSize);
  window.hearing = setInterval(() => {
    analyser.getFloatTimeDomainData(data);
    let sum = 0;
    for (const value of data) sum += value * value;
    heard.push([Date.now(), Math.sqrt(sum / data.length), context.currentTime * 1000]);
  }, 10);
}
"""


PEERS = """
window.peers = [];
const Real = RTCPeerConnection;
window.RTCPeerConnection = class extends Real { constructor(...given) { super(...given); window.peers.push(this); } };
"""

STRETCH = """
() => {
  const made = window.made = [];
  setInterval(async () => {
    for (const report of (await window.peers.at(-1).getStats()).values())
      if (report.type === 'inbound-rtp')
        made.push([report.timestamp, (report.concealedSamples + report.insertedSamplesForDeceleration
          - report.removedSamplesForAcceleration) / 48]);
  }, 20);
}
"""
"""Milliseconds that the browser itself has made up, or left out, to keep its loudspeaker going; over time."""

UNTIL = """
([condition, timeout]) => new Promise((done, failed) => {
  const since = Date.now();
  const conditions = {
    sound: () => document.querySelector('#line').srcObject,
    level: (above) => window.heard.some(([, level]) => level > above),
    shown: (selector) => document.querySelector(selector),
    people: (count) => document.querySelectorAll('#people li').length === count,
  };
  const look = setInterval(() => {
    if (conditions[condition[0]](condition[1])) { clearInterval(look); done(Date.now()); }
    else if (Date.now() - since > timeout) { clearInterval(look); failed(new Error(`waited in vain for ${condition}`)); }
  }, 10);
})
"""
"""Waits within the page: its content security policy lets Playwright's own waiting evaluate nothing."""


@dataclass(frozen=True)
class Heard:
    """What a page heard: times in epoch milliseconds, the level (root mean square of full scale 1) at each, and how many
    milliseconds of sound had been played by then: the same pace, but standing still when the browser does."""

    at: np.ndarray
    level: np.ndarray
    played: np.ndarray

    def between(self, start: float, end: float) -> np.ndarray:
        """The levels within a span of time."""
        return self.level[(self.at >= start) & (self.at < end)]


class Visitor:
    """One browser with one page."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if "Content Security" in message.text else None)

    async def join(self, name: str = "Anna", room: str = "lobby", *, microphone: bool = True) -> None:
        """Opens the page and joins as a person would."""
        await self.page.goto(self.url)
        await self.page.fill("#name", name)
        await self.page.fill("#room", room)
        await self.page.click("#join-button" if microphone else "#join-quiet")
        await self.page.wait_for_selector("#talk:not([hidden])")

    async def listen(self) -> None:
        """Begins to measure the line's sound in the page."""
        await self.until("sound")
        await self.page.evaluate(LISTEN)
        await self.page.evaluate(STRETCH)

    async def heard(self) -> Heard:
        """All that was measured since `listen`."""
        rows = np.array(await self.page.evaluate("window.heard"), dtype=float).reshape(-1, 3)
        return Heard(rows[:, 0], rows[:, 1], rows[:, 2])

    async def made_up_ms(self, start: float, end: float) -> float:
        """How much sound the browser added of its own between two moments (concealment, stretching), less what it left out."""
        rows = np.array(await self.page.evaluate("window.made"), dtype=float).reshape(-1, 2)
        at_start, at_end = np.interp((start, end), rows[:, 0], rows[:, 1])
        return float(at_end - at_start)

    async def packets(self) -> tuple[int, int]:
        """RTP packets that the page has received, and those it knows to be lost."""
        found = await self.page.evaluate("""async () => {
          for (const report of (await window.peers.at(-1).getStats()).values())
            if (report.type === 'inbound-rtp') return [report.packetsReceived, report.packetsLost];
          return [0, 0];
        }""")
        return int(found[0]), int(found[1])

    async def until(self, what: str, value: float | str = 0, timeout_ms: int = 10_000) -> None:
        """Returns once the page has `sound`, hears a `level`, shows so many `people`, or has `shown` what a selector names."""
        await self.page.evaluate(UNTIL, [[what, value], timeout_ms])


@asynccontextmanager
async def serving(app: ASGIApp, settings: WebSettings, port: int = 0) -> AsyncIterator[str]:
    """Serves the app on a loopback port, a free one by default; gives its URL."""
    config = uvicorn_config(app, settings)
    config.loop = "none"
    server = uvicorn.Server(config)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(64)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            server.should_exit = True
            await task


@asynccontextmanager
async def browsing(microphone: Path | None) -> AsyncIterator[Browser]:
    """A Chromium whose microphone plays a WAV file once; without one, it has a device that the page is refused."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is missing: install Debian's package chromium")
    file = [f"--use-file-for-fake-audio-capture={microphone}%noloop"] if microphone else []
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=chromium, args=[*FLAGS, *file])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def visiting(url: str, microphone: Path | None = None, **options: object) -> AsyncIterator[Visitor]:
    """A browser of its own on the page's URL, gone at the end."""
    async with browsing(microphone) as browser:
        context: BrowserContext = await browser.new_context(**options)  # type: ignore[arg-type]
        if microphone is None:
            await context.clear_permissions()
        await context.add_init_script(PEERS)
        visitor = Visitor(await context.new_page(), url)
        yield visitor
        assert visitor.errors == []


def write_wav(path: Path, samples: Samples, rate: int = RATE) -> Path:
    """A mono 16-bit WAV file."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return path


def read_wav(path: Path) -> tuple[Samples, int]:
    """A mono 16-bit WAV file's samples and rate."""
    with wave.open(str(path), "rb") as file:
        assert file.getnchannels() == 1
        assert file.getsampwidth() == 2
        return np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16), file.getframerate()


def padded(path: Path, into: Path, before_s: float = 1.5, after_s: float = 20.0) -> Path:
    """The same recording with silence around it: a fake microphone starts before the line is up."""
    samples, rate = read_wav(path)
    silence = [np.zeros(int(seconds * rate), dtype=np.int16) for seconds in (before_s, after_s)]
    return write_wav(into, np.concatenate((silence[0], samples, silence[1])), rate)
