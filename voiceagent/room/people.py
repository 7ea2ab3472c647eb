"""Who comes into a room and goes: kept, told in the room, and told to hooks."""

from dataclasses import replace

from voiceagent.room.door import checked_participant
from voiceagent.room.events import ChannelType, EventSource, Participant, SystemContent
from voiceagent.room.hooks import Hooks, HookTrigger
from voiceagent.room.intake import Intake
from voiceagent.room.live import LiveRoom
from voiceagent.room.passage import SYSTEM_CHANNEL, Passage
from voiceagent.room.store import Store


class People:
    """Comings and goings of one engine's rooms."""

    def __init__(self, store: Store, passage: Passage, intake: Intake, hooks: Hooks) -> None:
        self._store = store
        self._passage = passage
        self._intake = intake
        self._hooks = hooks

    async def join(self, room: LiveRoom, participant: Participant) -> None:
        """Adds a person, or brings them back; the room is told when they were not there already."""
        participant = checked_participant(participant)
        before = room.person(participant.id)
        person = room.put_person(participant)
        await self._store.put_participant(room.room_id, person)
        if before is None or not before.active:
            await self._tell(room, person, "joined")
            self._hooks.notify(HookTrigger.ON_PARTICIPANT_JOINED, person, room)

    async def leave(self, room: LiveRoom, participant_id: str) -> None:
        """Marks a person as gone; does nothing when they are not there."""
        person = room.person(participant_id)
        if person is None or not person.active:
            return
        person = room.put_person(replace(person, active=False))
        await self._store.put_participant(room.room_id, person)
        await self._tell(room, person, "left")
        self._hooks.notify(HookTrigger.ON_PARTICIPANT_LEFT, person, room)

    async def _tell(self, room: LiveRoom, person: Participant, what: str) -> None:
        source = EventSource(SYSTEM_CHANNEL, ChannelType.SYSTEM)
        event = self._intake.own(room.room_id, source, SystemContent(f"{person.display_name or 'somebody'} {what}", what))
        room.feed.publish(f"participant.{what}", {"participant_id": person.id, "name": person.display_name})
        await self._passage.take(room, event, self._passage.place())
