"""Which commands were accepted, so that one that is sent again is not done again."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from voiceagent.web.command import Ack

REMEMBERED: Final = 10_000
"""Commands in all rooms; what is older is known by the room alone, which knows inputs for good."""

Key = tuple[str, str, str]
"""Room, sender, and the id that the sender gave the command."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """A command that is being done or was accepted, and what it asked for."""

    digest: str
    done: asyncio.Future[Ack]


class Receipts:
    """Does each command once. What was refused has done nothing and is not remembered."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._taken: OrderedDict[Key, _Taken] = OrderedDict()

    async def once(self, key: Key, digest: str, work: Callable[[], Awaitable[Ack]]) -> Ack:
        """Does the work, or returns what came of it before. Whoever sends the same while it is done waits for it."""
        while (known := self._taken.get(key)) is not None:
            if known.digest != digest:
                return Ack.refusal(key[2], "id_reused", "this id was used for another command: take a new one")
            await asyncio.wait([known.done])
            if not known.done.cancelled() and known.done.result().accepted:
                return known.done.result().model_copy(update={"duplicate": True})
        taken = self._taken[key] = _Taken(digest, asyncio.get_running_loop().create_future())
        ack: Ack | None = None
        try:
            ack = await work()
            return ack
        finally:
            if ack is None:
                taken.done.cancel()
            else:
                taken.done.set_result(ack)
            if ack is None or not ack.accepted:
                del self._taken[key]
            self._forget()

    def _forget(self) -> None:
        """Lets the oldest go; what is being done stays."""
        for key in list(self._taken)[: max(0, len(self._taken) - self._most)]:
            if self._taken[key].done.done():
                del self._taken[key]
