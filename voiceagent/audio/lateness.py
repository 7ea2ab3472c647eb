"""How late a network brings packets, against its own fastest, and how long it pays to wait for one."""

from typing import Final

SHORTEST_MS: Final = 20
LONGEST_MS: Final = 200
FIRST_MS: Final = 60

WINDOW_MS: Final = 2_000
"""The fastest packet is sought in this window and the one before it, so that a longer route or a drifting clock is followed."""

FORGET: Final = 0.98
QUANTILE: Final = 0.97


class Lateness:
    """A histogram of lateness in steps of 20 ms, each packet of which counts 2 % less with every later one.

    The wait is the step that holds 97 % of it: the rule of WebRTC's NetEq (its delay manager: quantile 0.95 to 0.97, forget
    factor 0.983), with steps and bounds of our own. Transit is arrival minus timestamp; only its differences mean anything.
    """

    def __init__(self) -> None:
        self._weights = [0.0] * (LONGEST_MS // SHORTEST_MS)
        self._weights[FIRST_MS // SHORTEST_MS - 1] = 0.5
        self._weights[0] = 0.5
        self._fastest: int | None = None
        self._before: int | None = None
        self._since = 0
        self.wait_ms = FIRST_MS

    @property
    def fastest(self) -> int:
        """The least transit of late, in milliseconds."""
        known = [transit for transit in (self._fastest, self._before) if transit is not None]
        return min(known, default=0)

    def add(self, transit: int, now: int) -> None:
        """Counts a packet by its transit in milliseconds. What no wait could have saved is not counted."""
        if self._fastest is None or now - self._since > 2 * WINDOW_MS:
            self._before, self._fastest, self._since = None, transit, now
        elif now - self._since > WINDOW_MS:
            self._before, self._fastest, self._since = self._fastest, transit, now
        self._fastest = min(self._fastest, transit)
        late = transit - self.fastest
        if late < LONGEST_MS:
            self._count(late // SHORTEST_MS)

    def _count(self, step: int) -> None:
        self._weights = [weight * FORGET for weight in self._weights]
        self._weights[step] += 1.0 - FORGET
        reached, steps = 0.0, 0
        while steps < len(self._weights) and reached < QUANTILE:
            reached += self._weights[steps]
            steps += 1
        self.wait_ms = max(1, steps) * SHORTEST_MS
