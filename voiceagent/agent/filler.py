"""What an agent says by itself when a tool lasts and a person has been told nothing of the answer yet."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from voiceagent import clock
from voiceagent.room.reply import Reply

_T = TypeVar("_T")


class Filler:
    """One answer's: said once at most, and never behind words of the model's own. It is part of the answer, as it was heard."""

    def __init__(self, reply: Reply, text: str, after_ms: int, say: Callable[[str], None]) -> None:
        """`text` is due `after_ms` from now; empty: nothing is ever said. `say` adds words to the answer."""
        self._reply = reply
        self._text = text
        self._due = clock.now() + after_ms
        self._say = say

    async def over(self, tool: asyncio.Future[_T]) -> _T:
        """What comes of a tool that runs; cancelling this leaves it running. Raises what the tool's future raises."""
        if self._text and not self._reply.length:
            await asyncio.wait([tool], timeout=max(0, self._due - clock.now()) / 1000)
            if not tool.done():
                self._say(self._text)
                self._say("\n")  # nothing follows for a while: it is sounded as it is
        return await asyncio.shield(tool)
