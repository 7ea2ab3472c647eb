"""Who is told of what is measured."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from voiceagent.trace.span import Span, Trace
from voiceagent.values import JSON

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Witness:
    """Called at once, wherever something is measured, and so none of these may wait. One that raises costs the others nothing.

    `lines` are told of every line of every room's feed as it is published, by type and data; `spans` of each stretch that has
    ended; `traces` of each turn that is over; `drops` of how many lines somebody did not get; `discards` of what a request to a
    model has cost that was begun ahead for nothing (characters, tokens by kind).
    """

    lines: tuple[Callable[[str, Mapping[str, JSON]], None], ...] = ()
    spans: tuple[Callable[[Span], None], ...] = ()
    traces: tuple[Callable[[Trace], None], ...] = ()
    drops: tuple[Callable[[int], None], ...] = ()
    discards: tuple[Callable[[Mapping[str, int]], None], ...] = ()

    def __add__(self, other: "Witness") -> "Witness":
        return Witness(
            self.lines + other.lines,
            self.spans + other.spans,
            self.traces + other.traces,
            self.drops + other.drops,
            self.discards + other.discards,
        )

    @property
    def follows(self) -> bool:
        """Whether anybody is told of spans or traces."""
        return bool(self.spans or self.traces)

    def line(self, type: str, data: Mapping[str, JSON]) -> None:
        """A line was published."""
        for tell in self.lines:
            try:
                tell(type, data)
            except Exception:
                log.exception("a line of type %s is not counted", type)

    def span(self, span: Span) -> None:
        """A stretch has ended."""
        for tell in self.spans:
            try:
                tell(span)
            except Exception:
                log.exception("a stretch of stage %s is not counted", span.stage)

    def trace(self, trace: Trace) -> None:
        """A turn is over."""
        for tell in self.traces:
            try:
                tell(trace)
            except Exception:
                log.exception("room %s: a turn is not traced", trace.room_id)

    def discarded(self, cost: Mapping[str, int]) -> None:
        """A request to a model was for nothing."""
        for tell in self.discards:
            try:
                tell(cost)
            except Exception:
                log.exception("a request that was thrown away is not counted")

    def dropped(self, lines: int) -> None:
        """Lines were left out for somebody."""
        for tell in self.drops:
            try:
                tell(lines)
            except Exception:
                log.exception("%d dropped lines are not counted", lines)


NOBODY: Final = Witness()
"""Nothing is measured for anybody."""


class Exporter(Protocol):
    """Sends traces somewhere."""

    def witness(self) -> Witness:
        """What it is told."""
        ...

    async def close(self) -> None:
        """Sends what is left."""
        ...


class Figures(Protocol):
    """Counts, and shows what it has counted."""

    @property
    def content_type(self) -> str:
        """What `page` is written in."""
        ...

    def witness(self) -> Witness:
        """What it is told."""
        ...

    def lag(self, late_ms: int) -> None:
        """The event loop came to a timer so late."""
        ...

    def gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A figure that is read whenever it is asked for. Raises ValueError when its name is taken."""
        ...

    def page(self) -> bytes:
        """All figures."""
        ...
