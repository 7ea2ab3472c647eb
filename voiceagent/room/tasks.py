"""The engine's tasks: one owner for everything that runs behind a room, so that an error in one ends none of the others."""

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Final

from voiceagent.errors import RoomError
from voiceagent.room.bounded import contained

log = logging.getLogger(__name__)

GRACE_MS: Final = 1_000
"""How long tasks may take to write what they have left when the engine ends."""

LAST_MS: Final = 2_000
"""How long they may take to end once they are cancelled; one that does not is left behind."""


class Tasks:
    """Owns tasks that fail alone; leaving it gives what still runs a moment to end by itself, then cancels it.

    It is no asyncio.TaskGroup, for that one ends with its first member that fails and waits for all, however long.
    """

    def __init__(self) -> None:
        self._open = False
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "Tasks":
        self._open = True
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if self._running and error is None:
                await asyncio.wait(tuple(self._running), timeout=GRACE_MS / 1000)
        finally:
            self._open = False
            for task in self._running:
                task.cancel()
            if self._running:
                await asyncio.wait(tuple(self._running), timeout=LAST_MS / 1000)
        for task in self._running:
            log.error("task %s does not end though it was cancelled, and is left behind", task.get_name())

    def spawn(self, coroutine: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        """Starts a coroutine; an error in it is logged, never raised here. Raises RoomError outside the block."""
        if not self._open:
            coroutine.close()
            raise RoomError("the engine is not running: use it inside `async with RoomEngine(...) as kit:`")
        task = asyncio.get_running_loop().create_task(self._guard(coroutine, name), name=name)
        self._running.add(task)

        def over(task: asyncio.Task[None]) -> None:
            self._running.discard(task)
            coroutine.close()  # a task that is cancelled before its first step has not begun it

        task.add_done_callback(over)
        return task

    async def _guard(self, coroutine: Coroutine[object, object, None], name: str) -> None:
        try:
            with contained():
                await coroutine
        except Exception:
            log.exception("task %s failed", name)
