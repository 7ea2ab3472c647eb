"""What goes back to an agent behind its turn: a job's result, a person's answer, as an instruction that approves nothing."""

from collections.abc import Mapping
from dataclasses import replace

from voiceagent.errors import RoomError
from voiceagent.room.events import InboundResult
from voiceagent.room.intake import Intake
from voiceagent.room.leash import Leash
from voiceagent.room.origin import CAUSED_BY, LATER, Origin
from voiceagent.room.passage import CHAIN_LIMIT, Passage
from voiceagent.room.rooms import Rooms
from voiceagent.values import JSON


class Handing:
    """The way back for one engine's rooms."""

    def __init__(self, rooms: Rooms, passage: Passage, intake: Intake) -> None:
        self._rooms = rooms
        self._passage = passage
        self._intake = intake

    async def back(self, origin: Origin, text: str, caused_by: Mapping[str, JSON]) -> InboundResult:
        """Has an agent read a text as an instruction that answers nobody; where agents have gone on by themselves long enough,
        it waits for a person's message first. A refusal says why in `reason`: LATER, or for good."""
        room = self._rooms.get(origin.room_id)
        seat = room.seat(origin.channel_id) if room is not None else None
        if room is None or seat is None:
            return InboundResult(None, blocked=True, reason=LATER)
        if self._passage.too_deep(origin.chain_depth):
            return InboundResult(None, blocked=True, reason=CHAIN_LIMIT)
        if room.leash is None:
            room.leash = Leash()
        await room.leash.turn()
        if room.closed or room.seat(origin.channel_id) is not seat or room.ledger.refusal((origin.channel_id,)) is not None:
            return InboundResult(None, blocked=True, reason=LATER)
        try:
            event = self._intake.instruction(room, text, origin.channel_id, None)
        except RoomError:
            return InboundResult(None, blocked=True, reason=LATER)
        event = replace(
            event,
            chain_depth=origin.chain_depth,
            response_visibility=origin.response_visibility,
            parent_event_id=origin.parent_event_id,
            metadata={CAUSED_BY: dict(caused_by), "automatic": True},
        )
        return await self._passage.instruct(room, event, self._passage.place())
