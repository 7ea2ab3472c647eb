"""Which of several engines is asked first: the earliest of them that has not failed lately."""

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Final, Generic, TypeVar

from pydantic import AfterValidator, BeforeValidator


def _at_least_one(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        raise ValueError("name at least one, or leave the line out for the one that comes with the program")
    return names


Names = Annotated[
    tuple[str, ...],
    AfterValidator(_at_least_one),
    BeforeValidator(lambda given: (given,) if isinstance(given, str) else given),
]
"""Engines in settings, by preference: one name, or a list of them."""

T = TypeVar("T")

COOL_DOWN_MS: Final = 30_000
"""How long an engine that failed is asked after the others."""


class Fallback(Generic[T]):
    """Engines by preference. One that fails steps behind the others until its cool-down is over; none is ever left out."""

    def __init__(self, engines: Sequence[T], cool_down_ms: int = COOL_DOWN_MS) -> None:
        """Raises ValueError when there is no engine."""
        if not engines:
            raise ValueError("a chain of engines needs at least one")
        self._engines = tuple(engines)
        self._cool_down = cool_down_ms
        self._until = [0] * len(self._engines)

    @property
    def engines(self) -> tuple[T, ...]:
        """All of them, by preference."""
        return self._engines

    def order(self, now_ms: int) -> tuple[T, ...]:
        """Whom to ask at `now_ms`, first to last: those that are well, then those that cool down, the next to be well first."""
        places = range(len(self._engines))
        well = [place for place in places if self._until[place] <= now_ms]
        ill = sorted((place for place in places if self._until[place] > now_ms), key=lambda place: self._until[place])
        return tuple(self._engines[place] for place in (*well, *ill))

    def failed(self, engine: T, now_ms: int) -> None:
        """It gave nothing, or gave it too late."""
        self._until[self._place(engine)] = now_ms + self._cool_down

    def worked(self, engine: T) -> None:
        """It is well again, whatever was said of it before."""
        self._until[self._place(engine)] = 0

    def _place(self, engine: T) -> int:
        return next(place for place, known in enumerate(self._engines) if known is engine)


async def opened(*engines: object) -> None:
    """Opens, on the running loop, those engines that have an `open`. Raises what they raise."""
    for engine in engines:
        await _call(engine, "open")


async def closed(*engines: object) -> None:
    """Closes those engines that have a `close`, plain or async."""
    for engine in engines:
        await _call(engine, "close")


async def _call(engine: object, name: str) -> None:
    called = getattr(engine, name, None)
    done = called() if called is not None else None
    if inspect.isawaitable(done):
        await done


def named(*kinds: str) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    """What checks that each name is one of `kinds`, alone or with a colon and what it takes; `livekit` needs that."""

    def check(names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            kind, _, what = name.partition(":")
            if kind not in kinds or (kind == "livekit" and not what):
                known = ", ".join("livekit:PLUGIN" if one == "livekit" else one for one in kinds)
                raise ValueError(f"there is no engine {name!r}; known: {known}")
        if len(set(names)) < len(names):
            raise ValueError("an engine stands in a chain once")
        return names

    return check
