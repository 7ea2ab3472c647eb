"""The stream of an agent's words on its way to whoever sounds it; cancelling it is the one way to stop it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final

GIVEN: Final = "given"
"""What a draft is cancelled with whose words another reply of the same id goes on with."""


class Reply:
    """Words as an agent makes them: one writer, any number of readers, each from the beginning.

    `channel_id` is the agent's channel, None for words that no agent answers with (an announcement). `responds_to` is the
    event answered, None for greetings and announcements. `visibility` says who may hear it. `urgent`: it cuts what sounds
    (say), instead of waiting its turn. `question_id`: it is a question that an agent has put to people, said aloud.

    Whoever sounds it says so: `speech_ids` are the speeches made of it, `heard` whether something of one has gone to a
    listener. Writing never blocks: a generation is bounded by its model's limit, not by how fast
    somebody speaks it.
    """

    def __init__(
        self,
        id: str,
        room_id: str,
        *,
        channel_id: str | None = None,
        responds_to: str | None = None,
        visibility: str = "all",
        urgent: bool = False,
        question_id: str | None = None,
    ) -> None:
        self.id = id
        self.room_id = room_id
        self.channel_id = channel_id
        self.responds_to = responds_to
        self.visibility = visibility
        self.urgent = urgent
        self.question_id = question_id
        self.cancelled: str | None = None
        self.speech_ids: tuple[str, ...] = ()
        self.heard = False
        self._stop: Callable[[], object] | None = None
        self._pieces: list[str] = []
        self._length = 0
        self._ended = False
        self._more = asyncio.Event()

    @property
    def text(self) -> str:
        """All words so far."""
        return "".join(self._pieces)

    @property
    def length(self) -> int:
        """How many characters its text has so far."""
        return self._length

    @property
    def ended(self) -> bool:
        """Whether no more words will come, for whatever reason."""
        return self._ended

    @property
    def paused(self) -> bool:
        """Whether nothing follows for a while what has been written."""
        return not self._ended and bool(self._pieces) and self._pieces[-1] == "\n"

    def when_cancelled(self, stop: Callable[[], object]) -> None:
        """Names what to stop when the reply is cancelled before its words have ended; it is let go of then."""
        if not self._ended:
            self._stop = stop

    def write(self, piece: str) -> None:
        """Adds words; nothing once the reply has ended."""
        if piece and not self._ended:
            self._pieces.append(piece)
            self._length += len(piece)
            self._wake()

    def pause(self) -> None:
        """Marks a place where nothing follows for a while (a tool runs): readers should sound what they have."""
        if not self._ended and self._pieces and self._pieces[-1] != "\n":
            self._pieces.append("\n")
            self._length += 1
            self._wake()

    def end(self) -> None:
        """No more words will come."""
        self._ended, self._stop = True, None
        self._wake()

    def cancel(self, reason: str) -> bool:
        """Stops the words at their source and for every reader; False when it had been cancelled before."""
        if self.cancelled is not None:
            return False
        self.cancelled = reason
        stop = self._stop
        self.end()
        if stop is not None:
            stop()
        return True

    async def pieces(self) -> AsyncIterator[str]:
        """The words from the beginning, as they come; ends with the reply, at once when it is cancelled."""
        read = 0
        while self.cancelled is None:
            if read < len(self._pieces):
                read += 1
                yield self._pieces[read - 1]
            elif self._ended:
                return
            else:
                await self._more.wait()

    async def until_ended(self) -> None:
        """Waits until no more words will come, for whatever reason."""
        while not self._ended:
            await self._more.wait()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()
