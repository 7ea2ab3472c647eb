"""How late the event loop is: every callback that holds it shows here."""

from collections.abc import Callable
from typing import Final

from voiceagent import clock

EVERY_MS: Final = 250


async def watch_loop(tell: Callable[[int], None]) -> None:
    """Tells four times a second by how many milliseconds the loop came late to a timer; never ends by itself."""
    while True:
        due = clock.now() + EVERY_MS
        await clock.sleep_until(due)
        tell(max(0, clock.now() - due))
