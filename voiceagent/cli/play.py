"""One run of `talk`: the callers on their lines in one room, everything that happens written down, until it comes to rest."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol, TextIO

from voiceagent import clock
from voiceagent.audio.frame import Samples, to_samples
from voiceagent.cli.loop import cause
from voiceagent.cli.mixdown import track, write_stereo
from voiceagent.cli.tap import Tap
from voiceagent.cli.transcript import Chronicle, Row, latencies
from voiceagent.config import Settings
from voiceagent.errors import RoomError
from voiceagent.room.channel import RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.room.feed import FeedEvent, Subscription
from voiceagent.room.hooks import ErrorEvent, HookExecution, HookTrigger
from voiceagent.transport.file import FileCall
from voiceagent.voice.reception import Reception

ROOM = "talk"
Pieces = Iterable[tuple[int, Samples]]
"""One side of a mix: sounds, each with its time in ms since the run began."""

REST_MS = 1_000
"""Nothing new for so long, with nobody heard and nothing being said, and a run is over."""


class Stage(Protocol):
    """What a run needs of the app."""

    settings: Settings

    @property
    def engine(self) -> RoomEngine:
        """The rooms."""
        ...

    @property
    def reception(self) -> Reception:
        """Where calls go."""
        ...

    async def open_room(self, room_id: str) -> None:
        """Opens a room with the agent in it."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Speaker:
    """One caller with their sound (16 kHz mono int16), `start_ms` after the run begins."""

    name: str
    sound: Samples
    start_ms: int


@dataclass(frozen=True, slots=True)
class Result:
    """What a run came to.

    `rested` is False when it had to be ended while something still went on; `broken` names what failed so that a call could
    not go on.
    """

    rows: tuple[Row, ...]
    length_ms: int
    latencies_ms: tuple[int, ...]
    rested: bool
    broken: tuple[str, ...] = ()


@dataclass(slots=True)
class _Recorder:
    """Reads the feed as it comes: every event into the timeline, and into the chronicle."""

    reader: Subscription
    chronicle: Chronicle
    timeline: TextIO | None
    began: float
    events: list[FeedEvent] = field(default_factory=list)
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Until the feed ends. Raises RoomError when events were lost."""
        async for event in self.reader.events():
            if self.timeline is not None:
                self.timeline.write(json.dumps(event.as_json(), ensure_ascii=False) + "\n")
            if event.seq is None:
                continue
            self.events.append(event)
            self.chronicle.take(event, self._since(event))
            self.moved.set()
        if self.reader.lagged:
            raise RoomError("the run's timeline could not keep up with its events; give the run a faster disk")

    def _since(self, event: FeedEvent) -> int:
        return max(0, round((datetime.fromisoformat(event.time).timestamp() - self.began) * 1000))


class Play:
    """Runs `speakers` in a room of the stage's, whose voice `tap` stands around.

    `out` is a folder that exists (None: nothing is written); `on_progress` is told the milliseconds since the beginning.
    """

    def __init__(
        self, stage: Stage, tap: Tap, speakers: Sequence[Speaker], out: Path | None, on_progress: Callable[[int], None]
    ) -> None:
        self._tap = tap
        self._stage = stage
        self._speakers = speakers
        self._out = out
        self._on_progress = on_progress
        self._broken: list[str] = []
        self._calls = [FileCall(f"line-{number}", one.sound, start_ms=one.start_ms) for number, one in enumerate(speakers, 1)]

    @property
    def speech_ms(self) -> int:
        """When the last recording ends."""
        return max(call.speaks_until_ms for call in self._calls)

    async def run(self, wait_ms: int) -> Result:
        """Plays it all; `wait_ms` bounds how long the agent may go on after the last recording."""
        self._stage.engine.hook(HookTrigger.ON_ERROR, execution=HookExecution.ASYNC, name="talk")(self._note_error)
        self._stage.engine.hook(HookTrigger.BEFORE_TTS, name="tap")(self._tap.note)
        await self._stage.open_room(ROOM)
        agent = self._stage.settings.agent
        people = {f"caller-{number}": one.name for number, one in enumerate(self._speakers, 1)}
        chronicle = Chronicle({**people, agent.channel_id: agent.name})
        with self._timeline() as timeline:
            reader = self._stage.engine.feed(ROOM).subscribe(after=0)
            recorder = _Recorder(reader, chronicle, timeline, clock.utc().timestamp())
            began = clock.now()
            async with asyncio.TaskGroup() as tasks:
                recording = tasks.create_task(recorder.run(), name="timeline")
                rested = await self._talk(people, recorder, wait_ms)
                reader.close()
                await recording
        length_ms = clock.now() - began
        rows = tuple(recorder.chronicle.rows({call.session_id: _opened(call, began) for call in self._calls}))
        if self._out is not None:  # a long run's sound is a while's work
            sides = self._people(began), self._agent(recorder.chronicle, began)
            await asyncio.get_running_loop().run_in_executor(None, _write, self._out, rows, sides, length_ms)
        return Result(rows, length_ms, tuple(latencies(recorder.events)), rested, tuple(self._broken))

    async def _note_error(self, error: ErrorEvent, room: RoomContext) -> None:
        if error.stage == "call":
            self._broken.append(f"a call was ended by an error: {cause(error.error)}")

    def _timeline(self) -> contextlib.AbstractContextManager[TextIO | None]:
        if self._out is None:
            return contextlib.nullcontext()
        return (self._out / "timeline.jsonl").open("w", encoding="utf-8")

    async def _talk(self, people: dict[str, str], recorder: _Recorder, wait_ms: int) -> bool:
        async with asyncio.TaskGroup() as lines:
            for call, (person, name) in zip(self._calls, people.items(), strict=True):
                receiving = self._stage.reception.receive(call, room_id=ROOM, participant=Participant(person, name))
                lines.create_task(receiving, name=call.session_id)
            following = lines.create_task(self._follow(), name="progress")
            rested = await self._rest(recorder, wait_ms)
            following.cancel()
            for call in self._calls:
                call.finish()
        return rested

    async def _rest(self, recorder: _Recorder, wait_ms: int) -> bool:
        """Waits until all have spoken and nothing goes on; False when that took too long."""
        spoken_at = clock.now() + self.speech_ms
        await clock.sleep_until(spoken_at)
        while clock.now() < spoken_at + wait_ms:
            recorder.moved.clear()
            try:
                async with asyncio.timeout(REST_MS / 1000):
                    await recorder.moved.wait()
            except TimeoutError:
                if recorder.chronicle.at_rest:
                    return True
        return False

    async def _follow(self) -> None:
        began = clock.now()
        while True:
            self._on_progress(clock.now() - began)
            await clock.sleep_until(clock.now() + 100)

    def _people(self, began: int) -> Pieces:
        return [(_opened(call, began) + one.start_ms, one.sound) for call, one in zip(self._calls, self._speakers, strict=True)]

    def _agent(self, chronicle: Chronicle, began: int) -> Pieces:
        """The agent's track: what the person heard where there is one; of several, each hears the others too."""
        if len(self._calls) == 1:
            call = self._calls[0]
            return [(_opened(call, began) + piece.at_ms, piece.samples) for piece in call.heard()]
        speeches = chronicle.speeches()
        return ((at_ms, self._tap.sound(key)[: to_samples(heard_ms)]) for key, at_ms, heard_ms in speeches)


def _write(out: Path, rows: tuple[Row, ...], sides: tuple[Pieces, Pieces], length_ms: int) -> None:
    transcript = json.dumps([row.as_json() for row in rows], ensure_ascii=False, indent=2)
    (out / "transcript.json").write_text(transcript + "\n", encoding="utf-8")
    people, agent = sides
    write_stereo(out / "mix.wav", track(people, length_ms), track(agent, length_ms))


def _opened(call: FileCall, began: int) -> int:
    return 0 if call.opened_at_ms is None else call.opened_at_ms - began
