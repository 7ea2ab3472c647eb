"""What may have been said, and what may be answered: shown to channels before it is, and kept nowhere."""

from dataclasses import replace

from voiceagent.room.cause import Cause, within
from voiceagent.room.events import InboundMessage
from voiceagent.room.hearers import hearers
from voiceagent.room.intake import Intake
from voiceagent.room.passage import Passage
from voiceagent.room.reply import Reply
from voiceagent.room.rooms import Rooms


class Ahead:
    """For all rooms of one engine; `kit.host.ahead` is it. Nothing is stored, no hook of a message runs, and no line is told."""

    def __init__(self, rooms: Rooms, passage: Passage, intake: Intake) -> None:
        self._rooms = rooms
        self._passage = passage
        self._intake = intake

    def foresee(self, room_id: str, message: InboundMessage) -> None:
        """Somebody may have said this, under an id that was reserved: the agents that would be asked about it may think ahead.

        `forgo` takes it back. Nothing happens where a hook that guards the words has not seen them (a SYNC one of
        ON_TRANSCRIPTION or BEFORE_BROADCAST that blocks when it fails), or where the room would not take them.
        """
        room = self._rooms.get(room_id)
        source = room.seat(message.channel_id) if room is not None else None
        event = self._intake.foreseen(room, message, source.channel) if room is not None and source is not None else None
        if room is None or event is None:
            return
        cause = self._passage.place()
        event, seats = self._passage.foreseen(room, replace(event, chain_depth=cause.depth))
        with within(Cause(event.chain_depth + 1, cause.allowance)):
            for seat in seats:
                seat.foresee(event)

    def forgo(self, room_id: str, event_id: str) -> None:
        """What was foreseen under this id will not come, or has come; nothing when nobody has thought about it."""
        room = self._rooms.get(room_id)
        for seat in room.seats if room is not None else ():
            seat.channel.foresee(event_id, None, room_id)

    def prepare(self, draft: Reply) -> None:
        """Shows the words of an answer that may never be given to every channel that would sound it."""
        room = self._rooms.get(draft.room_id)
        for seat in hearers(room, draft) if room is not None else ():
            seat.show(draft)
