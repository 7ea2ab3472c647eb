"""What one turn of an agent starts from: taken when the event arrives, so that nothing said later changes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from voiceagent.agent.context import AIContext, known_to
from voiceagent.agent.cuts import Cut, cuts_of
from voiceagent.judgment.policy import CutReply, SpeakTurn
from voiceagent.judgment.thought import Thought
from voiceagent.room.channel import RoomContext
from voiceagent.room.events import EventType, RoomEvent
from voiceagent.room.roster import is_person, people_around
from voiceagent.room.visibility import reaches


@dataclass(frozen=True, slots=True)
class Turn:
    """An event to be answered: what the model would read, and what the policy and the thinker read (None: not asked)."""

    trigger: RoomEvent
    ai_context: AIContext
    speak: SpeakTurn | None = None
    heard: AIContext | None = None


def speak_turn(channel_id: str, event: RoomEvent, room: RoomContext, thought: Thought | None) -> SpeakTurn:
    """What a policy reads about an event: the room as the agent may know it."""
    before = [e for e in room.recent_events if e.id != event.id and (event.index is None or (e.index or 0) < event.index)]
    recent = [e for e in known_to(channel_id, before) if e.type is EventType.MESSAGE]
    speakers: dict[str, str] = {}
    named: dict[str, None] = {}
    for said in (*recent, event):
        speaker = room.speaker(said) if said.source.channel_id != channel_id else None
        if speaker is not None:
            speakers[said.id] = speaker.label
            if speaker.named and is_person(said):
                named[speaker.label] = None
    around = _people(channel_id, room)
    people = list(named) if len(named) > len(around) else around
    return SpeakTurn(event, recent, people, speakers, channel_id, thought, offered_cut(channel_id, before, recent, room))


def _people(channel_id: str, room: RoomContext) -> list[str]:
    """Whom the agent sits with, if it sits in the room: those whose channels' words reach it."""
    seats = {binding.channel_id: binding for binding in room.bindings}
    seat = seats.get(channel_id)
    if seat is None:
        return []
    heard = [
        person
        for person in room.participants
        if any(reaches(seats[c].visibility, channel_id, seat.channel_type) for c in person.connected_via if c in seats)
    ]
    return people_around(heard, channel_id)


def offered_cut(channel_id: str, before: Sequence[RoomEvent], recent: Sequence[RoomEvent], room: RoomContext) -> CutReply | None:
    """The agent's newest cut answer, as long as it has not spoken since.

    Record and answer are tied by what they answer, not by time: the rest of a cut answer, and an answer to something that was
    asked before the cut, may be stored after the record and do not count as having spoken since.
    """
    cuts = cuts_of(channel_id, before, room.bindings)
    if not cuts:
        return None
    cut = max(cuts.values(), key=lambda c: c.index)
    asked_at = {event.id: event.index or 0 for event in before}
    if any(_spoken_since(cut, event, asked_at) for event in recent if event.source.channel_id == channel_id):
        return None
    return CutReply(cut.text, cut.played_ms, cut.at)


def _spoken_since(cut: Cut, event: RoomEvent, asked_at: Mapping[str, int]) -> bool:
    if (event.index or 0) < cut.index or (event.responds_to is not None and event.responds_to == cut.answered):
        return False
    return asked_at.get(event.responds_to or "", cut.index + 1) > cut.index
