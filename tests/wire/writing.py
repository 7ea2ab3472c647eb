"""The door on an agent that writes as far as a test lets it, over a store that may be kept in a file.

    python -m tests.wire.writing FILE PORT

serves one whose agent always says yes, until it is killed; its first line of output is its URL.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.wire.browser import serving
from tests.wire.door import Receiver
from voiceagent.agent.channel import AIChannel
from voiceagent.llm.model import Chunk, Done, Prompt, TextDelta
from voiceagent.room.engine import RoomEngine
from voiceagent.room.memory import MemoryStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.web.server import build
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status


class Pen:
    """A model that writes what a test hands it, and ends an answer at None."""

    name = "pen"

    def __init__(self) -> None:
        self._words: asyncio.Queue[str | None] = asyncio.Queue()

    def write(self, *words: str | None) -> None:
        """Hands over the next pieces; None ends the answer."""
        for word in words:
            self._words.put_nowait(word)

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Yields what it is handed, and Done."""
        while (word := await self._words.get()) is not None:
            yield TextDelta(word)
        yield Done()


@dataclass(frozen=True)
class Desk:
    """A server with one agent, `nova`, in each room."""

    url: str
    engine: RoomEngine
    receiver: Receiver
    pen: Pen

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rsplit(":", 1)[1].strip("/"))


@asynccontextmanager
async def desk(
    file: Path | None = None, port: int = 0, settings: WebSettings | None = None, agent: AIChannel | None = None
) -> AsyncIterator[Desk]:
    """The app, served; its rooms in a file, where one is named; `agent` takes the place of the one that writes."""
    settings, pen = settings or WebSettings(), Pen()
    store = MemoryStore() if file is None else await SqliteStore.open(file)
    async with RoomEngine(store=store) as engine:
        engine.register_channel(agent or AIChannel("nova", provider=pen))

        async def open_room(room: str) -> None:
            await engine.create_room(room)
            await engine.attach_channel(room, "nova")

        receiver = Receiver(engine)
        app = build(receiver, engine, settings, lambda: Status("0", "a pen", agent="Nova"), open_room)
        async with serving(app, settings, port) as url:
            yield Desk(url, engine, receiver, pen)


async def _serve(file: Path, port: int) -> None:
    async with desk(file, port) as there:
        there.pen.write(*(["Yes.", None] * 1000))
        sys.stdout.write(f"{there.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), int(sys.argv[2])))
