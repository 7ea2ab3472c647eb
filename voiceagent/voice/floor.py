"""One room's floor: whose turn it is to sound, who hears whom, and how what sounds is cut."""

import asyncio
import contextlib
from collections.abc import Coroutine
from dataclasses import replace
from typing import Final

from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, Samples, to_ms
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.hooks import HookTrigger
from voiceagent.room.reply import Reply
from voiceagent.values import JSON
from voiceagent.voice.cut import BargeIn
from voiceagent.voice.detector import InterruptionDetector
from voiceagent.voice.duck import Duck
from voiceagent.voice.echo import EchoWords
from voiceagent.voice.interruption import Cut, Pause, Resume
from voiceagent.voice.interruption import Duck as Lower
from voiceagent.voice.latency import latency_of
from voiceagent.voice.line import Line
from voiceagent.voice.listeners import Listeners
from voiceagent.voice.manners import Manners
from voiceagent.voice.mixing import mixes
from voiceagent.voice.mouth import Mouth, Speaking, closing
from voiceagent.voice.notices import Notices
from voiceagent.voice.quiet import Quiet
from voiceagent.voice.records import Records
from voiceagent.voice.rehearsal import Rehearsal
from voiceagent.voice.saying import Saying
from voiceagent.voice.settings import VoiceSettings
from voiceagent.voice.turn import Sounding
from voiceagent.voice.waiting import Waiting

VOICE_CHANNEL: Final = "voice"
"""The id under which a room's voice channel sits in it."""

PROGRESS_TICKS: Final = 5
LATE_MS: Final = 200
"""A clock so far behind (a machine that slept) starts anew instead of handing over everything at once."""

DRAIN_MS: Final = 1_000
"""How long a line may take to play what it was handed before it is no longer waited for."""

HOLD_MS: Final = 10_000
"""How long speech that has not become words may keep a ready reply from beginning."""


class Floor:
    """Sounds one reply at a time and mixes the people; every call hears all but itself.

    `channel` is the registered voice channel, in whose name cut records are written. `run()` is the floor's life and owns its
    tasks; it ticks only while something sounds or somebody is to be heard.
    """

    def __init__(
        self,
        engine: RoomEngine,
        channel: Channel,
        room_id: str,
        speaking: Speaking,
        settings: VoiceSettings,
        *,
        detector: InterruptionDetector | None = None,
    ) -> None:
        """`detector` is the host's own judge of who wants the turn."""
        self.engine = engine
        self.room_id = room_id
        self.settings = settings
        self.detector = detector
        self.turns = engine.host.turns(room_id)
        self.rest = Quiet()
        self.echo = EchoWords(speaking.settings.language)
        self._records = Records(engine, channel, room_id)
        self._rehearsal = Rehearsal(speaking.tts, speaking.settings, self._spawn)
        self._speaking = replace(speaking, tts=self._rehearsal)
        self._lines: list[Line] = []
        self.listeners = Listeners(engine.host.consumption, channel.channel_id, self._lines)
        self._notices = Notices(engine.feed(room_id), channel.channel_id, self.listeners)
        self._manners = Manners(self._lines, self._notices)
        self._waiting = Waiting()
        self._watching: set[asyncio.Task[None]] = set()
        self._saying: Saying | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._started = asyncio.Event()
        self._closed = False
        self._wake = asyncio.Event()
        self._ticks = 0

    # -- life -----------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Until close(); then what still has to be written is written."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            self._started.set()
            due = clock.now()
            while not self._closed:
                self._next()
                if self._busy():
                    now = clock.now()
                    due = now if now - due > LATE_MS or due > now else due
                    self._tick(now)
                    self._next()
                    due += FRAME_MS
                    await clock.sleep_until(due)
                else:
                    await self._sleep()
                    due = clock.now()

    async def started(self) -> None:
        """Returns once run() takes replies."""
        await self._started.wait()

    def close(self, reason: str) -> None:
        """Stops what sounds, drops what waits; run() ends soon after."""
        self.drop(reason)
        self._rehearsal.close()
        self._closed = True
        self.rest.end()
        self._wake.set()

    def drop(self, reason: str) -> None:
        """Stops what sounds, and lets go of what has not begun to: its words go on for those who read."""
        for task in self._watching:
            task.cancel()
        waiting = self._waiting.clear()
        saying = self._saying
        if saying is not None and not saying.begun:
            self._notices.dropped(saying.reply, reason)
            self._end(saying)
        self._stop(None, reason)
        for reply in waiting:
            self._notices.dropped(reply, reason)
        self.changed()

    async def quiet(self) -> None:
        """Returns once nothing sounds and nothing waits to."""
        await self.rest.until_idle()

    # -- replies --------------------------------------------------------------------------------------------------------

    def take(self, reply: Reply) -> None:
        """Queues a reply; an urgent one cuts what sounds and goes first."""
        if self._closed or self._waiting.full:
            self._notices.dropped(reply, "closed" if self._closed else "queue_full")
            return
        reply.speech_ids = (*reply.speech_ids, reply.id)
        self._notices.queued(reply)
        self._waiting.add(reply)
        watching = self._spawn(self._await_words(reply), f"first words of {reply.id}")
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)
        if reply.urgent:
            self._stop(None, "say")
        self._next()
        self.changed()

    def rehearse(self, draft: Reply) -> None:
        """Has the beginning of an answer that may never be given spoken ahead, unheard."""
        if self._tasks is not None and not self._closed and self._saying is None:
            self._rehearsal.take(draft)

    def sounding(self, line: Line) -> Sounding | None:
        """What can be cut, as this line's listener has heard it."""
        saying = self._saying
        if saying is None or not saying.begun or saying.resting:
            return None
        return Sounding(saying.reply.id, to_ms(line.played()))

    def speeches(self) -> list[JSON]:
        """The speech that sounds, if one does, as far as its listeners have heard it."""
        saying = self._saying
        if saying is None or not saying.begun:
            return []
        played = max((line.played() for line in self._lines), default=0)
        return [saying.told(played)]

    def give_way(self, line: Line, step: Lower | Pause | Resume | Cut, input_id: str | None = None) -> None:
        """What a person does to the reply that sounds; nothing when that sounds no more, or all of it was heard.

        A cut silences it before anybody is asked or told; `input_id` is the speech that caused it.
        """
        saying = self._saying
        if saying is None or not saying.begun or saying.reply.id != step.reply_id:
            return
        if not isinstance(step, Cut):
            self._manners.give_way(saying, line, step, clock.now())
            self.changed()
        elif saying.duck.paused or not saying.over or not line.through():
            self._stop(line, "barge_in", input_id)

    def cancel(self, reply_id: str, reason: str) -> bool:
        """Stops a reply that sounds, or waits to; False when there is none of this id."""
        saying = self._saying
        if saying is not None and saying.reply.id == reply_id:
            return self._stop(None, reason)
        waits = self._waiting.find(reply_id)
        if waits is None or not waits.cancel(reason):
            return False
        self._next()
        return True

    # -- people ---------------------------------------------------------------------------------------------------------

    def seat(self, line: Line) -> None:
        """A call comes; it hears what sounds from here on."""
        if self._saying is not None and self._saying.begun:
            line.begin(self._saying.handed)
        self._lines.append(line)

    def leave(self, line: Line) -> None:
        """A call goes; what sounds goes on for the others, if there are any."""
        if self._lines == [line]:
            self.drop("hang_up")
        elif self._saying is not None:
            self._manners.leave(self._saying, line, clock.now())
        self._lines.remove(line)
        if all(other.participant_id != line.participant_id for other in self._lines):
            self._miss(line)
        self.changed()

    def talk(self, line: Line, samples: Samples) -> None:
        """20 ms of a person who speaks, for all others."""
        if len(self._lines) > 1:
            line.talk(samples)
            self._wake.set()

    def changed(self, *, wake: bool = True) -> None:
        """Something of a line or of what sounds is different: tells the agent's state, who waits for quiet, and the loop."""
        saying = self._saying
        voices = any(line.hearing or line.deciding for line in self._lines)
        self.rest.note(idle=saying is None and not self._waiting, voices=voices)
        if saying is not None and saying.begun and not saying.silent(clock.now()):
            self._notices.state("speaking")
        elif (saying is not None and saying.duck.paused) or any(line.hearing for line in self._lines):
            self._notices.state("listening")
        else:
            self._notices.state("idle" if self.rest.idle else "thinking")
        if wake:
            self._wake.set()

    def _miss(self, line: Line) -> None:
        """One person goes: what sounds on, or still waits, they do not hear."""
        saying = self._saying
        if saying is not None and saying.begun:
            line.stop()
            self.listeners.cut(saying.reply, saying.mouth.script, line)
        elif saying is not None:
            self.listeners.miss(saying.reply, line)
        for reply in self._waiting:
            self.listeners.miss(reply, line)

    # -- inside ---------------------------------------------------------------------------------------------------------

    def _busy(self) -> bool:
        saying = self._saying
        if saying is not None and (saying.begun or (saying.mouth.ready and not self._held(saying))):
            return True
        return any(line.talking for line in self._lines)

    def _spawn(self, coroutine: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        if self._tasks is None:
            coroutine.close()
            raise RuntimeError("a floor takes replies once it runs")
        return self._tasks.create_task(coroutine, name=name)

    async def _sleep(self) -> None:
        """Until something changes; a reply that is held back waits no longer than its bound."""
        self._wake.clear()
        saying = self._saying
        if saying is None or saying.ready_at is None:
            await self._wake.wait()
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0, saying.ready_at + HOLD_MS - clock.now()) / 1000):
                await self._wake.wait()

    def _held(self, saying: Saying) -> bool:
        """Whether a reply that has not begun waits for somebody to finish; waits no longer than HOLD_MS."""
        if saying.reply.urgent or not any(line.hearing or line.deciding for line in self._lines):
            return False
        return saying.ready_at is None or clock.now() - saying.ready_at < HOLD_MS

    def _next(self) -> None:
        """Lets go of a reply that has nothing to sound, and gives the next one its turn."""
        saying = self._saying
        if saying is not None and saying.reply.cancelled is not None:
            self._stop(None, saying.reply.cancelled)
        elif saying is not None and not saying.begun and saying.over:
            self._notices.dropped(saying.reply, "nothing_to_say")
            self._end(saying)
        while self._saying is None and (reply := self._waiting.take()) is not None:
            if reply.cancelled is not None:
                self._notices.dropped(reply, reply.cancelled)
                continue
            mouth = Mouth(reply, self.engine, self._speaking, self.settings.ahead_ms, self._sound_came)
            duck = Duck(self.settings.barge_in.duck_db)
            self._saying = Saying(reply, mouth, self._spawn(mouth.run(), f"mouth {reply.id}"), duck)
        if self._saying is not None and self._saying.begun and (waits := self._waiting.first()) is not None:
            self._rehearsal.prepare(waits)
        self.changed(wake=False)

    async def _await_words(self, reply: Reply) -> None:
        """Notes when a waiting reply gets its first words: its turn may come then."""
        async with closing(reply.pieces()) as pieces:
            async for _ in pieces:
                self.turns.answered(reply.responds_to, clock.now())
                break
        self._next()
        self._wake.set()

    def _sound_came(self) -> None:
        saying = self._saying
        if saying is not None and saying.ready_at is None and saying.mouth.ready:
            saying.ready_at = clock.now()
        self._wake.set()

    def _tick(self, now: int) -> None:
        saying = self._saying
        agent = None
        if saying is not None and ((saying.begun and not saying.resting) or not self._held(saying)):
            agent = saying.frame(now)
            if agent is not None and not saying.begun:
                self._begin(saying, now)
        talk = {line: samples for line in self._lines if (samples := line.take()) is not None}
        for line, samples in mixes(self._lines, talk, agent).items():
            line.hand(samples, own=agent is not None)
        if saying is not None and saying.begun:
            self._follow(saying, now)

    def _begin(self, saying: Saying, now: int) -> None:
        saying.begun = saying.reply.heard = True
        for line in self._lines:
            line.begin()
        self._notices.started(saying.reply, saying.mouth.script)
        self.engine.questions.answering.sounds(saying.reply)
        waited = self.turns.waited(saying.reply.responds_to)
        if waited is not None:
            self._notices.latency(latency_of(saying.reply.responds_to or "", *waited))
        self.changed()

    def _follow(self, saying: Saying, now: int) -> None:
        """After each frame: has everybody heard everything?"""
        self._manners.overdue(saying, now)
        self.changed(wake=False)
        if saying.duck.paused:
            return
        played = max((line.played() for line in self._lines), default=0)
        if saying.over:
            saying.drain_until = saying.drain_until or now + DRAIN_MS
            if now >= saying.drain_until or all(line.through() for line in self._lines):
                self._notices.finished(saying.reply, saying.mouth.script, played)
                self._end(saying)
                return
        rests = saying.reply.paused and not saying.mouth.ready and all(line.through() for line in self._lines)
        if rests and not saying.resting:
            saying.resting, saying.ready_at = True, None
            self._manners.rest(saying)
            self.listeners.rest(saying.reply, saying.mouth.script)
            self._notices.progress(saying.reply, saying.mouth.script, played)
        self._ticks += 1
        if self._ticks % PROGRESS_TICKS == 0:
            self.echo.playing(saying.mouth.script.text, saying.mouth.script.heard_text(played), now)
        if self._ticks % PROGRESS_TICKS == 0 and not saying.duck.lowered:  # what is lowered may be heard again
            self._notices.progress(saying.reply, saying.mouth.script, played)

    def _end(self, saying: Saying) -> None:
        saying.speaking.cancel()
        self._saying = None
        if saying.begun:
            for line in tuple(self._lines):
                line.on_quiet()
        self.changed()

    def _stop(self, line: Line | None, reason: str, input_id: str | None = None) -> bool:
        """Silence now; the reply's words stop at their source; then hooks are told and the record is written."""
        saying = self._saying
        if saying is None:
            return False
        heard = {seat: seat.stop() if saying.begun else 0 for seat in self._lines}
        listener = line if line in heard else max(heard, key=lambda seat: heard[seat], default=None)
        cut = saying.cut_for(listener, reason, input_id)
        if self.settings.keep_partial_transcript and cut.worth_a_record:
            cut = replace(cut, record_event_id=self.engine.host.new_id())
        if line is not None and saying.begun:
            said = BargeIn(self.room_id, cut.session_id, line.participant_id, cut.speech_id, cut.text, cut.played_ms)
            self.engine.host.notify(HookTrigger.ON_BARGE_IN, said, self.room_id)
        saying.reply.cancel(reason)
        if saying.begun:
            self._notices.cut(saying.reply, cut, saying.mouth.script)
        else:
            self._notices.dropped(saying.reply, reason)
        self._spawn(self._records.write(cut), f"cut {cut.speech_id}")
        self._end(saying)
        return True
