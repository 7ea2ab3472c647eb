"""What scenarios of generations are made of: a room that is followed, tools that wait, and short ways to look into its feed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from tests.scenario.rooms import ROOM, Door, say, seat, settled
from voiceagent.agent.channel import AIChannel
from voiceagent.llm.model import Chunk, Done, Message, Prompt, Steered, TextDelta, ToolCall
from voiceagent.llm.scripted import Pause, ScriptedModel, Step
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, RoomEvent
from voiceagent.room.feed import FeedEvent, Subscription
from voiceagent.values import JSON

ENDS = ("generation.finished", "generation.failed", "generation.detached")
LOOK = ToolCall("c1", "look", "{}")
ROUND: tuple[Sequence[Step], str] = (("One moment.", LOOK), "It is Tuesday.")
"""A model's turns: a tool, then an answer."""
NATIVE: tuple[Step, ...] = (Steered("", "accepted", "r1"), "Monday.", Pause(100), Steered("", "applied", "r2"), "Tuesday.")
"""A model's stream that takes an input in as it answers."""


async def goes_on(kit: RoomEngine, first: str, second: str) -> tuple[RoomEvent, RoomEvent]:
    """Somebody says something, and a tenth of a second later something more."""
    before = await say(kit, first)
    await asyncio.sleep(0.1)
    return before, await say(kit, second)


@dataclass
class Followed:
    """A room with a door, an agent and a reader of its feed."""

    kit: RoomEngine
    door: Door
    agent: AIChannel
    reader: Subscription
    lines: list[FeedEvent] = field(default_factory=list)

    async def read(self, *, wait_ms: int = 600_000) -> "Followed":
        """Lets everything come to its end, and takes in what the feed told."""
        await settled(wait_ms)
        self.reader.close()
        self.lines = [line async for line in self.reader.events()]
        return self

    def all(self, type: str) -> list[dict[str, JSON]]:
        """The data of all lines of a type, with the generation that they name."""
        return [{**line.data, "generation": line.generation_id} for line in self.lines if line.type == type]

    def one(self, type: str) -> dict[str, JSON]:
        """The data of the only line of a type."""
        (line,) = self.all(type)
        return line

    def order(self, *types: str) -> list[str]:
        """The types of lines in their order, of these only."""
        return [line.type for line in self.lines if line.type in types]

    def of(self, generation_id: object) -> list[str]:
        """The types of lines that name a generation."""
        return [line.type for line in self.lines if line.generation_id == generation_id]

    def about(self, input_id: str) -> list[str]:
        """What was told of one input, in order."""
        return [line.type for line in self.lines if line.data.get("input_id") == input_id and line.type != "input.decided"]

    @property
    def settlements(self) -> dict[str, str]:
        """How each input was settled."""
        return {str(data["input_id"]): str(data["disposition"]) for data in self.all("input.settled")}

    @property
    def open_id(self) -> str:
        """The id of the generation that is open now."""
        (generation,) = self.generations
        return str(generation["generation_id"])

    @property
    def generations(self) -> list[dict[str, JSON]]:
        """The generations that are open now."""
        listed = self.kit.snapshot(ROOM)["generations"]
        assert isinstance(listed, list)
        return [one for one in listed if isinstance(one, dict)]


class Bench:
    """A tool that works until it is let go, and counts how often it ran."""

    def __init__(self) -> None:
        self.ran = 0
        self.go = asyncio.Event()

    async def look(self) -> str:
        """Looks something up."""
        self.ran += 1
        await self.go.wait()
        return "Monday is free"


async def followed(
    kit: RoomEngine, *turns: str | Sequence[Step], bench: Bench | None = None, model: object = None, spoken: bool = False
) -> Followed:
    """Opens the room with an agent whose model says these turns; `spoken`: something that sounds sits in it, too."""
    provider = model or ScriptedModel(turns)
    agent = AIChannel("assistant", provider=provider, system_prompt="", tools=[bench.look] if bench else [])  # type: ignore[arg-type]
    await seat(kit, door := Door(), agent)
    if spoken:
        await seat(kit, Door("speaker", ChannelType.VOICE))
    return Followed(kit, door, agent, kit.feed(ROOM).subscribe())


def asked(prompt: Prompt) -> list[str]:
    """What a model was asked by people, in order."""
    return [message.content for message in prompt.messages if message.role == "user"]


class LiveModel:
    """A model that takes input while it answers: `answers` are what steer_live gives back, `script` what its stream tells."""

    name = "live"

    def __init__(self, *script: Step | Steered, answers: Sequence[bool | Exception | str] = (True,)) -> None:
        self.prompts: list[Prompt] = []
        self.steered: list[str] = []
        self._script = script
        self._answers = list(answers)

    async def steer_live(self, input_id: str, message: Message) -> bool:
        self.steered.append(input_id)
        answer = self._answers.pop(0) if self._answers else False
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """A `Steered` of the script without an input is about the last one that was handed over."""
        self.prompts.append(prompt)
        for step in self._script if len(self.prompts) == 1 else ("Again.",):
            match step:
                case str():
                    yield TextDelta(step)
                case Pause():
                    await asyncio.sleep(step.ms / 1000)
                case Steered():
                    yield Steered(step.input_id or self.steered[-1], step.state, step.response_id)
                case BaseException():
                    raise step
                case _:
                    yield step
        yield Done()
