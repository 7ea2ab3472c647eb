"""Which answers were cut off, by the records that a room's own voice channels wrote."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from voiceagent.room.events import ChannelBinding, RoomEvent
from voiceagent.room.visibility import INTERNAL


@dataclass(frozen=True, slots=True)
class Cut:
    """An answer that somebody spoke over: the text handed to speech, and for how long it had played."""

    answered: str | None
    text: str
    played_ms: int
    at: datetime
    index: int


def cuts_of(channel_id: str, events: Iterable[RoomEvent], bindings: Sequence[ChannelBinding]) -> Mapping[str | None, Cut]:
    """The latest believed record for each answer of an agent, by the id of the event that it answered.

    Metadata is anyone's to write. A record counts only when it is internal, of no participant, from a channel bound to the room
    that sounds, and names this agent.
    """
    sounding = {binding.channel_id for binding in bindings if binding.channel_type.sounds}
    found: dict[str | None, Cut] = {}
    for event in [e for e in events if e.visibility == INTERNAL]:
        if _believed(channel_id, event, sounding):
            answered = event.metadata.get("answer_responds_to")
            assert answered is None or isinstance(answered, str)
            played = _milliseconds(event.metadata.get("played_ms"))
            found[answered] = Cut(answered, event.content.body, played, event.created_at, event.index or 0)
    return found


def _believed(channel_id: str, event: RoomEvent, sounding: set[str]) -> bool:
    answered = event.metadata.get("answer_responds_to")
    return (
        event.source.participant_id is None
        and event.source.channel_type.sounds
        and event.source.channel_id in sounding
        and event.metadata.get("interrupted") is True
        and event.metadata.get("answer_channel_id") == channel_id
        and (answered is None or isinstance(answered, str))
    )


def _milliseconds(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return 0
    return int(value)
