"""voiceagent on the driver's line: its own app, reception and feed, with nothing but the brain and the line put in."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator

from benchmarks.peers.line import Line
from benchmarks.peers.system import Brain, Models
from voiceagent import config
from voiceagent.app import App, Choices
from voiceagent.audio.frame import FRAME_SAMPLES, AudioFrame
from voiceagent.llm.model import Chunk, Done, Prompt, TextDelta
from voiceagent.room.events import Participant
from voiceagent.room.feed import Subscription
from voiceagent.values import JSON


def _silence(ms: int) -> dict[str, JSON]:
    """Every turn ends after this silence, whatever its sound and words are."""
    waits: dict[str, JSON] = dict.fromkeys(("hearing.min_wait_ms", "hearing.end_silence_ms", "hearing.max_wait_ms"), ms)
    return {"hearing.smart_turn": False, **waits}


SETTINGS: dict[str, dict[str, JSON]] = {"default": {}, "vad-500": _silence(500), "vad-800": _silence(800)}


class InMemoryCall:
    """The driver's line as a Call: the speaker's own account is the line's."""

    def __init__(self, line: Line, name: str) -> None:
        self.session_id = name
        self.has_screen = True
        self._line = line

    async def frames(self) -> AsyncIterator[AudioFrame]:
        """The person's sound."""
        number = itertools.count()
        async for samples in self._line.frames():
            yield AudioFrame(samples, next(number) * FRAME_SAMPLES)

    def play(self, frame: AudioFrame) -> int:
        """Sounds behind what was played before; nothing is ever dropped for it."""
        self._line.speaker.play(frame.samples, self._line.now())
        return 0

    def clear(self) -> int:
        """Drops what has not sounded."""
        return self._line.speaker.clear(self._line.now())

    @property
    def queued(self) -> int:
        """Samples that have not sounded."""
        return self._line.speaker.queued(self._line.now())

    @property
    def behind(self) -> int:
        """The recording hears what leaves at once."""
        return 0

    async def hang_up(self) -> None:
        """The line closes."""
        self._line.hang_up()


class BrainModel:
    """The driver's brain as a language model."""

    name = "instant"

    def __init__(self, brain: Brain) -> None:
        self._brain = brain

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """The whole answer at once."""
        said = next((message.content for message in reversed(prompt.messages) if message.role == "user"), "")
        yield TextDelta(self._brain.answer(said))
        yield Done()


class FeedTalk:
    """What the room's feed says was heard."""

    def __init__(self) -> None:
        self._heard: list[str] = []

    def said(self) -> list[str]:
        """Each answer, finished or cut."""
        return list(self._heard)

    async def follow(self, reader: Subscription) -> None:
        """Reads the feed to its end."""
        async for event in reader.events():
            if event.type in ("speech.finished", "speech.cut"):
                heard = event.data.get("heard_text")
                self._heard.append(str(event.data.get("text", "") if heard is None else heard))


class Ours:
    """The running program."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._numbers = itertools.count()

    @contextlib.asynccontextmanager
    async def call(self, line: Line) -> AsyncIterator[FeedTalk]:
        """A call in a room of its own."""
        room = f"room-{next(self._numbers)}"
        await self._app.open_room(room)
        talk, reader = FeedTalk(), self._app.engine.feed(room).subscribe(0)
        async with asyncio.TaskGroup() as tasks:
            receiving = self._app.reception.receive(
                InMemoryCall(line, room), room_id=room, participant=Participant("caller", "Kim")
            )
            tasks.create_task(receiving)
            tasks.create_task(talk.follow(reader))
            try:
                yield talk
            finally:
                line.hang_up()
                reader.close()


@contextlib.asynccontextmanager
async def loaded(models: Models, brain: Brain, setting: str) -> AsyncIterator[Ours]:
    """The program with its default settings, or as `setting` says; its default models are the ones that everybody has."""
    options: dict[str, JSON] = {"judgment.policy": "always", **SETTINGS[setting]}
    choices = Choices(memory=True, greet=False, provider=BrainModel(brain))
    async with App(config.load(None, {}, options), choices) as app:
        yield Ours(app)
