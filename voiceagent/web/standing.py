"""What a visitor of a room may, and until when."""

import asyncio
from dataclasses import dataclass
from typing import Final

from voiceagent import clock

LOOK_S: Final = 15
"""How often the wall clock is looked at, which may be set anew meanwhile."""


@dataclass(frozen=True, slots=True)
class Standing:
    """`host`: sees what the agent decides. `until`: when their token expires, in seconds since 1970 UTC; None: never."""

    host: bool
    until: int | None = None

    async def ended(self) -> None:
        """Returns once the token has expired."""
        while True:
            left = LOOK_S if self.until is None else self.until - int(clock.utc().timestamp())
            if left <= 0:
                return
            await asyncio.sleep(min(left, LOOK_S))
