"""Webhooks against a real HTTP server that fails, hangs, dies and moves; the convention's own package checks what arrives."""

import asyncio
import base64
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn
from standardwebhooks.webhooks import Webhook as Verifier
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.wire.cluster import Cluster
from voiceagent.app import App, Choices
from voiceagent.config import Settings
from voiceagent.errors import ConfigError
from voiceagent.llm.scripted import EchoModel
from voiceagent.room.cursors.store import Cursors, kept_cursors
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import Feed
from voiceagent.room.lines.store import kept_lines
from voiceagent.room.memory import MemoryStore
from voiceagent.room.postgres import PostgresStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import Store
from voiceagent.web.webhooks.settings import WebhookSettings
from voiceagent.web.webhooks.webhooks import Webhooks

SECRET = "whsec_" + base64.b64encode(bytes(range(24))).decode()


class Office:
    """A server of a back office; `says` are its next answers: a status, or `hang`."""

    def __init__(self) -> None:
        self.says: list[int | str] = []
        self.taken: list[str] = []
        self.tried = 0
        self.elsewhere = 0
        self._more = asyncio.Event()

    async def hook(self, request: Request) -> Response:
        body = await request.body()
        line = Verifier(SECRET).verify(body, dict(request.headers))
        self.tried += 1
        self._more.set()
        said = self.says.pop(0) if self.says else 204
        if said == "hang":
            await asyncio.Event().wait()
        if said == 307:
            return Response(status_code=307, headers={"location": str(request.url_for("other"))})
        if said == 204:
            assert request.headers["webhook-id"] == f"{line['room_id']}:{line['seq']}"
            self.taken.append(line["data"]["job_id"])
        return Response(status_code=int(said))

    async def other(self, request: Request) -> Response:
        self.elsewhere += 1
        return Response(status_code=204)

    async def until(self, taken: int = 0, tried: int = 0) -> None:
        """Returns once it has taken, or been asked, so often."""
        async with asyncio.timeout(20):
            while len(self.taken) < taken or self.tried < tried:
                self._more.clear()
                await self._more.wait()
                await asyncio.sleep(0)

    @asynccontextmanager
    async def open(self, port: int = 0) -> AsyncIterator[int]:
        """Serves; gives its port. What hangs is cut off when it closes."""
        paths = [Route("/hook", self.hook, methods=["POST"]), Route("/other", self.other, methods=["POST"], name="other")]
        app = Starlette(routes=paths)
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="critical", loop="none", lifespan="off", timeout_graceful_shutdown=0)
        )
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen(16)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                yield int(listener.getsockname()[1])
            finally:
                server.should_exit = True
                await serving


async def until(holds: Callable[[], bool]) -> None:
    """Looks until something holds that nobody tells."""
    async with asyncio.timeout(10):
        while True:
            if holds():
                return
            await asyncio.sleep(0.01)


async def _claimed(store: PostgresStore) -> int:
    """The server says that a process is gone a moment after its connections are."""
    async with asyncio.timeout(5):
        while True:
            at = await cursors_of(store).claim("crm", "r")
            if at is not None:
                return at
            await asyncio.sleep(0.02)


@asynccontextmanager
async def telling(port: int, store: Store | None = None, **more: int) -> AsyncIterator[tuple[Feed, Webhooks]]:
    hook = {"name": "crm", "url": f"http://127.0.0.1:{port}/hook", "secret_env": "CRM", "types": ["job.*"]}
    settings = WebhookSettings.model_validate({"hooks": [hook], **more})
    kept = store or MemoryStore()
    hooks = Webhooks(settings, kept, {"CRM": SECRET}, chance=lambda: 0.0)
    async with hooks, RoomEngine(store=kept, on_line=hooks.on_line) as kit:
        await kit.create_room("r")
        yield kit.feed("r"), hooks


def publish(feed: Feed, *numbers: int) -> None:
    for number in numbers:
        feed.publish("job.returned", {"job_id": str(number), "text": "¿Qué?"})


async def test_a_real_server_takes_signed_lines_after_it_failed_and_hung() -> None:
    office = Office()
    office.says = [500, "hang", 204]
    async with office.open() as port, telling(port, timeout_ms=200) as (feed, _):
        publish(feed, 1, 2, 3)
        await office.until(taken=3)
    assert (office.taken, office.tried) == (["1", "2", "3"], 5)


async def test_a_redirect_is_not_followed() -> None:
    office = Office()
    office.says = [307]
    async with office.open() as port, telling(port) as (feed, _):
        publish(feed, 1)
        await office.until(taken=1)
    assert (office.tried, office.elsewhere) == (2, 0)


async def test_a_server_that_dies_is_told_when_it_is_back() -> None:
    office = Office()
    async with office.open() as port:
        pass
    async with telling(port) as (feed, hooks):
        publish(feed, 1, 2)
        await until(lambda: bool(hooks.failing))
        async with office.open(port):
            await office.until(taken=2)
            office.says = ["hang"]
            publish(feed, 3)
            await office.until(tried=3)
        async with office.open(port):
            await office.until(taken=3)
    assert office.taken == ["1", "2", "3"]


async def test_what_answers_without_end_costs_no_more_than_its_status() -> None:
    taken = asyncio.Event()

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x" * 65_536)
                await writer.drain()
        taken.set()
        writer.close()

    server = await asyncio.start_server(endless, "127.0.0.1")
    async with server, telling(int(server.sockets[0].getsockname()[1])) as (feed, hooks):
        publish(feed, 1)
        async with asyncio.timeout(10):
            await taken.wait()
        await until(lambda: not hooks.waiting["crm"])


async def test_after_a_restart_a_file_knows_what_was_taken(tmp_path: Path) -> None:
    office = Office()
    office.says = [204, 503]
    async with office.open() as port:
        store = await SqliteStore.open(tmp_path / "r.db")
        async with telling(port, store) as (feed, _):
            publish(feed, 1, 2)
            await office.until(tried=2)
        await store.close()
        store = await SqliteStore.open(tmp_path / "r.db")
        async with telling(port, store) as (feed, _):
            await office.until(taken=2)
            publish(feed, 3)
            await office.until(taken=3)
        await store.close()
    assert office.taken == ["1", "2", "3"]


async def test_the_program_tells_the_webhooks_of_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    office = Office()
    async with office.open() as port:
        hook = {"name": "crm", "url": f"http://127.0.0.1:{port}/hook", "secret_env": "CRM_OF_TEST", "types": ["job.*"]}
        settings = Settings.model_validate(
            {
                "webhooks": {"hooks": [hook]},
                "room": {"database": str(tmp_path / "r.db")},
                "judgment": {"policy": "always"},
            }
        )
        choices = Choices(sound=False, provider=EchoModel())
        with pytest.raises(ConfigError, match="CRM_OF_TEST"):
            async with App(settings, choices):
                pass
        monkeypatch.setenv("CRM_OF_TEST", SECRET)
        async with App(settings, choices) as app:
            await app.open_room("r")
            publish(app.engine.feed("r"), 1)
            await office.until(taken=1)
    assert office.taken == ["1"]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
async def test_every_store_keeps_cursors(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    store = await _store(kind, tmp_path, request)
    cursors = cursors_of(store)
    async with RoomEngine(store=store) as kit:
        await kit.create_room("old ñ")
        publish(kit.feed("old ñ"), 1)
    assert list(await cursors.begin("crm")) == []
    async with RoomEngine(store=store) as kit:
        for room in ("old ñ", "new"):
            await kit.create_room(room)
            publish(kit.feed(room), 1, 2)
    assert sorted(await cursors.begin("crm")) == ["new", "old ñ"]
    assert (await cursors.claim("crm", "old ñ"), await cursors.claim("crm", "new")) == (1, 0)
    await cursors.move("crm", "new", 2)
    await cursors.release("crm", "new")
    assert list(await cursors.begin("crm")) == ["old ñ"]
    assert await cursors.claim("crm", "new") == 2
    assert list(await cursors.begin("another")) == []
    await store.close()


async def test_of_two_processes_one_tells_of_a_room_and_the_other_takes_over_when_it_is_gone(cluster: Cluster) -> None:
    dsn = await cluster.fresh()
    one, two = PostgresStore(dsn), PostgresStore(dsn)
    await one.init()
    await two.init()
    assert await cursors_of(one).claim("crm", "r") == 0
    assert await cursors_of(two).claim("crm", "r") is None
    await cursors_of(one).move("crm", "r", 5)
    await cursors_of(two).move("crm", "r", 9)  # it may not
    await one.close()
    assert await _claimed(two) == 5
    await cursors_of(two).release("crm", "r")
    await two.close()


def cursors_of(store: Store) -> Cursors:
    found = kept_cursors(kept_lines(store))
    assert found is not None
    return found


async def _store(kind: str, folder: Path, request: pytest.FixtureRequest) -> MemoryStore | SqliteStore | PostgresStore:
    if kind == "memory":
        return MemoryStore()
    if kind == "sqlite":
        return await SqliteStore.open(folder / "r.db")
    cluster: Cluster = request.getfixturevalue("cluster")
    store = PostgresStore(await cluster.fresh())
    await store.init()
    return store
