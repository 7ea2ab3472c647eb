"""A page with Pipecat's own client, bundled from npm's packages, on a server of its own, in a real Chromium."""

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from tests.wire.browser import browsing, serving
from voiceagent.web.settings import WebSettings

SOURCE = Path(__file__).parent / "pipecat"
INSTALL = ("install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")

UNTIL = """
([list, name, count, timeout]) => new Promise((done, failed) => {
  const since = Date.now();
  const look = setInterval(() => {
    const found = window[list].filter((one) => (one.type ?? one.name) === name || one.data?.type === name);
    if (found.length >= count) { clearInterval(look); done(found[count - 1]); }
    else if (Date.now() - since > timeout) {
      clearInterval(look);
      const there = [...new Set(window[list].map((one) => one.type ?? one.name))];
      failed(new Error(`waited in vain for ${name}: there were ${there}`));
    }
  }, 10);
})
"""


def bundled(into: Path) -> Path:
    """A folder with the page, ready to be served; skips where node and npm are not installed."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("node and npm are missing: install Debian's packages nodejs and npm")
    if not (SOURCE / "node_modules" / "esbuild").is_dir():
        fetched = subprocess.run([npm, *INSTALL], cwd=SOURCE, capture_output=True, text=True, timeout=300, check=False)
        if fetched.returncode:
            unmade = f"npm could not fetch Pipecat's client: {fetched.stderr[-500:]}"
            (pytest.fail if os.environ.get("CI") else pytest.skip)(unmade)
    bundle = ("page.js", "--bundle", "--format=esm", "--log-level=error", f"--outfile={into / 'bundle.js'}")
    subprocess.run([node, "node_modules/esbuild/bin/esbuild", *bundle], cwd=SOURCE, check=True, timeout=120)
    shutil.copy(SOURCE / "index.html", into)
    return into


class PipecatPage:
    """One page; `url` is where voiceagent is."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    async def open(self, page_url: str) -> None:
        """Loads the page; one that was loaded before is gone, and what failed in it with it."""
        await self.page.goto(page_url)
        self.errors.clear()
        await self.page.wait_for_function("() => typeof window.dial === 'function'")

    async def dial(self, room: str = "lobby", **options: Any) -> dict[str, Any]:
        """Connects, and returns what the bot says of itself."""
        ready = await self.page.evaluate(
            "([at, options]) => window.dial(at, options)", [f"{self.url}v1/rooms/{room}/rtvi", options]
        )
        assert isinstance(ready, dict)
        return ready

    async def run(self, script: str) -> Any:
        """What an expression of the page comes to."""
        return await self.page.evaluate(script)

    async def told(self, name: str, count: int = 1, seconds: float = 20) -> dict[str, Any]:
        """The `count`th message of a type, or that carries an event of ours of that type; waits for it."""
        return dict(await self.page.evaluate(UNTIL, ["told", name, count, seconds * 1000]))

    async def called(self, name: str, count: int = 1, seconds: float = 20) -> dict[str, Any]:
        """The `count`th call of one of the client's callbacks; waits for it."""
        return dict(await self.page.evaluate(UNTIL, ["called", name, count, seconds * 1000]))

    async def all_told(self) -> list[dict[str, Any]]:
        """Every message so far."""
        return list(await self.page.evaluate("window.told"))


@asynccontextmanager
async def page_server(folder: Path) -> AsyncIterator[str]:
    """The page's own server, an origin other than voiceagent's; gives its URL."""
    async with serving(Starlette(routes=[Mount("/", StaticFiles(directory=folder, html=True))]), WebSettings()) as url:
        yield url


@asynccontextmanager
async def calling(page_url: str, url: str, microphone: Path | None = None) -> AsyncIterator[PipecatPage]:
    """The page in a browser of its own, gone at the end; nothing may have failed in it."""
    async with browsing(microphone) as browser:
        page = PipecatPage(await (await browser.new_context(permissions=["microphone"])).new_page(), url)
        await page.open(page_url)
        yield page
        assert page.errors == [], page.errors
