"""A stored room gone through again: the turns that an agent's policy would have been asked about, as it would have read them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from voiceagent.agent.turn import speak_turn
from voiceagent.judgment.policy import SpeakTurn
from voiceagent.room.events import (
    ChannelBinding,
    ChannelType,
    EventStatus,
    EventType,
    Participant,
    RoomEvent,
    SystemContent,
)
from voiceagent.room.ledger import Disposition
from voiceagent.room.live import LiveRoom
from voiceagent.room.roster import Speaker
from voiceagent.room.visibility import reaches

_COMES_AND_GOES = ("joined", "left")


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn as a policy reads it, and the agent's answer to it (empty when it kept silent)."""

    turn: SpeakTurn
    answer: str

    @property
    def answered(self) -> bool:
        """Whether the agent spoke then."""
        return bool(self.answer)

    @property
    def speaker(self) -> str:
        """Who said it."""
        return self.turn.speakers.get(self.turn.event.id, "someone")


class PastRoom:
    """A room's stored events and people, up to some moment; what is read of it is the RoomContext protocol.

    Seats are told by who wrote and through what people were reached; people are there from when they joined to when they left, as
    far as the events say so.
    """

    def __init__(self, room_id: str, events: Sequence[RoomEvent], people: Sequence[Participant]) -> None:
        self._room = LiveRoom(room_id)
        self._events = events
        types = {channel: ChannelType.TEXT for person in people for channel in person.connected_via}
        types.update({event.source.channel_id: event.source.channel_type for event in events})
        self._bindings = tuple(ChannelBinding(channel, type) for channel, type in types.items())
        tells = any(_moved(event) is not None for event in events)
        for person in people:
            self._room.put_person(replace(person, active=not tells))

    @property
    def room_id(self) -> str:
        """The room's id."""
        return self._room.room_id

    @property
    def participants(self) -> Sequence[Participant]:
        """Everybody who ever joined; `active` as it was."""
        return self._room.participants

    @property
    def bindings(self) -> Sequence[ChannelBinding]:
        """The channels that left a trace."""
        return self._bindings

    @property
    def closed(self) -> bool:
        """A room of the past takes nothing more."""
        return True

    @property
    def unanswered(self) -> Mapping[str, Disposition]:
        """A room of the past knows of none."""
        return {}

    @property
    def recent_events(self) -> Sequence[RoomEvent]:
        """The newest events so far."""
        return self._room.recent_events

    def speaker(self, event: RoomEvent) -> Speaker | None:
        """Who said a message."""
        return self._room.speaker(event)

    @property
    def agents(self) -> Sequence[str]:
        """The agents' channels that left a trace."""
        return [binding.channel_id for binding in self._bindings if binding.channel_type.intelligence]

    def turns(self, channel_id: str, window: int) -> Iterator[PastTurn]:
        """What the agent was asked about, oldest first; goes through the room once."""
        if channel_id not in self.agents:
            self._bindings = (*self._bindings, ChannelBinding(channel_id, ChannelType.AI))
        answers: dict[str, str] = {}
        for event in self._events:
            if event.source.channel_id == channel_id and event.type is EventType.MESSAGE and event.responds_to is not None:
                answers[event.responds_to] = f"{answers.get(event.responds_to, '')} {event.content.body}".strip()
        for event in self._events:
            self._room.remember(event)
            self._move(event)
            if _asked(channel_id, event):
                yield PastTurn(speak_turn(channel_id, event, self, window), answers.get(event.id, ""))

    def _move(self, event: RoomEvent) -> None:
        moved = _moved(event)
        if moved is None:
            return
        name, active = moved
        for person in self.participants:
            if (person.display_name or "somebody") == name and person.active is not active:
                self._room.put_person(replace(person, active=active))
                return


def _moved(event: RoomEvent) -> tuple[str, bool] | None:
    """Who came (True) or went, by name."""
    if not isinstance(event.content, SystemContent) or event.content.code not in _COMES_AND_GOES:
        return None
    return event.content.body.removesuffix(f" {event.content.code}"), event.content.code == "joined"


def _asked(channel_id: str, event: RoomEvent) -> bool:
    return (
        event.type is EventType.MESSAGE
        and event.status is not EventStatus.BLOCKED
        and event.source.channel_id != channel_id
        and (event.addressed_to is None or channel_id in event.addressed_to)
        and reaches(event.visibility, channel_id, ChannelType.AI)
    )
