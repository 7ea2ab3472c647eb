"""The loop that a command runs on: uvloop where it is, or the virtual one; errors of tasks come out as themselves."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from voiceagent.clock import VirtualLoop
from voiceagent.errors import VoiceAgentError

try:
    import uvloop
except ImportError:  # no wheel for Windows
    _REAL: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
else:
    _REAL = uvloop.new_event_loop

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T], *, virtual: bool = False) -> T:
    """Runs to the end. Of a group of errors the first one of the project's own is raised, else the group."""
    try:
        with asyncio.Runner(loop_factory=VirtualLoop if virtual else _REAL) as runner:
            return runner.run(main)
    except BaseExceptionGroup as group:
        own = group.subgroup(VoiceAgentError)
        if own is None:
            raise
        raise cause(own) from group


def cause(error: BaseException) -> BaseException:
    """The first error in a group of errors; any other error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
