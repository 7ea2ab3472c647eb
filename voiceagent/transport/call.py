"""What a line to one person must offer."""

from collections.abc import AsyncIterator
from typing import Protocol

from voiceagent.audio.frame import AudioFrame


class Call(Protocol):
    """A line to one person, from answer to hang-up.

    `frames()` yields one frame every 20 ms for as long as the line is open: the transport fills gaps (a muted microphone, lost
    packets) with silence, so that whoever listens may count time in frames. It ends when either side hangs up.
    """

    @property
    def session_id(self) -> str:
        """Names this line; unique, never reused."""
        ...

    @property
    def has_screen(self) -> bool:
        """Whether its person sees what the room shows, such as an agent's questions; where they do not, it is said."""
        ...

    def frames(self) -> AsyncIterator[AudioFrame]:
        """The person's sound. Called once."""
        ...

    def play(self, frame: AudioFrame) -> int:
        """Takes the next 20 ms for the person's ear; never blocks. Callers hand over at the pace of sound; what would put the
        line more than 200 ms ahead of the listener is dropped, oldest first: returns how many 16 kHz samples that was."""
        ...

    def clear(self) -> int:
        """Drops what was handed over and has not left for the listener; returns how many 16 kHz samples that was."""
        ...

    @property
    def queued(self) -> int:
        """16 kHz samples handed over that have not left for the listener yet; of a line that is over, those that never will."""
        ...

    @property
    def behind(self) -> int:
        """16 kHz samples that the listener hears later than they leave: jitter buffer and playout; 0 where none is known."""
        ...

    async def hang_up(self) -> None:
        """Closes the line once what is queued has left; safe to call twice."""
        ...
