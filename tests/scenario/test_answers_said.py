"""What people say and type while a question waits: taken for its answer, read back, or ordinary speech."""

import asyncio
from dataclasses import replace

import pytest

from tests.scenario.asking import WAITS, Hears, ask, asked, call
from tests.scenario.rooms import ROOM, Whole, message, say, seat, settled
from voiceagent.agent.context import AIGenerationEvent
from voiceagent.judgment.answers.judge import WordsJudge
from voiceagent.room.context import RoomContext
from voiceagent.room.events import Participant, RoomEvent, TextContent
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.room.questions.question import Answer

WHICH = ask("Which Tuesday suits you?", options=["the third", "the tenth"])


async def test_a_sure_answer_wakes_the_agent_once_by_the_instruction() -> None:
    async with asked((WHICH,), "I asked.", "The tenth it is.", judge=Hears(**{"The tenth, please.": (1, 0.95)})) as here:
        await say(here.kit, "move it")
        await settled(3_000)
        said = await say(here.kit, "The tenth, please.")
        await settled(3_000)
        assert len(here.model.prompts) == 3
        assert here.read(2).startswith("question_answered: your question id-4 was answered by participant")
        assert "option 2: the tenth" in here.read(2)
        assert said.content.body in [one.content for one in here.model.prompts[2].messages if one.role == "user"]
        assert (await here.log())[-9:] == [
            "3000 input.accepted id-7 user The tenth, please.",
            "3000 question.ended id-4 answered {'via': 'text', 'options': [1], 'event_id': 'id-7'}",
            "3000 input.settled id-7 answered_question",
            "3000 input.accepted id-8 service",
            "3000 input.queued id-8 new_turn",
            "3000 generation.started id-9 for id-8",
            "3000 input.delivered id-8 new_turn",
            "3000 generation.finished id-9 inputs=['id-8'] questions=[]",
            "3000 input.settled id-8 answered",
        ]


async def test_an_unsure_one_is_read_back_and_a_yes_takes_it() -> None:
    async with asked((WHICH,), "I asked.", "The tenth, you mean?", "The tenth it is.", judge=Hears(maybe=(1, 0.6))) as here:
        await say(here.kit, "move it")
        await settled(3_000)
        await say(here.kit, "maybe")
        await settled(3_000)
        assert here.read(2).startswith("question_proposed: what was just said may answer the question id-4; it is not taken")
        assert "option 2: the tenth\nthey said: maybe" in here.read(2)
        assert [one.question_id for one in here.waiting] == ["id-4"]
        await say(here.kit, "yes")
        await settled(3_000)
        assert "option 2: the tenth" in here.read(3) and here.waiting == []
        assert (await here.log())[-18:] == [
            "3000 input.accepted id-7 user maybe",
            "3000 question.proposed",
            "3000 input.settled id-7 listened",
            "3000 input.accepted id-8 service",
            "3000 input.queued id-8 new_turn",
            "3000 generation.started id-9 for id-8",
            "3000 input.delivered id-8 new_turn",
            "3000 generation.finished id-9 inputs=['id-8'] questions=[]",
            "3000 input.settled id-8 answered",
            "6000 input.accepted id-11 user yes",
            "6000 question.ended id-4 answered {'via': 'text', 'options': [1], 'event_id': 'id-11'}",
            "6000 input.settled id-11 answered_question",
            "6000 input.accepted id-12 service",
            "6000 input.queued id-12 new_turn",
            "6000 generation.started id-13 for id-12",
            "6000 input.delivered id-12 new_turn",
            "6000 generation.finished id-13 inputs=['id-12'] questions=[]",
            "6000 input.settled id-12 answered",
        ]


async def test_a_yes_to_what_was_never_read_back_takes_nothing() -> None:
    async with asked((WHICH,), "I asked.", "So.", judge=Hears(maybe=(1, 0.6))) as here:

        @here.kit.hook(HookTrigger.BEFORE_AI_GENERATION)
        async def refuse(asked: AIGenerationEvent, context: RoomContext) -> HookResult[AIGenerationEvent]:
            read_back = "question_proposed" in asked.trigger.content.body
            return HookResult.block("not now") if read_back else HookResult.allow()

        await say(here.kit, "move it")
        await settled(3_000)
        await say(here.kit, "maybe")
        await settled(3_000)
        await say(here.kit, "yes")
        await settled(3_000)
        assert [one.question_id for one in here.waiting] == ["id-4"]


async def test_what_is_said_to_another_agent_answers_nothing() -> None:
    judge = Hears(tenth=(1, 1.0))
    async with asked((WHICH,), "I asked.", "So.", judge=judge) as here:
        await seat(here.kit, Whole("other", lambda event: []))
        await say(here.kit, "move it")
        await settled(3_000)
        await here.kit.process_inbound(replace(message("tenth"), addressed_to=("other",)), room_id=ROOM)
        await settled(3_000)
        assert len(here.waiting) == 1 and judge.asked == []


async def test_somebody_elses_yes_or_a_later_one_confirms_nothing() -> None:
    judge = Hears(maybe=(1, 0.6))
    async with asked((WHICH,), "I asked.", "The tenth?", "Hm.", "Well.", "So.", judge=judge) as here:
        await say(here.kit, "move it")
        await settled(3_000)
        await say(here.kit, "maybe")
        await settled(3_000)
        await say(here.kit, "yes", sender="bob")
        await settled(3_000)
        await say(here.kit, "what a day")
        await say(here.kit, "yes")
        await settled(3_000)
        assert [one.question_id for one in here.waiting] == ["id-4"]


async def test_ordinary_speech_is_a_turn_of_its_own_and_the_question_waits_on() -> None:
    async with asked((WHICH,), "I asked.", "Rain.", judge=WordsJudge()) as here:
        await say(here.kit, "move it")
        await settled(3_000)
        await say(here.kit, "On the tenth it rained, I hear.")
        await settled(3_000)
        assert len(here.waiting) == 1
        assert "3000 input.settled id-7 answered" in await here.log()


async def test_the_others_answer_it_as_usual() -> None:
    async with asked((WHICH,), "I asked.", "The tenth it is.", judge=Hears(tenth=(1, 1.0))) as here:
        other = Whole("other", lambda event: [])
        await seat(here.kit, other)
        await say(here.kit, "move it")
        await settled(3_000)
        await say(here.kit, "tenth")
        await settled(3_000)
        assert "tenth" in [event.content.body for event in other.asked]
        assert here.waiting == [] and len(here.model.prompts) == 3


@pytest.mark.parametrize("here_now", [True, False])
async def test_a_question_put_to_somebody_is_answered_by_them_alone_while_the_room_knows_them(here_now: bool) -> None:
    which = ask("Which Tuesday?", options=["the third", "the tenth"], asked_of=["ana"])
    judge = Hears(tenth=(1, 1.0))
    async with asked((which,), "I asked.", "A.", "B.", "C.", judge=judge) as here:
        await here.kit.join(ROOM, Participant("ana", "Ana"))
        await here.kit.join(ROOM, Participant("bob", "Bob"))
        await say(here.kit, "move it")
        await settled(3_000)
        if not here_now:
            await here.kit.leave(ROOM, "ana")
        await here.kit.process_inbound(message("tenth", sender=None), room_id=ROOM)
        await say(here.kit, "tenth", sender="bob")
        await settled(3_000)
        assert len(here.waiting) == 1 and judge.asked == []
        await say(here.kit, "tenth")
        await settled(3_000)
        assert len(here.waiting) == (0 if here_now else 1)


async def test_no_card_on_which_something_waits_is_answered_by_what_is_said() -> None:
    judge = Hears(tenth=(1, 1.0))
    card = call("ask_and_wait", question="Which Tuesday?", options=["the third", "the tenth"])
    async with asked((card,), "So.", settings=WAITS, judge=judge) as here:
        await say(here.kit, "move it")
        await settled(3_000)
        await say(here.kit, "tenth")
        await settled(3_000)
        assert len(here.waiting) == 1 and judge.asked == []


async def test_a_judge_that_fails_or_is_late_leaves_ordinary_speech() -> None:
    judge = Hears(tenth=(1, 1.0))
    async with asked((WHICH,), "I asked.", "Yes?", judge=judge) as here:
        await say(here.kit, "move it")
        await settled(3_000)
        judge.delay_ms = 5_000
        await say(here.kit, "tenth")
        await settled(3_000)
        assert len(here.waiting) == 1
        assert "5000 input.accepted id-7 user tenth" in await here.log()


async def test_of_two_who_answer_the_second_ones_words_are_ordinary_speech() -> None:
    judge = Hears(tenth=(1, 1.0))
    async with asked((WHICH,), "I asked.", "The tenth.", "Bob?", judge=judge) as here:
        await say(here.kit, "move it")
        await settled(3_000)
        await asyncio.gather(say(here.kit, "tenth"), say(here.kit, "tenth", sender="bob"))
        await settled(3_000)
        log = [line for line in await here.log() if "input.settled" in line or "question.ended" in line]
        assert log[1:4] == [
            "3000 question.ended id-4 answered {'via': 'text', 'options': [1], 'event_id': 'id-7'}",
            "3000 input.settled id-7 answered_question",
            "3000 input.settled id-9 answered",
        ]


async def test_what_a_hook_takes_out_of_the_words_is_not_in_the_answer() -> None:
    judge = Hears(**{"the [name]": (None, 1.0)})
    async with asked((ask("Who?"),), "I asked.", "So.", judge=judge) as here:

        @here.kit.hook(HookTrigger.BEFORE_BROADCAST)
        async def redact(event: RoomEvent, context: RoomContext) -> HookResult[RoomEvent]:
            return HookResult.modify(replace(event, content=TextContent(event.content.body.replace("Miller", "[name]"))))

        await say(here.kit, "move it")
        await settled(3_000)
        question_id = here.waiting[0].question_id
        await say(here.kit, "the Miller")
        await settled(3_000)
        ended = await here.kit.questions.get(question_id)
        assert ended is not None and ended.answer == Answer("text", (), "the [name]", "ana", "id-7")
