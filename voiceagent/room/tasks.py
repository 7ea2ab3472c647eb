"""The engine's tasks: one owner for everything that runs behind a room, so that an error in one ends none of the others."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from types import TracebackType

from voiceagent.errors import RoomError

log = logging.getLogger(__name__)


class Tasks:
    """A task group whose members fail alone; leaving it cancels what still runs and waits for it."""

    def __init__(self, failed: Callable[[str, Exception], None]) -> None:
        self._failed = failed
        self._group: asyncio.TaskGroup | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "Tasks":
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for task in self._running:
            task.cancel()
        group, self._group = self._group, None
        if group is not None:
            await group.__aexit__(kind, error, trace)

    def spawn(self, coroutine: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        """Starts a coroutine; an error in it is logged and reported, never raised here. Raises RoomError outside the block."""
        if self._group is None:
            coroutine.close()
            raise RoomError("the engine is not running: use it inside `async with RoomEngine(...) as kit:`")
        task = self._group.create_task(self._guard(coroutine, name), name=name)
        self._running.add(task)

        def over(task: asyncio.Task[None]) -> None:
            self._running.discard(task)
            coroutine.close()  # a task that is cancelled before its first step has not begun it

        task.add_done_callback(over)
        return task

    async def _guard(self, coroutine: Coroutine[object, object, None], name: str) -> None:
        try:
            await coroutine
        except Exception as error:
            log.exception("task %s failed", name)
            self._failed(name, error)
