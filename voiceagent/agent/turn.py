"""What one turn of an agent starts from: taken when the event arrives, so that nothing said later changes it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from voiceagent.agent.context import AIContext, known_to, preceding
from voiceagent.agent.cuts import Cut, cuts_of
from voiceagent.judgment.policy import CutReply, SpeakTurn
from voiceagent.room.channel import RoomContext
from voiceagent.room.events import ChannelBinding, ChannelType, EventStatus, EventType, RoomEvent
from voiceagent.room.roster import people_around
from voiceagent.room.visibility import reaches


@dataclass(frozen=True, slots=True)
class Turn:
    """An event to be answered: what the model would read, and what the policy and the thinker read (None: not asked).

    `moment` is the mind's when the turn began, `arrival` its place among all that came to the agent in this room.
    """

    trigger: RoomEvent
    ai_context: AIContext
    speak: SpeakTurn | None = None
    heard: AIContext | None = None
    moment: int | None = None
    arrival: int = 0


def speak_turn(
    channel_id: str, event: RoomEvent, room: RoomContext, window: int, answering: Collection[RoomEvent] = ()
) -> SpeakTurn:
    """What a policy reads about an event: the room as the agent may know it, and no further back than its context goes.

    `answering` are the events that the agent is answering aloud just now, whose answers are not stored yet.
    """
    seats = {binding.channel_id: binding for binding in room.bindings}
    if channel_id not in seats:
        return SpeakTurn(event, channel_id=channel_id)
    before = preceding(event, room)
    recent = [e for e in known_to(channel_id, before, window) if e.type is EventType.MESSAGE]
    speakers: dict[str, str] = {}
    named: dict[str, None] = {}
    for said in (*recent, event):
        source = said.source
        if source.channel_id != channel_id and (speaker := room.speaker(said)) is not None:
            label = speakers[said.id] = speaker.label
            if label not in named and speaker.named and source.channel_type is not ChannelType.AI:
                named[label] = None
    around = _people(channel_id, room, seats)
    people = list(named) if len(named) > len(around) else around
    return SpeakTurn(event, recent, people, speakers, channel_id, cut=offered_cut(channel_id, before, room, answering))


def _people(channel_id: str, room: RoomContext, seats: Mapping[str, ChannelBinding]) -> list[str]:
    """Whom the agent sits with: those whose channels' words reach it."""
    kind = seats[channel_id].channel_type
    heard = [
        person
        for person in room.participants
        if person.active and any(reaches(seats[c].visibility, channel_id, kind) for c in person.connected_via if c in seats)
    ]
    return people_around(heard, channel_id)


def offered_cut(
    channel_id: str, before: Sequence[RoomEvent], room: RoomContext, answering: Collection[RoomEvent] = ()
) -> CutReply | None:
    """The agent's newest cut answer, as long as it has not spoken since.

    Record and answer are tied by what they answer, not by time: the rest of a cut answer, and an answer to something that was
    asked before the cut, may be stored after the record and do not count as having spoken since.
    """
    cuts = cuts_of(channel_id, before, room.bindings)
    if not cuts:
        return None
    cut = max(cuts.values(), key=lambda c: c.index)
    asked_at = {event.id: event.index or 0 for event in before}
    own = (event for event in before if event.source.channel_id == channel_id and event.type is EventType.MESSAGE)
    if any(_spoken_since(cut, event, asked_at) for event in own if event.status is not EventStatus.BLOCKED):
        return None
    if any(event.id != cut.answered and (event.index is None or event.index > cut.index) for event in answering):
        return None
    return CutReply(cut.text, cut.played_ms, cut.at)


def _spoken_since(cut: Cut, event: RoomEvent, asked_at: Mapping[str, int]) -> bool:
    if (event.index or 0) < cut.index or (event.responds_to is not None and event.responds_to == cut.answered):
        return False
    return asked_at.get(event.responds_to or "", cut.index + 1) > cut.index
