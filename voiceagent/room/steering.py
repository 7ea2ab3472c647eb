"""Texts that correct what an agent is doing: for one answer alone, or for the conversation; each with a receipt."""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from voiceagent.room.events import ChannelType, EventSource, RoomEvent, TextContent
from voiceagent.room.intake import SUBMITTED, Intake, digest_of
from voiceagent.room.ledger import STEER
from voiceagent.room.live import LiveRoom
from voiceagent.room.passage import KEY_TAKEN, SYSTEM_CHANNEL, Passage
from voiceagent.room.receipt import Receipt, disposition_of
from voiceagent.room.rooms import Rooms
from voiceagent.room.store import EventFilter, Store
from voiceagent.values import JSON

LONGEST: Final = 16_000
"""Characters of a steering text."""

LONGEST_ID: Final = 128

TAKEN: Final = "input_id_taken"
"""Why a text is refused under an id that names another one."""

DECIDE_MS: Final = 1_000
"""How long a receipt waits for the agent to say by what way the text goes."""


class Steering:
    """An engine's. A steering text is a message of the room like others: stored, shown, and of its one identity for ever."""

    def __init__(self, rooms: Rooms, passage: Passage, intake: Intake, store: Store) -> None:
        self._rooms = rooms
        self._passage = passage
        self._intake = intake
        self._store = store

    async def steer(
        self, room_id: str, text: str, *, participant_id: str | None, generation_id: str | None, input_id: str | None
    ) -> Receipt:
        """What RoomEngine.steer promises."""
        if not 0 < len(text.strip()) <= LONGEST:
            return Receipt(None, "refused", f"text: 1 to {LONGEST} characters")
        if input_id is not None and not 0 < len(input_id.strip()) <= LONGEST_ID:
            return Receipt(None, "refused", f"input_id: 1 to {LONGEST_ID} characters")
        event = self._event(room_id, text, participant_id, generation_id)
        if input_id is not None:
            event = replace(event, idempotency_key=input_id.strip())
            known = await self._store.find_key(room_id, SYSTEM_CHANNEL, input_id.strip())
            if known is not None:
                return await self._again(known, event)
        room = self._rooms.get(room_id)
        if room is None or room.closed:
            return Receipt(None, "refused", "room_closed")
        agents = [binding.channel_id for binding in room.bindings if binding.channel_type.intelligence]
        if generation_id is not None:
            agents = [channel_id for channel_id in agents if _admits(room, channel_id, generation_id)]
            if not agents:
                return Receipt(None, "refused", "generation_ended")
            event = replace(event, addressed_to=tuple(agents))
        return await self._take(room, event) if agents else Receipt(None, "refused", "no_agent")

    def _event(self, room_id: str, text: str, participant_id: str | None, generation_id: str | None) -> RoomEvent:
        source = EventSource(SYSTEM_CHANNEL, ChannelType.SYSTEM, participant_id=participant_id)
        event = self._intake.own(room_id, source, TextContent(text.strip()))
        marks: Mapping[str, JSON] = {STEER: generation_id, SUBMITTED: digest_of(event.content, generation_id)}
        return replace(event, metadata=marks)

    async def _take(self, room: LiveRoom, event: RoomEvent) -> Receipt:
        cause = self._passage.place()
        result = await self._passage.take(room, replace(event, chain_depth=cause.depth), cause)
        if result.event is None or result.blocked:
            return Receipt(None, "refused", TAKEN if result.reason == KEY_TAKEN else result.reason)
        decided = asyncio.Event()
        room.ledger.when_decided(result.event.id, decided.set)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DECIDE_MS / 1000):
                await decided.wait()
        return replace(await self._receipt(result.event), duplicate=result.duplicate)

    async def _again(self, known: RoomEvent, event: RoomEvent) -> Receipt:
        if known.metadata.get(SUBMITTED) != event.metadata.get(SUBMITTED):
            return Receipt(None, "refused", TAKEN)
        return replace(await self._receipt(known), duplicate=True)

    async def _receipt(self, event: RoomEvent) -> Receipt:
        """How far it has come: as the room remembers, or else as its answers tell."""
        room = self._rooms.get(event.room_id)
        standing = room.ledger.standing(event.id) if room is not None else None
        if standing is not None:
            return Receipt(event.id, disposition_of(standing), generation_id=standing.generation_id)
        wanted = EventFilter(responds_to=event.id, taken_in=True)
        rows = await self._store.list_events(event.room_id, event_filter=wanted, limit=1)
        if not rows:
            return Receipt(event.id, "unknown")
        own = rows[0].responds_to == event.id
        return Receipt(event.id, "new_turn" if own else "applied", generation_id=rows[0].correlation_id)


def _admits(room: LiveRoom, channel_id: str, generation_id: str) -> bool:
    seat = room.seat(channel_id)
    return seat is not None and seat.channel.admits(room.room_id, generation_id)
