"""A room as its channels and hooks may read it."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from voiceagent.room.events import ChannelBinding, Participant, RoomEvent
from voiceagent.room.ledger import Disposition
from voiceagent.room.roster import Speaker


class RoomContext(Protocol):
    """A room as its channels and hooks may read it; a live view, cheap to hand over."""

    @property
    def room_id(self) -> str:
        """The room's id."""
        ...

    @property
    def participants(self) -> Sequence[Participant]:
        """Everybody who ever joined, in order of joining; look at `active`."""
        ...

    @property
    def bindings(self) -> Sequence[ChannelBinding]:
        """The channels in the room, in order of attachment."""
        ...

    @property
    def recent_events(self) -> Sequence[RoomEvent]:
        """The newest committed events, oldest first, BLOCKED and internal ones included; readers filter."""
        ...

    @property
    def closed(self) -> bool:
        """Whether the room takes nothing more."""
        ...

    @property
    def unanswered(self) -> Mapping[str, Disposition]:
        """Messages that nobody answers by itself, by id: the agent was gone, or whoever wrote one has withdrawn it."""
        ...

    def speaker(self, event: RoomEvent) -> Speaker | None:
        """Who said a message, by the name that tells them apart here; None for what nobody says."""
        ...
