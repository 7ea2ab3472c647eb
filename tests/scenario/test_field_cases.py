"""What people who run voice agents complained of elsewhere, and what happens here (tests/STATEMENTS.md, Cases from the field)."""

import asyncio
import gc
import logging
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import ClassVar

import pytest

from tests.scenario.scripted import AGENT_LEVEL, ROOM, Answer, House, ScriptedCall, ScriptedStt, house
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, AudioFrame, Samples
from voiceagent.llm.scripted import Pause, ScriptedModel
from voiceagent.room.events import Participant
from voiceagent.room.hooks import HookTrigger
from voiceagent.speech.engines import Transcript
from voiceagent.speech.rejection import compression
from voiceagent.transport.chat import Chat
from voiceagent.transport.spurt import Spurts
from voiceagent.voice.inputs import Transcription
from voiceagent.voice.settings import VoiceSettings
from voiceagent.web.lines import Lines
from voiceagent.web.names import participant_id
from voiceagent.web.refusal import Refused
from voiceagent.web.rooms import Rooms
from voiceagent.web.settings import WebSettings
from voiceagent.web.standing import Standing

ANN, BEN, CY = 1_000, 2_000, 4_000
NAMES = ("ann", "ben", "cy")
SAID = {ANN: "ann here", BEN: "ben here", CY: "cy here"}
TURN = [(200, 0), (800, ANN)]
LONG = "This is a long answer of which not all will be heard."


# -- 43: several people at once ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap_ms", [200, 600], ids=["all three over each other", "each over the next"])
async def test_three_who_speak_over_each_other_are_three_transcripts_under_their_names(gap_ms: int) -> None:
    told: list[tuple[str, str, str]] = []
    async with house(stt=ScriptedStt(SAID, delay_ms=150)) as here:

        @here.engine.hook(HookTrigger.ON_TRANSCRIPTION)
        async def heard(said: Transcription) -> None:
            told.append((said.session_id, said.participant_id, said.text))

        async with asyncio.TaskGroup() as calls:
            for n, (name, level) in enumerate(zip(NAMES, SAID, strict=True)):
                call = ScriptedCall(f"line-{name}", [(400 + n * gap_ms, 0), (1_200, level)], until_ms=6_000)
                calls.create_task(here.receive(call, name))
        assert sorted(told) == [(f"line-{name}", name, f"{name} here") for name in NAMES]
        assert sorted(await here.messages()) == [(name, f"{name} here") for name in NAMES]
        people = here.engine.context(ROOM).participants
        assert {one.id: one.display_name for one in people} == {name: name.title() for name in NAMES}


# -- 45: a microphone that is opened later ----------------------------------------------------------------------------------


class LateCall(ScriptedCall):
    """A line on which no frame comes at all for `late_ms`, then those of the script, under the places they have on the line."""

    late_ms = 20_000

    async def frames(self) -> AsyncIterator[AudioFrame]:
        await clock.sleep_until(clock.now() + self.late_ms)
        async for frame in super().frames():
            yield AudioFrame(frame.samples, frame.at + self.late_ms * FRAME_SAMPLES // FRAME_MS)


@pytest.mark.parametrize("kind", [LateCall, ScriptedCall], ids=["no frames", "silence"])
async def test_a_call_without_sound_is_heard_once_it_has_some(kind: type[ScriptedCall]) -> None:
    late = kind is LateCall
    spans = TURN if late else [(20_000, 0), *TURN]
    call = kind("s1", spans, until_ms=4_000 if late else 24_000)
    async with house(VoiceSettings(greeting="Hi."), answers=["Yes."]) as here:
        await here.receive(call)
        assert await here.messages() == [("assistant", "Hi."), ("ann", "hello there"), ("assistant", "Yes.")]
        log = await here.log()
        assert "21500 input.accepted hello there" in log
        assert log[-1].endswith("agent.state idle")


# -- 48: calls that come and go ---------------------------------------------------------------------------------------------


def living() -> Counter[str]:
    """How many objects there are of each class of the program's, tasks included; caches of the interpreter are not."""
    gc.collect()
    kinds = (type(one) for one in gc.get_objects())
    return Counter(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds if _counts(kind))


KEPT = (
    "voiceagent.room.consumption.state.",
    "voiceagent.room.events.",
    "voiceagent.room.frozen.",
    "voiceagent.room.line.",
    "voiceagent.room.lines.memory.",
    "voiceagent.room.memory.",
)
"""What the store in memory keeps of a room: its events, its feed's lines, and who heard what."""


def _counts(kind: type[object]) -> bool:
    return str(kind.__module__).startswith(("voiceagent.", "tests.scenario.scripted")) or issubclass(kind, asyncio.Task)


async def test_two_hundred_calls_leave_no_object_and_no_task_behind() -> None:
    async with house(stt=ScriptedStt(SAID)) as here:
        here.feed.close()

        async def visit(n: int) -> None:
            room = f"room-{n}"
            await here.engine.create_room(room)
            await here.engine.attach_channel(room, "assistant")
            here.agent.answers.append(Answer(LONG))
            over = [(900, 0), (600, BEN)] if n % 4 == 0 else []  # every fourth cuts the answer, the others hang up in it
            call = ScriptedCall(f"s{n}", [*TURN, *over], until_ms=2_700 if over else 1_900)
            await here.reception.receive(call, room_id=room, participant=Participant("ann", "Ann"))
            await here.engine.close_room(room)
            here.agent.replies.clear()
            here.agent.read.clear()

        async def settled() -> tuple[set[asyncio.Task[object]], Counter[str]]:
            here.agent.answers.clear()
            await asyncio.sleep(10)
            return asyncio.all_tasks(), living()

        for n in range(5):
            await visit(n)
        tasks, before = await settled()
        for n in range(5, 205):
            await visit(n)
        left, after = await settled()
        assert left == tasks
        assert here.reception.calls == 0
        assert [kind for kind in before | after if before[kind] != after[kind] and not kind.startswith(KEPT)] == []


async def test_ten_minutes_of_silence_grow_nothing() -> None:
    async with house() as here:
        running = asyncio.create_task(here.receive(ScriptedCall("s1", [], until_ms=600_000)))
        await asyncio.sleep(60)
        before = living()
        await asyncio.sleep(530)
        assert living() == before
        await running


# -- 49: closing while calls are live ---------------------------------------------------------------------------------------


class Browser(ScriptedCall):
    """A browser's line without a network: what Lines asks of one, and a person who is silent; it takes `closing_ms` to close."""

    closing_ms = 0
    all: ClassVar[list["Browser"]] = []

    def __init__(self, session_id: str, chat: Chat | None = None, *, spurts: Spurts | None = None) -> None:
        super().__init__(session_id, [])
        Browser.all.append(self)

    async def accept(self, offer: str) -> str:
        return offer

    async def connected(self) -> bool:
        return True

    async def run(self) -> None:
        while not self.hung_up:
            await clock.sleep_until(clock.now() + FRAME_MS)

    async def close(self) -> None:
        if not self.hung_up:
            await clock.sleep_until(clock.now() + self.closing_ms)
            self.hung_up = True


@pytest.fixture
def browsers(monkeypatch: pytest.MonkeyPatch) -> list[Browser]:
    """All lines that are opened, in order."""
    monkeypatch.setattr("voiceagent.web.lines.WebRtcCall", Browser)
    monkeypatch.setattr(Browser, "all", [])
    return Browser.all


def desk(here: House) -> Lines:
    return Lines(here.reception, Rooms(here.engine, 8), WebSettings(), lambda: "Agent")


async def dial(lines: Lines, name: str) -> None:
    await lines.open(ROOM, Participant(name, name.title()), "offer", Standing(host=False))


async def test_closing_with_three_live_calls_ends_them_and_leaves_no_task(browsers: list[Browser]) -> None:
    async with house() as here:
        before = asyncio.all_tasks()
        async with desk(here) as lines:
            for name in NAMES:
                await dial(lines, name)
            await asyncio.sleep(1)
            assert here.reception.calls == 3
        assert here.reception.calls == 0
        assert [browser.hung_up for browser in browsers] == [True] * 3
        assert {one.active for one in here.engine.context(ROOM).participants} == {False}
        await asyncio.sleep(1)
        assert asyncio.all_tasks() == before


async def test_who_dials_while_the_others_are_ended_is_refused(browsers: list[Browser], monkeypatch: pytest.MonkeyPatch) -> None:
    """Were they let in, the end would wait for their call, which nobody ends."""
    monkeypatch.setattr(Browser, "closing_ms", 500)
    async with house() as here:
        lines = desk(here)
        await lines.__aenter__()
        for name in NAMES:
            await dial(lines, name)
        await asyncio.sleep(1)
        ending = asyncio.create_task(lines.__aexit__(None, None, None))
        await asyncio.sleep(0.7)
        assert not ending.done()
        try:
            with pytest.raises(Refused):
                await dial(lines, "dan")
        finally:
            await asyncio.sleep(5)
            late = not ending.done()
            for browser in browsers:
                await browser.close()
            await ending
        assert not late


async def test_a_call_that_comes_when_the_engine_has_closed_is_hung_up(caplog: pytest.LogCaptureFixture) -> None:
    async with house(answers=[LONG]) as here:
        calls = [ScriptedCall(name, TURN, until_ms=5_000) for name in NAMES]
        running = [asyncio.create_task(here.receive(call, call.session_id)) for call in calls]
        await asyncio.sleep(2)
    late = ScriptedCall("late", TURN, until_ms=5_000)
    with caplog.at_level(logging.ERROR):
        began = clock.now()
        await here.receive(late, "dan")
    assert late.hung_up
    assert clock.now() == began
    assert late.heard == []
    await asyncio.gather(*running)
    assert all(call.hung_up for call in calls)
    assert here.reception.calls == 0


# -- 51: whose call it is -------------------------------------------------------------------------------------------------


async def test_who_names_the_id_of_anothers_call_gets_one_of_their_own() -> None:
    ann = ScriptedCall("the-same", [*TURN, (2_000, 0), (800, ANN)], until_ms=6_000)
    eve = ScriptedCall("the-same", [(1_500, 0), (400, BEN)], until_ms=3_500)
    async with house(stt=ScriptedStt(SAID)) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(ann, "ann"))
            await asyncio.sleep(0.5)
            calls.create_task(here.receive(eve, "eve"))
            await asyncio.sleep(1)
            assert here.reception.calls == 2
        assert await here.messages() == [("ann", "ann here"), ("eve", "ben here"), ("ann", "ann here")]
    assert clock.now() >= 6_000


async def test_a_line_is_found_by_its_own_persons_id_alone(browsers: list[Browser]) -> None:
    async with house() as here, desk(here) as lines:
        await dial(lines, "ann")
        session = browsers[0].session_id
        await asyncio.sleep(1)
        with pytest.raises(Refused):
            lines.find(ROOM, session)
        with pytest.raises(Refused):
            lines.find("elsewhere", "ann")
        await dial(lines, session)
        await asyncio.sleep(1)
        assert here.reception.calls == 2
        assert not browsers[0].hung_up


def test_the_id_that_a_room_tells_of_a_person_is_no_key_of_theirs() -> None:
    told = participant_id("k" * 32)
    assert participant_id(told) != told


# -- 52: words that nobody said, and a stop that stops ----------------------------------------------------------------------


class Looping(ScriptedStt):
    """Gives the text with the figures that a recognizer gives for noise, whatever it hears."""

    def __init__(self, text: str, no_speech: float) -> None:
        super().__init__({})
        self.made = Transcript(text, "en", no_speech, compression(text), -0.3)

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        return self.made


@pytest.mark.parametrize(
    ("text", "no_speech"),
    [
        ("I will go to sleep. " * 3, 0.3),
        ("I will go to sleep. " * 12, 0.0),
        ("so what so what now so now what so what", 0.3),
    ],
    ids=["three times", "a dozen times", "few words"],
)
async def test_a_transcript_that_repeats_itself_is_answered_by_nobody(text: str, no_speech: float) -> None:
    async with house(answers=["Good night."], stt=Looping(text, no_speech)) as here:
        call = ScriptedCall("s1", [(200, 0), (9_000, ANN)], until_ms=14_000)
        await here.receive(call)
        assert await here.messages() == []
        assert here.agent.read == []
        settled = [event.data for event in await here.read() if event.type == "input.settled"]
        assert [data["disposition"] for data in settled] == ["rejected"]
    assert call.heard == []


@pytest.mark.parametrize("at_ms", [1_700, 3_000, 6_000])
async def test_a_stop_while_the_agent_thinks_means_no_sound_ever(at_ms: int) -> None:
    turns: Sequence[Sequence[Pause | str]] = [[Pause(5_000), LONG]]
    agent = AIChannel("assistant", provider=ScriptedModel(turns), system_prompt="")
    call = ScriptedCall("s1", TURN, until_ms=20_000)
    async with house(agent=agent) as here:
        running = asyncio.create_task(here.receive(call))
        await clock.sleep_until(at_ms)
        thoughts = here.engine.snapshot(ROOM)["generations"]
        assert isinstance(thoughts, list)
        assert isinstance(thoughts[0], dict)
        assert call.heard == []
        assert here.engine.cancel_generation(ROOM, str(thoughts[0]["generation_id"]))
        await running
        assert not any(event.type == "speech.started" for event in await here.read())
    assert call.heard_ms(AGENT_LEVEL) == 0
