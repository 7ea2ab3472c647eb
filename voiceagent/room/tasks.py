"""The engine's tasks: one owner for everything that runs behind a room, so that an error in one ends none of the others."""

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Final

from voiceagent.errors import RoomError

log = logging.getLogger(__name__)

GRACE_MS: Final = 1_000
"""How long tasks may take to write what they have left when the engine ends."""


class Tasks:
    """A task group whose members fail alone; leaving it gives what still runs a moment to end by itself, then cancels it."""

    def __init__(self) -> None:
        self._group: asyncio.TaskGroup | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "Tasks":
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._running and error is None:
            await asyncio.wait(tuple(self._running), timeout=GRACE_MS / 1000)
        for task in self._running:
            task.cancel()
        group, self._group = self._group, None
        if group is not None:
            await group.__aexit__(None, None, None)  # an error of the block is the block's own, not one of the group's

    def spawn(self, coroutine: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        """Starts a coroutine; an error in it is logged, never raised here. Raises RoomError outside the block."""
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
        except Exception:
            log.exception("task %s failed", name)
