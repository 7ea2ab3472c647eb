"""What waits to be taken into one answer at its next request; admission closes once, before the answer's end is told."""

from dataclasses import dataclass, replace

from voiceagent.agent.notes import add_turn_note
from voiceagent.agent.turn import Turn
from voiceagent.llm.model import Message


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """An input on its way into an answer. `anchored`: it is meant for that one and goes into no other."""

    turn: Turn
    notes: tuple[str, ...] = ()
    anchored: bool = False

    @property
    def input_id(self) -> str:
        """The id of the event."""
        return self.turn.trigger.id

    @property
    def message(self) -> Message:
        """What the model reads of it."""
        last = self.turn.ai_context.messages[-1]
        for note in self.notes:
            (last,) = add_turn_note([last], note)
        return replace(last)


class Inbox:
    """One answer's. What came first is taken first."""

    def __init__(self) -> None:
        self._given: list[Given] = []
        self.closed = False

    def __len__(self) -> int:
        return len(self._given)

    def offer(self, given: Given) -> bool:
        """Takes an input for the next request; False once admission has closed."""
        if self.closed:
            return False
        self._given.append(given)
        self._given.sort(key=lambda one: one.turn.arrival)
        return True

    def take(self) -> tuple[Given, ...]:
        """All that waits, in the order in which it came to the room."""
        given, self._given = tuple(self._given), []
        return given

    def withdraw(self, input_id: str) -> Given | None:
        """What waits under this id, which waits no more; None when nothing does."""
        found = next((one for one in self._given if one.input_id == input_id), None)
        if found is not None:
            self._given.remove(found)
        return found

    def close(self) -> tuple[Given, ...]:
        """Nothing more is taken; returns what was never taken in."""
        self.closed = True
        return self.take()
