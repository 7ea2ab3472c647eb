"""Whether a floor is free: nothing sounds or waits to, and nobody speaks; for those who wait for it."""

import asyncio


class Quiet:
    """One floor's, as it is told. Whoever waits is woken on every change."""

    def __init__(self) -> None:
        self.idle = True
        """Nothing sounds, and nothing waits to."""
        self.voices = False
        """Somebody speaks, or has said something that no agent has found a way for yet."""
        self.over = False
        """Nothing will sound any more."""
        self._changed = asyncio.Event()

    @property
    def free(self) -> bool:
        """Whether something may begin to sound that nobody has asked for."""
        return self.idle and not self.voices

    def note(self, *, idle: bool, voices: bool) -> None:
        """The floor as it stands now."""
        if (idle, voices) != (self.idle, self.voices):
            self.idle, self.voices = idle, voices
            self.stir()

    def end(self) -> None:
        """The floor closes."""
        self.over = True
        self.stir()

    def stir(self) -> None:
        """Wakes all who wait for a change, though the floor is as it was."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self) -> None:
        """Returns at the next change."""
        await self._changed.wait()

    async def until_idle(self) -> None:
        """Returns once nothing sounds, and nothing waits to."""
        while not self.idle:
            await self._changed.wait()

    async def lasts(self, ms: int) -> bool:
        """Whether it stays as it is for so long; False at a change."""
        try:
            async with asyncio.timeout(ms / 1000):
                await self._changed.wait()
        except TimeoutError:
            return True
        return False
