"""What a host has an agent say that answers nobody: stored first, then sounded."""

from collections.abc import Callable
from dataclasses import replace

from voiceagent.errors import RoomError
from voiceagent.room.events import ChannelType, Direction, EventSource, RoomEvent, TextContent
from voiceagent.room.intake import Intake
from voiceagent.room.passage import Passage
from voiceagent.room.reply import Reply
from voiceagent.room.rooms import Rooms
from voiceagent.room.store import EventFilter, Store


class Announcing:
    """Announcements in one engine's rooms; `sound` hands a reply to whoever sounds it."""

    def __init__(self, rooms: Rooms, passage: Passage, intake: Intake, store: Store, sound: Callable[[Reply], None]) -> None:
        self._rooms = rooms
        self._passage = passage
        self._intake = intake
        self._store = store
        self._sound = sound

    async def say(self, room_id: str, text: str, channel_id: str | None, *, urgent: bool) -> Reply:
        """Says a text in the name of an agent's channel, the room's first one by default. Raises RoomError when there is none."""
        room = self._rooms.open(room_id)
        agents = [b.channel_id for b in room.bindings if b.channel_type.intelligence]
        speaker = channel_id or (agents[0] if agents else None)
        if speaker is None or room.seat(speaker) is None:
            raise RoomError(f"room {room_id}: no agent channel to speak for; attach one, or name a channel of the room")
        reply = Reply(self._intake.new_id(), room_id, channel_id=None, urgent=urgent)
        source = EventSource(speaker, ChannelType.AI, Direction.OUTBOUND)
        cause = self._passage.place()
        event = replace(self._intake.own(room_id, source, TextContent(text)), addressed_to=(), correlation_id=reply.id)
        result = await self._passage.take(room, replace(event, chain_depth=cause.depth), cause)
        if result.event is None or result.blocked:
            reply.cancel(result.reason or "refused")
            return reply
        reply.visibility = result.event.visibility
        reply.write(result.event.content.body)
        reply.end()
        self._sound(reply)
        return reply

    async def said(self, room_id: str, text: str) -> RoomEvent:
        """Says a text as `say` does, and returns the event that it is stored as. Raises RoomError when it is stored nowhere."""
        reply = await self.say(room_id, text, None, urgent=True)
        found = await self._store.list_events(room_id, event_filter=EventFilter(correlation_id=reply.id, blocked=True))
        if not found:
            raise RoomError(f"room {room_id}: the announcement was refused: {reply.cancelled}")
        return found[-1]
