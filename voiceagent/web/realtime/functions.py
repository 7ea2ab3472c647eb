"""A client's functions as an agent's tools: a call goes out as an event, and its result comes back as an item."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.agent.tools import LONGEST_RESULT, ToolOutcome
from voiceagent.llm.model import ToolCall, ToolSpec
from voiceagent.room.frozen import whole_text

ANSWER_MS: Final = 60_000
"""How long the client may take for a function."""


@dataclass(slots=True, eq=False)
class _Call:
    """A call under way: `result` once the client has sent it; `released` lets the answer go on with it."""

    id: str
    generation_id: str
    call: ToolCall
    released: asyncio.Future[ToolOutcome]
    result: str | None = None

    @property
    def waits(self) -> bool:
        """Whether only the next response is missing."""
        return self.result is not None and not self.released.done()


class Functions:
    """One client's calls under way.

    A call is told to the client once the room's feed has come to it too, so that it stands behind the words that were said
    before. Its result waits for the next response, which the client asks for, or the person by speaking.
    """

    def __init__(self, told: Callable[[str, str, ToolCall], None]) -> None:
        """`told` is called with a generation, the id that the client is to know the call by, and the call."""
        self._told = told
        self._calls: dict[str, _Call] = {}
        self._begun: dict[tuple[str, str], _Call] = {}
        self._seen: set[tuple[str, str]] = set()
        self._number = 0

    def of(self, generation_id: str, specs: Sequence[ToolSpec]) -> "FunctionTools":
        """These functions as the tools of one answer."""
        return FunctionTools(self, generation_id, specs)

    async def run(self, generation_id: str, call: ToolCall) -> ToolOutcome:
        """Has the client run a function; an answer that is given up meanwhile is none."""
        self._number += 1
        call_id = f"call_{generation_id[:40]}_{self._number}"
        one = _Call(call_id, generation_id, call, asyncio.get_running_loop().create_future())
        self._calls[call_id] = one
        self._begun[(generation_id, call.id)] = one
        self._meet(generation_id, call.id)
        try:
            async with asyncio.timeout(ANSWER_MS / 1000):
                return await one.released
        except TimeoutError:
            return ToolOutcome(error=f"{call.name} gave no result within {ANSWER_MS // 1000} s")
        finally:
            del self._calls[call_id]
            self._begun.pop((generation_id, call.id), None)

    def seen(self, generation_id: str, call_id: str) -> None:
        """The feed has come to a call of some tool, not the client's perhaps."""
        self._seen.add((generation_id, call_id))
        self._meet(generation_id, call_id)

    def forget(self, generation_id: str) -> None:
        """An answer has ended: nothing of it is called any more."""
        self._seen = {key for key in self._seen if key[0] != generation_id}

    def answer(self, call_id: str, result: str) -> bool:
        """The client's result of a call; False when no such call waits for one."""
        one = self._calls.get(call_id)
        if one is None or one.result is not None:
            return False
        one.result = result[:LONGEST_RESULT]
        return True

    @property
    def ready(self) -> str | None:
        """The generation that can go on, since the client has sent a result of it; None when there is none."""
        return next((one.generation_id for one in self._calls.values() if one.waits), None)

    def release(self) -> None:
        """Lets every answer go on for which the client has sent a result."""
        for one in self._calls.values():
            if one.waits:
                one.released.set_result(ToolOutcome(result=whole_text(one.result or "")))

    def close(self) -> None:
        """The client has left."""
        for one in self._calls.values():
            if not one.released.done():
                one.released.set_result(ToolOutcome(error="the program that runs this function has left"))

    def _meet(self, generation_id: str, call_id: str) -> None:
        key = (generation_id, call_id)
        if key in self._seen and key in self._begun:
            self._seen.discard(key)
            one = self._begun.pop(key)
            self._told(generation_id, one.id, one.call)


class FunctionTools:
    """The functions as one answer's tools."""

    def __init__(self, functions: Functions, generation_id: str, specs: Sequence[ToolSpec]) -> None:
        self._functions = functions
        self._generation_id = generation_id
        self._specs = list(specs)

    @property
    def specs(self) -> list[ToolSpec]:
        """What the model is told."""
        return self._specs

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Has the client run it; never raises."""
        return await self._functions.run(self._generation_id, call)
