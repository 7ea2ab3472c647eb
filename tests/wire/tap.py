"""A tap in the line to a server: what comes through it can be broken off, and let through again."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Tap:
    """Forwards TCP connections to a port of this machine."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], None] = {}
        self.port = 0
        self.count = 0

    @property
    def url(self) -> str:
        """What a browser opens."""
        return f"http://127.0.0.1:{self.port}/"

    async def open(self) -> None:
        """Lets connections through."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def shut(self) -> None:
        """Breaks off every connection, and takes no more."""
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()

    async def close(self) -> None:
        """Ends it."""
        self.shut()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = None
        self.count += 1
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._to)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(_copy(reader, back))
                    both.create_task(_copy(there, writer))
            finally:
                back.transport.abort()
        except* (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            del self._open[task]


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()


@asynccontextmanager
async def tapped(port: int) -> AsyncIterator[Tap]:
    """An open tap before a port."""
    tap = Tap(port)
    await tap.open()
    try:
        yield tap
    finally:
        await tap.close()
