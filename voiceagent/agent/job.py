"""Work that a tool hands over to go on behind the conversation."""

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, cast

Update = Callable[[str], None]
"""Tells hosts how far the work is; the agent does not read it."""

Work = Coroutine[Any, Any, object] | Callable[[], Awaitable[object]] | Callable[[Update], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Job:
    """What a tool returns when its result will take long: the model reads a receipt and goes on; the result comes back later.

    `work` is a coroutine, or an async function, which is called with an `update` function when it takes a parameter. `label`
    says to people what is being done (the tool's name by default). The turn waits up to `wait_ms` for a quick result, unless
    a person says something meanwhile. Raises TypeError for other work, ValueError for a wait below 0.
    """

    work: Work
    label: str = ""
    wait_ms: int = 0

    def __post_init__(self) -> None:
        if not (inspect.iscoroutine(self.work) or callable(self.work)):
            raise TypeError(f"job: give it a coroutine or an async function, not {type(self.work).__name__}")
        if self.wait_ms < 0:
            raise ValueError("job: wait_ms must be 0 or more")

    def begin(self, update: Update) -> Awaitable[object]:
        """The work, begun; called once."""
        if inspect.iscoroutine(self.work):
            return self.work
        function = cast("Callable[..., Awaitable[object]]", self.work)
        return function(update) if inspect.signature(function).parameters else function()

    def drop(self) -> None:
        """Lets go of work that is not begun."""
        if inspect.iscoroutine(self.work):
            self.work.close()
