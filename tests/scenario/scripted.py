"""Engines, agents and callers that do exactly what a test says, on the virtual clock."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, SILENCE, AudioFrame, Samples, to_ms, to_samples
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import (
    ChannelType,
    Direction,
    EventSource,
    EventStatus,
    EventType,
    Participant,
    RoomEvent,
    TextContent,
)
from voiceagent.room.feed import FeedEvent, Subscription
from voiceagent.room.questions.claim import AnswerJudge
from voiceagent.room.reply import Reply
from voiceagent.speech.engines import SpeechToText, TextToSpeech, Transcript, VoiceDetector
from voiceagent.speech.settings import HearingSettings
from voiceagent.trace.witness import NOBODY, Witness
from voiceagent.transport.call import Call
from voiceagent.voice.detector import InterruptionDetector
from voiceagent.voice.reception import Hearing, Reception, Voices
from voiceagent.voice.settings import VoiceSettings

AGENT_LEVEL = 5_000
LOUD = 500
ROOM = "room"
LEFT_OUT = ("participant.", "room.event", "level", "consumption.")


def frame_of(level: int) -> Samples:
    """20 ms of one value."""
    return np.full(FRAME_SAMPLES, level, dtype=np.int16) if level else SILENCE


class ScriptedCall:
    """A line whose person speaks by a script of (ms, level) spans, level 0 being silence, then is silent until `until_ms`.

    A level of speech is also its name: ScriptedStt knows the words by it. What is handed over leaves 20 ms at a time, with the
    person's own frames, `delay_frames` of them always waiting, `holds_frames` at most; `heard` is what left, as (clock ms,
    level).
    """

    def __init__(self, session_id: str, spans: Sequence[tuple[int, int]], *, until_ms: int | None = None) -> None:
        self.session_id = session_id
        self.heard: list[tuple[int, int]] = []
        self.hung_up = False
        self.has_screen = True
        self.fail_at_ms: int | None = None
        self.delay_frames = 0
        self.behind_ms = 0
        self.holds_frames: int | None = None
        self._levels = [level for ms, level in spans for _ in range(ms // FRAME_MS)]
        self._until = until_ms
        self._line: deque[AudioFrame] = deque()
        self._gone = asyncio.Event()

    async def frames(self) -> AsyncIterator[AudioFrame]:
        start = clock.now()
        count = 0
        while self._until is None or count * FRAME_MS < self._until:
            await clock.sleep_until(start + (count + 1) * FRAME_MS)
            if len(self._line) > (0 if self.hung_up else self.delay_frames):
                self.heard.append((clock.now(), int(self._line.popleft().samples[0])))
            elif self.hung_up:
                break
            if self.fail_at_ms is not None and count * FRAME_MS >= self.fail_at_ms:
                raise ConnectionError("the line broke")
            yield AudioFrame(frame_of(self._levels[count] if count < len(self._levels) else 0), count * FRAME_SAMPLES)
            count += 1
        self._gone.set()

    def play(self, frame: AudioFrame) -> int:
        if self._gone.is_set():
            return 0
        self._line.append(frame)
        if self.holds_frames is None or len(self._line) <= self.holds_frames:
            return 0
        self._line.popleft()
        return FRAME_SAMPLES

    def clear(self) -> int:
        dropped = self.queued
        self._line.clear()
        return dropped

    @property
    def queued(self) -> int:
        return len(self._line) * FRAME_SAMPLES

    @property
    def behind(self) -> int:
        return to_samples(self.behind_ms)

    async def hang_up(self) -> None:
        self.hung_up = True

    @property
    def levels(self) -> list[int]:
        """The levels heard, repetitions left out."""
        return [level for at, (_, level) in enumerate(self.heard) if at == 0 or self.heard[at - 1][1] != level]

    @property
    def sound_ms(self) -> int:
        """How long anything was heard, at any loudness: the agent, where nobody else is there."""
        return FRAME_MS * sum(level != 0 for _, level in self.heard)

    def heard_ms(self, level: int) -> int:
        """How long something of this level was heard."""
        return FRAME_MS * sum(heard == level for _, heard in self.heard)


class ScriptedStt:
    """Knows what was said by the level it was said at; an exception as the words is raised, `hang` never ends."""

    def __init__(self, words: Mapping[int, str | Exception], *, delay_ms: int = 0) -> None:
        self.words = words
        self.delay_ms = delay_ms
        self.hang: int | None = None
        self.finals = 0
        self.partials = 0
        self.running = 0
        self.most_running = 0
        self.most_partials = 0
        self._partials_running = 0

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        level = int(np.abs(sound).max()) if sound.size else 0
        self.partials += partial
        self.finals += not partial
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self._partials_running += partial
        self.most_partials = max(self.most_partials, self._partials_running)
        try:
            await clock.sleep_until(clock.now() + self.delay_ms)
            if level == self.hang:
                await asyncio.Event().wait()
        finally:
            self.running -= 1
            self._partials_running -= partial
        said = self.words.get(level, "")
        if isinstance(said, Exception):
            raise said
        if partial:
            loud_ms = to_ms(int((np.abs(sound) >= LOUD).sum()))
            said = " ".join(said.split()[: max(1, loud_ms // 250)])
        return Transcript(said)


class ScriptedDetector:
    """A voice is what is loud; one who only makes noise stays below LOUD."""

    def probability(self, frame: Samples) -> float:
        return 1.0 if int(np.abs(frame).max()) >= LOUD else 0.0

    def reset(self) -> None:
        pass


class ToneTts:
    """One level for all words, `ms_a_letter` long, in pieces of 50 ms and a bit; a text holding `fails` raises at once."""

    def __init__(self, *, ms_a_letter: int = 50, first_ms: int = 0, piece_ms: int = 0) -> None:
        self.ms_a_letter = ms_a_letter
        self.first_ms = first_ms
        self.piece_ms = piece_ms
        self.fails: str | None = None
        self.hangs: str | None = None
        self.spoken: list[str] = []
        self.made = 0
        self.most_ahead = 0

    async def speak(self, text: str) -> AsyncIterator[Samples]:
        self.spoken.append(text)
        if self.fails is not None and self.fails in text:
            raise RuntimeError("no voice today")
        await clock.sleep_until(clock.now() + self.first_ms)
        if self.hangs is not None and self.hangs in text:
            await asyncio.Event().wait()
        left = to_samples(len(text) * self.ms_a_letter)
        while left > 0:
            size = min(left, 817)
            left -= size
            self.made += size
            yield np.full(size, AGENT_LEVEL, dtype=np.int16)
            await clock.sleep_until(clock.now() + self.piece_ms)


@dataclass(frozen=True)
class Answer:
    """What the agent says to its next message: after `after_ms`, word by word every `word_ms`."""

    text: str
    after_ms: int = 100
    word_ms: int = 0


class ScriptedAgent(Channel):
    """Answers messages of people with the given answers in order, each through a Reply; stores what it said as an agent does."""

    def __init__(self, answers: Sequence[Answer | str]) -> None:
        super().__init__("assistant", ChannelType.AI)
        self.answers = deque(Answer(answer) if isinstance(answer, str) else answer for answer in answers)
        self.read: list[tuple[int, str]] = []
        self.replies: list[Reply] = []

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        if event.type is EventType.MESSAGE and event.source.participant_id is not None and isinstance(event.content, TextContent):
            self.read.append((clock.now(), event.content.body))
            if self.answers:
                self.host.spawn(self._answer(event, self.answers.popleft()), "scripted answer")
                return ChannelOutput(later=True)
        return None

    async def _answer(self, event: RoomEvent, answer: Answer) -> None:
        reply = Reply(self.host.new_id(), event.room_id, channel_id=self.channel_id, responds_to=event.id)
        self.replies.append(reply)
        self.host.sound(reply)
        await clock.sleep_until(clock.now() + answer.after_ms)
        for word in answer.text.split(" ") if answer.word_ms else [answer.text]:
            if reply.cancelled is not None:
                break
            reply.write(word + " " if answer.word_ms else word)
            await clock.sleep_until(clock.now() + answer.word_ms)
        reply.end()
        said = RoomEvent(
            id="",
            room_id=event.room_id,
            source=EventSource(self.channel_id, ChannelType.AI, Direction.OUTBOUND),
            content=TextContent(reply.text),
            created_at=clock.utc(),
            addressed_to=(),
            responds_to=event.id,
            correlation_id=reply.id,
        )
        await self.host.answer(replace(said, metadata={"cancelled": True} if reply.cancelled else {}), event)
        self.host.settle(event.room_id, event.id, self.channel_id, "superseded" if reply.cancelled else "answered")


@dataclass
class House:
    """A running engine with one room, its agent and its reception."""

    engine: RoomEngine
    reception: Reception
    agent: ScriptedAgent
    feed: Subscription
    events: list[FeedEvent] = field(default_factory=list)

    async def receive(self, call: Call, name: str = "ann", *, shared: bool = False) -> None:
        """Runs a call to its end."""
        await self.reception.receive(call, room_id=ROOM, participant=Participant(name, name.title()), shared=shared)

    async def read(self) -> list[FeedEvent]:
        """Closes the feed and returns all of it."""
        self.feed.close()
        async for event in self.feed.events():
            self.events.append(event)
        return self.events

    async def log(self, *, droppable: bool = False, leave_out: Sequence[str] = LEFT_OUT) -> list[str]:
        """The feed as lines `at_ms type what`, for exact comparison."""
        return [
            f"{event.at_ms} {event.type} {_what(event)}".strip()
            for event in await self.read()
            if (droppable or event.seq is not None) and not event.type.startswith(tuple(leave_out))
        ]

    async def records(self) -> list[RoomEvent]:
        """The cut records of the room, in order."""
        events = await self.engine.store.list_events(ROOM, limit=1_000)
        return [event for event in events if event.metadata.get("interrupted")]

    async def messages(self) -> list[tuple[str, str]]:
        """(who, words) of everything said and not blocked, records left out."""
        events = await self.engine.store.list_events(ROOM, limit=1_000)
        return [
            (event.source.participant_id or event.source.channel_id, event.content.body)
            for event in events
            if event.type is EventType.MESSAGE
            and event.status is not EventStatus.BLOCKED
            and not event.metadata.get("interrupted")
        ]


def _what(event: FeedEvent) -> str:
    data = event.data
    if event.type == "speech.cut":
        return f"{data['played_ms']} {data['reason']}"
    if event.type == "speech.started":
        return ""
    if event.type in ("speech.ducked", "speech.paused", "speech.resumed"):
        return f"{data['position_ms']} {data.get('why', '')}"
    for key in ("state", "disposition", "total_ms"):
        if key in data:
            return str(data[key])
    if event.type == "speech.dropped":
        return str(data["reason"])
    return str(data.get("text", ""))


QUIET = VoiceSettings(greeting="")
"""The default settings, without a greeting that every scenario would have to wait for."""


@asynccontextmanager
async def house(
    settings: VoiceSettings | None = None,
    *,
    answers: Sequence[Answer | str] = (),
    stt: SpeechToText | None = None,
    tts: TextToSpeech | None = None,
    detector: Callable[[], VoiceDetector] = ScriptedDetector,
    agent: Channel | None = None,
    witness: Witness = NOBODY,
    judge: InterruptionDetector | None = None,
    hearing: HearingSettings | None = None,
    claims: AnswerJudge | None = None,
    voices: Voices | None = None,
) -> AsyncIterator[House]:
    """An engine whose ids count up, with the agent seated in ROOM: a scripted one, unless another is given."""
    count = iter(range(1, 1_000_000))
    async with RoomEngine(ids=lambda: f"id{next(count)}", witness=witness, judge=claims) as engine:
        scripted = ScriptedAgent(answers)
        seated = agent or scripted
        engine.register_channel(seated)
        await engine.create_room(ROOM)
        await engine.attach_channel(ROOM, seated.channel_id)
        known = stt or ScriptedStt({1_000: "hello there", 2_000: "and the weather"})
        ears = Hearing(known, detector, hearing)
        reception = Reception(engine, ears, tts or ToneTts(), settings or QUIET, detector=judge, voices=voices)
        yield House(engine, reception, scripted, engine.feed(ROOM).subscribe())
