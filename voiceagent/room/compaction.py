"""Has an agent's conversation in a room go on under a summary of what was said before; successor.py says what that is."""

from dataclasses import replace

from voiceagent.errors import RoomError
from voiceagent.room.events import ChannelType, EventSource, SystemContent
from voiceagent.room.intake import Intake
from voiceagent.room.passage import Passage
from voiceagent.room.questions.desk import QuestionDesk
from voiceagent.room.rooms import Rooms
from voiceagent.room.successor import COMPACTED_UNTIL, SUMMARY, standing
from voiceagent.room.visibility import INTERNAL


class Compaction:
    """Successors in one engine's rooms."""

    def __init__(self, rooms: Rooms, passage: Passage, intake: Intake, questions: QuestionDesk) -> None:
        self._rooms = rooms
        self._passage = passage
        self._intake = intake
        self._questions = questions

    async def succeed(self, room_id: str, channel_id: str, summary: str, until: int) -> str:
        """Begins an agent's next conversation, under which its open questions go on with their ids; returns its id.

        Raises RoomError when the room is not open or does not take the summary, StoreError.
        """
        room = self._rooms.open(room_id)
        before = standing(channel_id, room_id, room.recent_events)
        source = EventSource(channel_id, ChannelType.AI)
        event = self._intake.own(room_id, source, SystemContent(summary, SUMMARY))
        event = replace(event, visibility=INTERNAL, metadata={COMPACTED_UNTIL: until})
        result = await self._passage.take(room, event, self._passage.place())
        if result.event is None or result.blocked:
            raise RoomError(f"room {room_id}: the summary was refused: {result.reason}")
        await self._questions.move(room_id, channel_id, before.id)
        return result.event.id
