"""What goes wrong around a call costs what it must and no more: stores, detectors, lines, hang-ups, endless noise."""

import asyncio
import contextlib
import logging

import pytest

from tests.scenario.scripted import AGENT_LEVEL, ROOM, Answer, ScriptedCall, ScriptedDetector, ScriptedStt, house
from voiceagent import clock
from voiceagent.audio.frame import Samples
from voiceagent.errors import StoreError
from voiceagent.room.channel import RoomContext
from voiceagent.room.events import RoomEvent, TextContent
from voiceagent.room.hooks import ErrorEvent, HookResult, HookTrigger
from voiceagent.speech.settings import HearingSettings
from voiceagent.voice.floor import HOLD_MS
from voiceagent.voice.reception import HANG_UP_MS
from voiceagent.voice.settings import VoiceSettings

ANN, BEN = 1_000, 2_000
TURN = [(200, 0), (800, ANN)]
LONG = "This is a long answer of which not all will be heard."


async def test_a_detector_that_fails_is_deaf_for_that_frame(caplog: pytest.LogCaptureFixture) -> None:
    class Flaky(ScriptedDetector):
        frames = 0

        def probability(self, frame: Samples) -> float:
            self.frames += 1
            if 3 <= self.frames < 6:
                raise RuntimeError("no memory")
            return super().probability(frame)

    async with house(detector=Flaky) as here:
        with caplog.at_level(logging.ERROR):
            await here.receive(ScriptedCall("s1", TURN, until_ms=2_000))
        assert await here.messages() == [("ann", "hello there")]
    assert caplog.text.count("a voice detector failed") == 1


async def test_an_utterance_that_cannot_be_stored_is_reported_and_the_call_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    call = ScriptedCall("s1", [*TURN, (1_000, 0), (800, BEN)], until_ms=5_000)
    async with house() as here:
        whole = here.engine.process_inbound

        async def full_disk(message: object, *, room_id: str) -> object:
            monkeypatch.setattr(here.engine, "process_inbound", whole)
            raise StoreError("the disk is full")

        monkeypatch.setattr(here.engine, "process_inbound", full_disk)
        stages: list[str] = []

        @here.engine.hook(HookTrigger.ON_ERROR)
        async def on_error(error: ErrorEvent) -> None:
            stages.append(error.stage)

        await here.receive(call)
        assert await here.messages() == [("ann", "and the weather")]
        assert "1500 input.settled failed" in await here.log()
        assert stages == ["input"]


async def test_an_utterance_that_the_room_refuses_is_settled_as_blocked() -> None:
    async with house() as here:

        @here.engine.hook(HookTrigger.BEFORE_BROADCAST)
        async def refuse(event: RoomEvent, context: RoomContext) -> HookResult[RoomEvent]:
            return HookResult.block("no") if isinstance(event.content, TextContent) else HookResult.allow()

        await here.receive(ScriptedCall("s1", TURN, until_ms=2_000))
        assert "1500 input.settled rejected" in await here.log()


class NoClear(ScriptedCall):
    """A line that cannot drop what it was handed."""

    def clear(self) -> int:
        raise ConnectionError("gone")


class NoCount(ScriptedCall):
    """A line that does not know what waits."""

    @property
    def queued(self) -> int:
        raise ConnectionError("gone")


class NoHangUp(ScriptedCall):
    """A line that cannot be closed."""

    async def hang_up(self) -> None:
        await asyncio.Event().wait()


@pytest.mark.parametrize("kind", [NoClear, NoCount, NoHangUp])
async def test_a_line_that_fails_half_way_costs_nobody_else(kind: type[ScriptedCall]) -> None:
    ann = ScriptedCall("a", [*TURN, (1_000, 0), (800, BEN)], until_ms=5_000)
    async with house(answers=[LONG, "Yes."]) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(ann, "ann"))
            calls.create_task(here.receive(kind("b", [], until_ms=5_000), "ben"))
        assert [line.split()[1] for line in await here.log() if "speech." in line and "queued" not in line] == [
            "speech.started",
            "speech.ducked",
            "speech.paused",
            "speech.cut",
            "speech.started",
            "speech.finished",
        ]
        assert {person.active for person in here.engine.context(ROOM).participants} == {False}


async def test_noise_without_end_holds_a_ready_answer_no_longer_than_its_bound() -> None:
    ann = ScriptedCall("a", TURN, until_ms=16_000)
    ben = ScriptedCall("b", [(600, 0), (14_000, BEN)], until_ms=16_000)
    settings = VoiceSettings.model_validate({"greeting": "", "barge_in": {"strategy": "disabled"}})
    async with house(settings, answers=["Yes."], stt=ScriptedStt({ANN: "ann here"})) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(ann, "ann"))
            calls.create_task(here.receive(ben, "ben"))
        started = next(line for line in await here.log() if "speech.started" in line)
    assert 0 <= int(started.split()[0]) - (1_600 + HOLD_MS) <= 40
    assert ann.heard_ms(AGENT_LEVEL + BEN) == 200


async def test_a_goodbye_that_takes_too_long_is_dropped() -> None:
    settings = VoiceSettings(greeting="", goodbye_on_hang_up="finish", goodbye_max_ms=500)
    async with house(settings, answers=[LONG]) as here:
        await here.receive(ScriptedCall("s1", TURN, until_ms=2_000))
        assert [line.split()[:2] for line in await here.log() if "speech." in line][-1] == ["2500", "speech.cut"]


async def test_a_reply_cancelled_while_it_waits_or_thinks_is_dropped() -> None:
    async with house(answers=[Answer("Late.", after_ms=10_000)]) as here:
        running = asyncio.create_task(here.receive(ScriptedCall("s1", TURN, until_ms=4_000)))
        await asyncio.sleep(2)
        here.agent.replies[0].cancel("asked to")
        await running
        assert [line for line in await here.log() if "speech." in line] == [
            "1500 speech.queued",
            "2000 speech.dropped asked to",
        ]


async def test_an_answer_that_is_held_when_the_channel_is_unbound_is_dropped() -> None:
    call = ScriptedCall("s1", [*TURN, (500, 0), (800, BEN)], until_ms=3_000)
    async with house(answers=[Answer(LONG, after_ms=200)]) as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(2)
        await here.engine.detach_channel(ROOM, "voice")
        await running
        assert [line for line in await here.log() if "speech." in line][-1] == "2000 speech.dropped unbound"
        assert here.agent.replies[0].cancelled is None
    assert call.heard == []


async def test_a_room_full_of_replies_takes_no_more() -> None:
    async with house() as here:
        running = asyncio.create_task(here.receive(ScriptedCall("s1", [], until_ms=2_000)))
        await asyncio.sleep(1)
        for n in range(70):
            await here.engine.say(ROOM, f"Announcement {n}.", urgent=False)
        await running
        assert sum("queue_full" in line for line in await here.log()) > 0


async def test_a_recognizer_that_hangs_under_endless_chatter_costs_what_it_cannot_take() -> None:
    stt = ScriptedStt({})
    stt.hang = ANN
    soon = HearingSettings(max_wait_ms=500)
    async with house(VoiceSettings(greeting="", recognizer_timeout_ms=60_000), stt=stt, hearing=soon) as here:
        await here.receive(ScriptedCall("s1", [(200, ANN), (600, 0)] * 40, until_ms=33_000))
        assert sum(event.data.get("reason") == "dropped" for event in await here.read()) > 0


async def test_a_room_closed_under_a_call_ends_it_and_the_next_call_is_heard() -> None:
    ann = ScriptedCall("s1", [])
    bob = ScriptedCall("s2", [(1_000, 0), (800, 1_000)], until_ms=6_000)
    async with house(answers=["Good."]) as h:
        receiving = asyncio.create_task(h.receive(ann))
        await clock.sleep_until(clock.now() + 1_000)
        await h.engine.close_room(ROOM)
        await receiving
        assert ann.hung_up
        await h.engine.create_room(ROOM)
        await h.engine.attach_channel(ROOM, "assistant")
        await h.receive(bob, "bob")
        assert ("bob", "hello there") in await h.messages()
        assert bob.heard_ms(AGENT_LEVEL) > 0


async def test_a_line_that_cannot_be_hung_up_is_not_waited_for() -> None:
    class Stubborn(ScriptedCall):
        async def hang_up(self) -> None:
            for _ in range(5):
                with contextlib.suppress(asyncio.CancelledError):
                    await clock.sleep_until(clock.now() + 1_000)

    call = Stubborn("s1", [], until_ms=1_000)
    async with house() as h:
        began = clock.now()
        await h.receive(call)
        assert clock.now() - began <= 1_000 + HANG_UP_MS + 100
        await clock.sleep_until(clock.now() + 5_000)


@pytest.mark.parametrize("queued", [None, "many", -5_000, RuntimeError("gone")])
async def test_a_line_that_counts_rubbish_costs_only_itself(queued: object) -> None:
    class Bad(ScriptedCall):
        @property
        def queued(self) -> int:
            if isinstance(queued, Exception):
                raise queued
            return queued  # type: ignore[return-value]

    bad, ann = Bad("s2", [], until_ms=6_000), ScriptedCall("s1", TURN, until_ms=6_000)
    async with house(answers=["Good morning."]) as h:
        await asyncio.gather(h.receive(bad, "ben"), h.receive(ann))
        assert ann.heard_ms(AGENT_LEVEL) == 660
        assert "speech.finished" in " ".join(await h.log())


@pytest.mark.parametrize("rubbish", [None, "x", float("nan"), 7.0])
async def test_a_detector_that_gives_rubbish_hears_nothing(rubbish: object) -> None:
    class Mad(ScriptedDetector):
        def probability(self, frame: Samples) -> float:
            return rubbish  # type: ignore[return-value]

    errors: list[ErrorEvent] = []
    async with house(detector=Mad) as h:

        @h.engine.hook(HookTrigger.ON_ERROR)
        async def note(error: ErrorEvent, room: RoomContext) -> None:
            errors.append(error)

        await h.receive(ScriptedCall("s1", TURN, until_ms=2_000))
    assert errors == []
