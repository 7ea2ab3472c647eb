"""What a line by this machine's own devices offers besides a call; importing it needs no sound library."""

from collections.abc import Callable
from typing import Protocol

from voiceagent.audio.level import Level
from voiceagent.transport.call import Call


class StandingCall(Call, Protocol):
    """A line that stays: its devices may go and come back. `muted`: nothing that is said leaves it."""

    muted: bool
    level: Level
    on_state: Callable[[bool], None]

    async def run(self) -> None:
        """Keeps the devices open until the line is over. Raises TransportError when they cannot be had at first."""
        ...
