"""What scenarios of rooms are made of: doors that write down what they hear, agents that answer whole, and short ways to ask."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.llm.model import LanguageModel
from voiceagent.llm.scripted import ScriptedModel, Step
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import (
    ChannelType,
    Content,
    Direction,
    EventSource,
    InboundMessage,
    InboundResult,
    RoomEvent,
    TextContent,
)
from voiceagent.room.hooks import ErrorEvent, HookTrigger
from voiceagent.room.memory import MemoryStore
from voiceagent.room.reply import Reply
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import EventFilter, Store

ROOM = "r"
STORES = ("memory", "sqlite")


class Door(Channel):
    """A door for people that writes down what it is told, when, and which replies it was handed."""

    def __init__(self, channel_id: str = "text", channel_type: ChannelType = ChannelType.TEXT) -> None:
        super().__init__(channel_id, channel_type)
        self.heard: list[RoomEvent] = []
        self.times: list[int] = []
        self.replies: list[Reply] = []
        self.detached = 0

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        self.heard.append(event)
        self.times.append(clock.now())
        return None

    def on_reply(self, reply: Reply, context: RoomContext) -> None:
        self.replies.append(reply)

    def on_detach(self, room_id: str) -> None:
        self.detached += 1

    @property
    def texts(self) -> list[str]:
        return [event.content.body for event in self.heard]

    @property
    def indices(self) -> list[int | None]:
        return [event.index for event in self.heard]


class Whole(Channel):
    """An agent without a model: answers each event with what `make` makes of it, whole."""

    def __init__(self, channel_id: str, make: Callable[[RoomEvent], Sequence[RoomEvent]]) -> None:
        super().__init__(channel_id, ChannelType.AI)
        self._make = make
        self.asked: list[RoomEvent] = []

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        self.asked.append(event)
        return ChannelOutput(tuple(self._make(event)))


def words(event: RoomEvent, text: str, channel_id: str = "assistant") -> RoomEvent:
    """An answer as a channel builds it, before the room has taken it."""
    source = EventSource(channel_id, ChannelType.AI, Direction.OUTBOUND)
    return RoomEvent("made-up", event.room_id, source, TextContent(text), clock.utc())


def agent(*turns: str | Sequence[Step], channel_id: str = "assistant", model: LanguageModel | None = None) -> AIChannel:
    """An agent whose model says these turns, or an agent with this model."""
    return AIChannel(channel_id, provider=model or ScriptedModel(turns), system_prompt="Be brief.")


def make_store(kind: str, folder: Path) -> Store:
    """A store in memory, or a real file in a folder."""
    return MemoryStore() if kind == "memory" else SqliteStore(folder / "rooms.db")


def ids() -> Callable[[], str]:
    """Ids that are the same in every run."""
    numbers = count(1)
    return lambda: f"id-{next(numbers)}"


async def seat(kit: RoomEngine, *channels: Channel, room: str = ROOM) -> None:
    """Opens a room and seats channels in it."""
    await kit.create_room(room)
    for channel in channels:
        kit.register_channel(channel)
        await kit.attach_channel(room, channel.channel_id)


def message(text: str | Content, channel: str = "text", sender: str | None = "ana") -> InboundMessage:
    """What somebody types."""
    return InboundMessage(channel, TextContent(text) if isinstance(text, str) else text, sender)


async def say(kit: RoomEngine, text: str, channel: str = "text", sender: str | None = "ana") -> RoomEvent:
    """Types something into the room; it must have been taken."""
    return taken(await kit.process_inbound(message(text, channel, sender), room_id=ROOM))


def errors_of(kit: RoomEngine) -> list[ErrorEvent]:
    """Fills up with what ON_ERROR is told."""
    errors: list[ErrorEvent] = []

    @kit.hook(HookTrigger.ON_ERROR)
    async def note(error: ErrorEvent) -> None:
        errors.append(error)

    return errors


def taken(result: InboundResult) -> RoomEvent:
    """The event of a result that was not refused."""
    assert result.event is not None
    assert not result.blocked, result.reason
    return result.event


async def rows(kit: RoomEngine, room: str = ROOM) -> list[RoomEvent]:
    """Everything stored, refused events too."""
    return await kit.store.list_events(room, event_filter=EventFilter(blocked=True))


async def settled(ms: int = 600_000) -> None:
    """Virtual time enough for everything that was begun to have come to its end."""
    await asyncio.sleep(ms / 1000)
