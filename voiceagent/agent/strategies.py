"""How a turn may be taken in another way than by answering what was said."""

from typing import Protocol

from voiceagent.room.channel import RoomContext
from voiceagent.room.events import RoomEvent


class Strategy(Protocol):
    """Decides what an agent's turn reads in place of the event it answers."""

    def stand_in(self, event: RoomEvent, context: RoomContext) -> RoomEvent | None:
        """An event to read instead, naming the one it stands for in its `responds_to`; None to read the event itself.

        The answer names the event that was replaced.
        """
        ...
