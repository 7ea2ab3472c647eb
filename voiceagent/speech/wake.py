"""A line that sleeps until its wake word is said: while it sleeps nothing leaves this file but the fact that it does."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from voiceagent.audio.frame import FRAME_MS, SILENCE, Samples
from voiceagent.speech.settings import WakeSettings

ECHO_MS: Final = 1_200
"""How long after the agent has said the word itself it may come back by the microphone: 600 ms of way, and a window's length."""

SOUNDING_MS: Final = 300
"""How long after its last sound the agent counts as sounding: between two sentences there are gaps."""

RING_MS: Final = 2_000
"""Sound kept while asleep, the oldest overwritten."""


class Spotter(Protocol):
    """Listens for one phrase in one stream of sound; one object a stream, since it remembers the frames before."""

    def hear(self, frame: Samples) -> float:
        """Takes the next 20 ms; how near the phrase is that has just been said: 1 and above is it, 0 nothing like it."""
        ...


@dataclass(slots=True)
class _Waking:
    """When the line was woken last, when somebody was last heard or answered since, both on the caller's clock."""

    attended: int
    stirred: int


class WakeFilter:
    """One line's. `hear()` takes its frames in order and gives those that may go on; `played()` what its loudspeaker is handed.

    Asleep it gives none, and keeps the last 2 s. Woken it gives at once what was said since just before the word's end, then each
    frame as it comes. The agent's own sound never wakes it: a phrase that it has itself been heard to say is nobody's call. It
    falls asleep when for `follow_ms` nobody has spoken and the agent neither; talk that the agent does not answer keeps it awake
    for `longest_ms` at most. Pure but for the spotters; times are milliseconds of one clock of the caller's.
    """

    def __init__(self, settings: WakeSettings, heard: Spotter, own: Spotter, gate: Callable[[Samples], bool]) -> None:
        """`heard` listens to the microphone, `own` to what is played, for the same phrase; `gate`: may a frame hold a voice?"""
        self._settings = settings
        self._heard = heard
        self._own = own
        self._gate = gate
        self._ring: deque[Samples] = deque(maxlen=RING_MS // FRAME_MS)
        self._waking: _Waking | None = None
        self._said_itself = -ECHO_MS
        self._sounded = -SOUNDING_MS
        self._near = False

    @property
    def awake(self) -> bool:
        """Whether frames go on."""
        return self._waking is not None

    def sounding(self, now: int) -> bool:
        """Whether the agent is heard, or was a moment ago."""
        return now - self._sounded < SOUNDING_MS

    def hear(self, samples: Samples, now: int, *, own: bool = False) -> tuple[Samples, ...]:
        """The frames that may go on now that this one (20 ms) is there: none, it, or what was kept and it.

        `own`: there is nothing in it but what is played; then nobody calls.
        """
        self._ring.append(samples)
        called = self._called(SILENCE if own else samples, now)
        if self._waking is None:
            return self.wake(now, self._settings.pre_roll_ms) if called else ()
        self._stay(self._waking, samples, now, called=called, own=own)
        return (samples,)

    def played(self, samples: Samples, now: int) -> None:
        """20 ms are handed to the loudspeaker."""
        if samples is not SILENCE and samples.any():
            self._sounded = now
        if self._own.hear(samples) >= self._settings.own_share:
            self._said_itself = now

    def wake(self, now: int, back_ms: int) -> tuple[Samples, ...]:
        """Wakes it, or keeps it awake: by a key, or a word that others have found. Gives the last `back_ms` of what was kept;
        none when it was awake, since that has gone on."""
        was_awake = self.awake
        self._waking = _Waking(now, now)
        frames = min(len(self._ring), max(1, back_ms // FRAME_MS))
        return () if was_awake else tuple(self._ring)[-frames:]

    def sleep(self) -> None:
        """Puts it to sleep."""
        self._waking = None
        self._ring.clear()

    def _called(self, samples: Samples, now: int) -> bool:
        """Whether the phrase is complete with this frame, said by a person; told once each time it is said."""
        near = self._heard.hear(samples) >= 1
        rises, self._near = near and not self._near, near
        return rises and now - self._said_itself >= ECHO_MS

    def _stay(self, waking: _Waking, samples: Samples, now: int, *, called: bool, own: bool) -> None:
        if called or self.sounding(now):
            waking.attended = waking.stirred = now
        elif not own and self._gate(samples):
            waking.stirred = now
        quiet = now - waking.stirred >= self._settings.follow_ms
        if quiet or now - waking.attended >= self._settings.longest_ms:
            self.sleep()
