"""Several people in one room: who hears whom, who comes and goes, and that nothing is left behind."""

import asyncio
import logging

import pytest

from tests.scenario.scripted import AGENT_LEVEL, ROOM, Answer, ScriptedCall, ScriptedStt, house
from voiceagent import clock
from voiceagent.room.hooks import ErrorEvent, HookTrigger
from voiceagent.voice.reception import CallMark
from voiceagent.voice.settings import BargeInSettings, InterruptionStrategy, VoiceSettings

ANN, BEN, CY = 1_000, 2_000, 4_000
NEVER = VoiceSettings(greeting="", barge_in=BargeInSettings(strategy=InterruptionStrategy.DISABLED))
LONG = "This is a long answer of which not all will be heard."


async def test_three_who_talk_at_once_hear_everybody_but_themselves() -> None:
    ann = ScriptedCall("a", [(400, 0), (800, ANN)], until_ms=4_000)
    ben = ScriptedCall("b", [(400, 0), (800, BEN)], until_ms=4_000)
    cy = ScriptedCall("c", [(400, 0), (800, CY)], until_ms=4_000)
    stt = ScriptedStt({ANN: "ann here", BEN: "ben here", CY: "cy here"})
    async with house(stt=stt) as here:
        async with asyncio.TaskGroup() as calls:
            for call, name in ((ann, "ann"), (ben, "ben"), (cy, "cy")):
                calls.create_task(here.receive(call, name))
        assert sorted(await here.messages()) == [("ann", "ann here"), ("ben", "ben here"), ("cy", "cy here")]
    for call, others in ((ann, BEN + CY), (ben, ANN + CY), (cy, ANN + BEN)):
        assert call.heard_ms(others) == 800
        assert {level for _, level in call.heard} <= {others, 0}


async def test_those_who_listen_hear_all_and_the_agent_on_top() -> None:
    ann = ScriptedCall("a", [(200, 0), (800, ANN), (1_000, 0), (800, ANN)], until_ms=6_000)
    ben = ScriptedCall("b", [(2_200, 0), (600, BEN)], until_ms=6_000)
    cy = ScriptedCall("c", [], until_ms=6_000)
    stt = ScriptedStt({ANN: "ann here", BEN: "ben here"})
    async with house(NEVER, stt=stt, answers=[LONG]) as here, asyncio.TaskGroup() as calls:
        for call, name in ((ann, "ann"), (ben, "ben"), (cy, "cy")):
            calls.create_task(here.receive(call, name))
    assert cy.heard_ms(AGENT_LEVEL + ANN + BEN) == 600
    assert ann.heard_ms(AGENT_LEVEL + BEN) == 600
    assert ben.heard_ms(AGENT_LEVEL + ANN) == 800
    assert ann.heard_ms(ANN) == ben.heard_ms(BEN) == 0
    assert not any(level in (AGENT_LEVEL + ANN, ANN) for _, level in ann.heard)


async def test_a_first_sound_is_heard_by_the_others_too() -> None:
    ann = ScriptedCall("a", [(400, 0), (400, ANN)], until_ms=3_000)
    ben = ScriptedCall("b", [], until_ms=3_000)
    async with house() as here, asyncio.TaskGroup() as calls:
        calls.create_task(here.receive(ann, "ann"))
        calls.create_task(here.receive(ben, "ben"))
    assert ben.heard_ms(ANN) == 400
    assert ben.heard[0][0] <= 400 + 160


async def test_one_who_leaves_in_the_middle_of_a_sentence_costs_nobody_else() -> None:
    ann = ScriptedCall("a", [(200, 0), (800, ANN)], until_ms=8_000)
    ben = ScriptedCall("b", [(1_800, 0), (5_000, BEN)], until_ms=2_040)
    async with house(stt=ScriptedStt({ANN: "ann here", BEN: "but"}), answers=[LONG, "Bye."]) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(ann, "ann"))
            calls.create_task(here.receive(ben, "ben"))
        assert await here.messages() == [("ann", "ann here"), ("assistant", LONG), ("ben", "but"), ("assistant", "Bye.")]
        lines = [line for line in await here.log() if "speech.finished" in line]
        assert [line.split(" ", 2)[2] for line in lines] == [LONG, "Bye."]
        assert {p.id: p.active for p in here.engine.context(ROOM).participants} == {"ann": False, "ben": False}


async def test_the_one_who_cuts_is_named_in_the_record() -> None:
    ann = ScriptedCall("a", [(200, 0), (800, ANN)], until_ms=4_000)
    ben = ScriptedCall("b", [(2_000, 0), (600, BEN)], until_ms=4_000)
    ann.delay_frames = 4
    async with house(stt=ScriptedStt({ANN: "ann here", BEN: "no"}), answers=[LONG]) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(ann, "ann"))
            calls.create_task(here.receive(ben, "ben"))
        (record,) = await here.records()
        heard_ms = ben.sound_ms - ben.heard_ms(ANN)
        assert (record.metadata["voice_session_id"], record.metadata["played_ms"]) == ("b", heard_ms)
    assert 500 < heard_ms == ann.sound_ms - ann.heard_ms(BEN) + 80


async def test_an_answer_to_one_is_not_made_obsolete_by_another() -> None:
    ann = ScriptedCall("a", [(200, 0), (800, ANN)], until_ms=9_000)
    ben = ScriptedCall("b", [(1_100, 0), (800, BEN)], until_ms=9_000)
    async with house(stt=ScriptedStt({ANN: "ann here", BEN: "ben too"}), answers=["For Ann.", "For Ben."]) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(ann, "ann"))
            calls.create_task(here.receive(ben, "ben"))
        lines = [line for line in await here.log() if "speech.finished" in line or "speech.dropped" in line]
        assert [line.split(" ", 1)[1] for line in lines] == ["speech.finished For Ann.", "speech.finished For Ben."]


async def test_twenty_joins_and_leaves_leave_no_task_and_no_binding() -> None:
    async with house(VoiceSettings(greeting="Hi."), answers=["Yes."] * 20) as here:
        before = asyncio.all_tasks()
        for n in range(20):
            call = ScriptedCall(f"s{n}", [(200, 0), (800, ANN)], until_ms=2_000)
            await here.receive(call)
            assert call.hung_up
        await asyncio.sleep(1)
        assert asyncio.all_tasks() == before
        assert [binding.channel_id for binding in here.engine.context(ROOM).bindings] == ["assistant"]
        joined = [event.type for event in await here.read() if event.type.startswith("participant.")]
        assert joined == ["participant.joined", "participant.left"] * 20


async def test_who_comes_again_on_another_line_takes_the_place_of_the_first() -> None:
    first = ScriptedCall("s1", [])
    second = ScriptedCall("s2", [(200, 0), (800, ANN)], until_ms=3_000)
    async with house(answers=["Yes."]) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(first))
            await asyncio.sleep(1)
            calls.create_task(here.receive(second))
        told = [event.type for event in await here.read() if event.type.startswith("participant.")]
        assert told == ["participant.joined", "participant.left"]
        assert await here.messages() == [("ann", "hello there"), ("assistant", "Yes.")]
    assert first.hung_up


async def test_a_line_that_breaks_is_logged_with_its_id_and_costs_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    ann = ScriptedCall("good", [(200, 0), (800, ANN)], until_ms=4_000)
    ben = ScriptedCall("bad", [])
    ben.fail_at_ms = 1_000
    async with house(answers=["Yes."]) as here:
        errors: list[str] = []
        marks: list[CallMark] = []

        @here.engine.hook(HookTrigger.ON_ERROR)
        async def on_error(error: ErrorEvent) -> None:
            errors.append(error.stage)

        @here.engine.hook(HookTrigger.ON_CALL_ENDED)
        async def ended(mark: CallMark) -> None:
            marks.append(mark)

        with caplog.at_level(logging.ERROR):
            async with asyncio.TaskGroup() as calls:
                calls.create_task(here.receive(ann, "ann"))
                calls.create_task(here.receive(ben, "ben"))
        assert await here.messages() == [("ann", "hello there"), ("assistant", "Yes.")]
        assert errors == ["call"]
        assert [mark.session_id for mark in marks] == ["bad", "good"]
    assert "call bad" in caplog.text
    assert ben.hung_up


class DeafLine(ScriptedCall):
    """A line that can be listened to but takes no sound."""

    def play(self, frame: object) -> int:
        raise ConnectionError("gone")


async def test_a_line_that_takes_no_sound_holds_up_nobody() -> None:
    ann = ScriptedCall("a", [(200, 0), (800, ANN)], until_ms=4_000)
    ben = DeafLine("b", [], until_ms=4_000)
    async with house(answers=["Yes."]) as here:
        async with asyncio.TaskGroup() as calls:
            calls.create_task(here.receive(ann, "ann"))
            calls.create_task(here.receive(ben, "ben"))
        assert any("speech.finished Yes." in line for line in await here.log())
    assert ann.heard_ms(AGENT_LEVEL) == 200


@pytest.mark.parametrize(
    ("setting", "ends"), [("drop", "2000 speech.cut 400 hang_up"), ("finish", f"4240 speech.finished {LONG}")]
)
async def test_hanging_up_drops_or_finishes_what_is_being_said(setting: str, ends: str) -> None:
    call = ScriptedCall("s1", [(200, 0), (800, ANN)], until_ms=2_000)
    async with house(VoiceSettings.model_validate({"greeting": "", "goodbye_on_hang_up": setting}), answers=[LONG]) as here:
        await here.receive(call)
        assert [line for line in await here.log() if "speech." in line][-1] == ends
        assert len(await here.records()) == (1 if setting == "drop" else 0)


async def test_an_agent_that_still_thinks_keeps_no_call_open() -> None:
    async with house(answers=[Answer("Late.", after_ms=20_000), "Yes."]) as here:
        began = clock.now()
        await here.receive(ScriptedCall("s1", [(200, 0), (800, ANN)], until_ms=2_000))
        assert clock.now() - began == 2_000
        await here.receive(ScriptedCall("s2", [(200, 0), (800, ANN)], until_ms=3_000))
        lines = [line.split(" ", 1)[1] for line in await here.log() if "speech.finished" in line or "speech.dropped" in line]
        assert lines == ["speech.dropped hang_up", "speech.finished Yes."]
        assert here.agent.replies[0].cancelled is None


async def test_a_call_ended_from_this_side_first_says_goodbye() -> None:
    call = ScriptedCall("s1", [(200, 0), (800, ANN)])
    async with house(VoiceSettings(greeting="", goodbye_on_hang_up="finish"), answers=["Goodbye to you."]) as here:
        running = asyncio.create_task(here.receive(call))
        await asyncio.sleep(1.7)
        await here.reception.hang_up("s1")
        await running
    assert call.heard_ms(AGENT_LEVEL) == 760


async def test_a_call_that_is_cancelled_leaves_its_room() -> None:
    async with house() as here:
        running = asyncio.create_task(here.receive(ScriptedCall("s1", [])))
        await asyncio.sleep(1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert [binding.channel_id for binding in here.engine.context(ROOM).bindings] == ["assistant"]
        assert not here.engine.context(ROOM).participants[0].active


async def test_an_engine_that_closes_first_ends_cleanly() -> None:
    async with house(answers=[LONG]) as here:
        running = asyncio.create_task(here.receive(ScriptedCall("s1", [(200, 0), (800, ANN)], until_ms=5_000)))
        await asyncio.sleep(2)
    await running


async def test_the_same_scenario_gives_the_same_log_every_time() -> None:
    logs = []
    for _ in range(2):
        ann = ScriptedCall("a", [(200, 0), (800, ANN), (1_000, 0), (800, ANN)], until_ms=5_000)
        ben = ScriptedCall("b", [(700, 0), (800, BEN)], until_ms=5_000)
        async with house(stt=ScriptedStt({ANN: "ann here", BEN: "ben too"}), answers=[LONG] * 3) as here:
            async with asyncio.TaskGroup() as calls:
                calls.create_task(here.receive(ann, "ann"))
                calls.create_task(here.receive(ben, "ben"))
            logs.append(await here.log(droppable=True, leave_out=()))
    assert logs[0] == logs[1]


async def test_what_was_said_on_a_line_that_breaks_is_the_rooms() -> None:
    """The second utterance is under way then: it ends as if the person had hung up."""
    ann = ScriptedCall("a", [(200, 0), (800, ANN), (1_000, 0), (2_000, BEN)])
    ann.fail_at_ms = 3_000
    async with house(answers=["Yes.", "No."], stt=ScriptedStt({ANN: "ann here", BEN: "and then"}, delay_ms=300)) as here:
        await here.receive(ann, "ann")
        log = [line.split(" ", 1)[1] for line in await here.log() if "input." in line]
        assert log[:2] == ["input.started", "input.accepted ann here"]
        assert log[-2:] == ["input.started", "input.accepted and then"]
