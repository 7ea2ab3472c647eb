"""What made the running code run: how deep in a chain of answers, and how many events that one cause may still make."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(slots=True)
class Allowance:
    """How many more events may follow from one first event."""

    left: int

    def draw(self) -> bool:
        """Takes one; False when none is left."""
        self.left -= 1
        return self.left >= 0


@dataclass(frozen=True, slots=True)
class Cause:
    """The place in a chain: an event sent from here is at least `depth` deep."""

    depth: int
    allowance: Allowance = field(compare=False)


current: ContextVar[Cause | None] = ContextVar("voiceagent_cause", default=None)
"""Set around a channel's handling of an event, an agent's turn and a hook on an event; None for what comes from outside."""


@contextmanager
def within(cause: Cause) -> Iterator[None]:
    """What runs or is started in this block is made to run by `cause`."""
    token = current.set(cause)
    try:
        yield
    finally:
        current.reset(token)
