"""A call whose line sleeps until its wake word is said; to whoever runs it, it is a call like any other."""

from collections.abc import AsyncIterator, Callable

from voiceagent import clock
from voiceagent.audio.frame import FRAME_SAMPLES, SILENCE, AudioFrame, Samples
from voiceagent.speech.wake import WakeFilter
from voiceagent.transport.call import Call
from voiceagent.voice.leak import Leak
from voiceagent.voice.stopping import StopListener


class WakefulCall:
    """A Call around another. Asleep, what its person says is silence to the room.

    Woken, it hands over what was kept at once; it is that much ahead of the clock until it sleeps again and makes up for it.
    """

    def __init__(
        self,
        call: Call,
        wake: WakeFilter,
        *,
        stops: StopListener | None = None,
        on_change: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """Without `stops`, a stop is heard only by a line that is awake; `on_change` is told when it wakes and sleeps."""
        self._call = call
        self._wake = wake
        self._stops = stops
        self._on_change = on_change
        self._leak = Leak()
        self._at = 0
        self._early = 0

    @property
    def session_id(self) -> str:
        """The inner call's."""
        return self._call.session_id

    @property
    def has_screen(self) -> bool:
        """The inner call's."""
        return self._call.has_screen

    @property
    def queued(self) -> int:
        """The inner call's."""
        return self._call.queued

    @property
    def behind(self) -> int:
        """The inner call's."""
        return self._call.behind

    async def frames(self) -> AsyncIterator[AudioFrame]:
        """The person's sound while awake, else silence."""
        try:
            async for frame in self._call.frames():
                for samples in self._let_through(frame.samples, clock.now()):
                    yield AudioFrame(samples, self._at)
                    self._at += FRAME_SAMPLES
        finally:
            if self._stops is not None:
                self._stops.forget()

    def play(self, frame: AudioFrame) -> int:
        """Hands it on; what is played is not taken for a person's call."""
        now = clock.now()
        self._leak.played(frame.samples, now)
        self._wake.played(frame.samples, now)
        return self._call.play(frame)

    def clear(self) -> int:
        """The inner call's."""
        return self._call.clear()

    def wake(self) -> None:
        """Wakes it by a key."""
        self._wake.wake(clock.now(), 0)
        self._on_change(True)

    async def hang_up(self) -> None:
        """The inner call's."""
        await self._call.hang_up()

    def _let_through(self, samples: Samples, now: int) -> tuple[Samples, ...]:
        """What the room hears for this frame: as many frames as it lasts, more on waking, none while that is made up for."""
        self._leak.heard(samples, now)
        was_awake = self._wake.awake
        given = self._wake.hear(samples, now, own=self._leak.own)
        if self._stops is not None and not given:
            given = self._stopped(self._stops, samples, now)
        if self._wake.awake is not was_awake:
            self._on_change(self._wake.awake)
        if given:
            self._early += len(given) - 1
            return given
        if self._early:
            self._early -= 1
            return ()
        return (SILENCE,)

    def _stopped(self, stops: StopListener, samples: Samples, now: int) -> tuple[Samples, ...]:
        """What was kept of a stop, which wakes the line: it is then heard as one that was said awake."""
        if not self._wake.sounding(now):
            stops.forget()
            return ()
        back_ms = stops.hear(SILENCE if self._leak.own else samples)
        if back_ms is None:
            return ()
        stops.forget()
        return self._wake.wake(now, back_ms)
