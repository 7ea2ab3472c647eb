"""Who lives in the rooms of a day: agents whose models, tools, policies and hooks fail in every way, by what is said to them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from random import Random
from typing import Any, cast
from zlib import crc32

from voiceagent.agent.channel import AIChannel
from voiceagent.agent.job import Job
from voiceagent.agent.settings import AgentSettings
from voiceagent.errors import LanguageModelError
from voiceagent.judgment.policy import SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.llm.model import Chunk, Done, Message, Prompt, Steered, TextDelta, ToolCall
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import RoomEvent
from voiceagent.room.hooks import HookResult, HookTrigger

TURNS = {
    "words": 40,
    "slow": 8,
    "look": 12,
    "fetch": 12,
    "several": 3,
    "fails": 6,
    "raises": 3,
    "gives up": 2,
    "hangs": 4,
    "rubbish": 6,
    "cut off": 2,
    "empty": 2,
    "applied": 3,
}
"""How often the model does what."""

RUBBISH: tuple[object, ...] = (
    None,
    "no chunk",
    42,
    TextDelta("half a sign \ud83d"),
    TextDelta("\x00\x1b[31m<script>"),
    ToolCall("", "look", "{}"),
    ToolCall("c9", "no such tool", "{}"),
    ToolCall("c9", "look", "{not json"),
    ToolCall("c9", "look", '{"ms": "soon", "more": [1]}'),
    Steered("nobody", "applied", "r1"),
    Done(),
)
WORDS = ("Well, ", "that is so. ", "It is forbidden. ", "Slowly now. ", "Unspeakable. ", "On Tuesday. ", "Mind the step. ")


def chance(*of: object) -> Random:
    """A source of chance that is the same for the same things, in whatever order they are asked for."""
    return Random(crc32(repr(of).encode("utf-8", "surrogatepass")))


class Trouble:
    """A model that does what its prompt makes it do; it takes input live now and then."""

    name = "trouble"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._taken: list[str] = []

    async def steer_live(self, input_id: str, message: Message) -> bool:
        draw = chance(self._seed, message.content)
        await asyncio.sleep(draw.choice((0, 0.02)))
        if draw.random() < 0.1:
            raise ConnectionError("lost")
        if draw.random() < 0.6:
            return False
        self._taken.append(input_id)
        return True

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        draw = chance(self._seed, len(prompt.messages), prompt.messages[-1].content)
        turn = draw.choices(tuple(TURNS), tuple(TURNS.values()))[0]
        for word in draw.choices(WORDS, k=draw.randint(0 if turn != "words" else 1, 4)):
            yield TextDelta(word)
            await asyncio.sleep(draw.choice((0, 0.01, 0.3)))
        if turn == "slow":
            await asyncio.sleep(draw.uniform(1, 20))
        fail(turn, draw)
        if turn == "hangs":
            await asyncio.Event().wait()
        for chunk in calls(turn, draw):
            yield chunk
        if turn == "applied" and self._taken:
            input_id = self._taken.pop()
            yield Steered(input_id, "accepted", "r1")
            await asyncio.sleep(0.01)
            yield Steered(input_id, draw.choice(("applied", "failed")), "r2")
        if turn != "cut off":
            yield Done(usage={"input": 10, "output": draw.randint(0, 20)})


def fail(turn: str, draw: Random) -> None:
    """What a turn raises, if it does."""
    match turn:
        case "fails":
            raise LanguageModelError("broken", draw.choice(("server", "connection", "rate", "length")))
        case "raises":
            raise draw.choice((ValueError("broken"), RuntimeError("broken"), TimeoutError("late")))
        case "gives up":
            raise asyncio.CancelledError


def calls(turn: str, draw: Random) -> Sequence[Chunk]:
    """What a turn wants done, or the rubbish that it yields."""
    match turn:
        case "look":
            wish = {"ms": draw.choice((0, 40, 900, 60_000)), "how": draw.randint(0, 9)}
            return [ToolCall("c1", "look", json.dumps(wish))]
        case "fetch":
            wish = {"ms": draw.choice((0, 500, 9_000, 900_000)), "how": draw.randint(0, 9)}
            return [ToolCall("c1", "fetch", json.dumps(wish))]
        case "several":
            wishes = [json.dumps({"ms": number, "how": number}) for number in range(draw.randint(2, 20))]
            return [ToolCall(f"c{number}", draw.choice(("look", "fetch")), wish) for number, wish in enumerate(wishes)]
        case "rubbish":
            return [cast(Chunk, rubbish) for rubbish in draw.choices(RUBBISH, k=3)]
        case _:
            return []


async def look(ms: int, how: int) -> str:
    """Looks something up."""
    await asyncio.sleep(ms / 1000)
    if how == 1:
        raise RuntimeError("the lamp is broken")
    return "found" if how != 2 else "\ud800" * 3


async def fetch(ms: int, how: int) -> Job:
    """Fetches something, behind the conversation."""

    async def work(update: Callable[[str], None]) -> object:
        update("on my way")
        await asyncio.sleep(ms / 1000)
        if how == 1:
            raise RuntimeError("no road")
        if how == 2:
            raise asyncio.CancelledError
        return object() if how == 3 else "42 km"

    return Job(work, label="a walk", wait_ms=700 if how > 6 else 0)


class Moody(SpeakPolicy):
    """Speaks mostly; is silent, slow, or breaks at times."""

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        draw = chance(turn.event.content.body)
        await asyncio.sleep(draw.choice((0, 0, 0.05, 0.4)))
        if draw.random() < 0.03:
            await asyncio.Event().wait()
        if draw.random() < 0.03:
            raise RuntimeError("no mood at all")
        return SpeakDecision(draw.choice(("speak", "speak", "speak", "speak", "offer", "silent")))


def agents(seed: int) -> list[AIChannel]:
    """The agent of every room, and the one that sits in some besides."""
    means: dict[str, Any] = {"system_prompt": "", "tools": [look, fetch]}
    moody = AIChannel("assistant", provider=Trouble(seed), speak_policy=Moody(), **means)
    quick = AIChannel("second", provider=Trouble(seed + 1), settings=AgentSettings(name="Second", apology=""), **means)
    return [moody, quick]


def hooks(kit: RoomEngine) -> None:
    """What looks at all that passes, and is no better than the rest."""

    @kit.hook(HookTrigger.BEFORE_BROADCAST, timeout=2)
    async def reads(event: RoomEvent) -> object:
        words = event.content.body.lower()
        if "slowly" in words:
            await asyncio.sleep(0.4)
        if "stuck" in words:
            await asyncio.Event().wait()
        if "broken" in words:
            raise RuntimeError("the hook broke")
        return HookResult.block("forbidden") if "forbidden" in words else 42 if "odd" in words else HookResult.allow()

    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def hushes(asked: object) -> HookResult[object]:
        await asyncio.sleep(0.01)
        return HookResult.block() if "hush" in str(getattr(asked, "trigger", "")) else HookResult.allow()

    @kit.hook(HookTrigger.BEFORE_TTS)
    async def listens(sentence: object) -> HookResult[object]:
        return HookResult.block() if "Unspeakable" in str(sentence) else HookResult.allow()

    @kit.hook(HookTrigger.ON_ERROR)
    async def fails_too(error: object) -> None:
        raise RuntimeError("nobody hears of errors")
