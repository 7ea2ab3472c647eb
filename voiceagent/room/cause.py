"""What made the running code run: how deep in a chain of answers, and how many events that one cause may still make."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

ROWS: Final = 10_000
"""How many rows one answer may have: its words, and the calls of its tools with their results."""


@dataclass(slots=True)
class Allowance:
    """How many more events may follow from one first event; an answer counts as one, however many rows it has."""

    left: int
    refused: bool = False
    rows: dict[str, int] = field(default_factory=dict)

    def draw(self, answer: str | None = None) -> bool:
        """Takes one, or a row of an answer by its id; False when none is left."""
        if answer is not None and answer in self.rows:
            self.rows[answer] += 1
            return self.rows[answer] <= ROWS
        self.left -= 1
        if self.left < 0:
            return False
        if answer is not None:
            self.rows[answer] = 0
        return True

    def refuse(self) -> bool:
        """Whether this is the first refusal, the one that is written down."""
        first, self.refused = not self.refused, True
        return first


@dataclass(frozen=True, slots=True)
class Cause:
    """The place in a chain: an event sent from here is at least `depth` deep."""

    depth: int
    allowance: Allowance = field(compare=False)


current: ContextVar[Cause | None] = ContextVar("voiceagent_cause", default=None)
"""Set around a channel's handling of an event, an agent's turn and a hook on an event; None for what comes from outside.

A task has the cause that it was started in for as long as it lives."""


agents: ContextVar[bool] = ContextVar("voiceagent_agents", default=False)
"""Set in what an agent's tools do, and in the tasks that they start: what only a person may do is refused there."""


@contextmanager
def by_agent() -> Iterator[None]:
    """What runs or is started in this block is an agent's doing."""
    token = agents.set(True)
    try:
        yield
    finally:
        agents.reset(token)


@contextmanager
def within(cause: Cause) -> Iterator[None]:
    """What runs or is started in this block is made to run by `cause`."""
    token = current.set(cause)
    try:
        yield
    finally:
        current.reset(token)
