"""Cards on which a tool waits: questions without whose answer an agent cannot go on, and steps that a person has to allow."""

import asyncio
from pathlib import Path

import pytest

from tests.scenario.asking import WAITS, Asked, ask, asked, call
from tests.scenario.rooms import ROOM, Door, agent, ids, make_store, message, say, seat, settled
from tests.scenario.scripted import ScriptedCall, ScriptedStt, ToneTts, house
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.context import AIGenerationEvent
from voiceagent.agent.job import Job
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.tools import Tool, Toolbox, tool
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.hooks import HookTrigger
from voiceagent.room.questions.question import Answer, Via

WAIT = call("ask_and_wait", question="Which hall?", options=["A", "B", "C"])
SEND = call("send", to="bob")


async def test_q11_q58_a_blocking_card_holds_the_turn_and_what_is_typed_meanwhile_is_taken_in_after_the_answer() -> None:
    async with asked(("One moment. ", WAIT), "Hall B, at noon.", settings=WAITS) as here:
        await say(here.kit, "book it")
        await settled(60_000)  # longer than any tool may take
        await say(here.kit, "at noon, please")
        await settled(60_000)
        assert len(here.model.prompts) == 1 and len(here.waiting) == 1
        assert (await here.answer(1)).taken
        await settled(1_000)
        outcome, typed = here.model.prompts[1].messages[-2:]
        assert outcome.role == "tool" and "option 2: B" in outcome.content and "approves nothing else" in outcome.content
        assert typed.content == "at noon, please"
        assert await here.log() == [
            "0 input.accepted id-1 user book it",
            "0 input.queued id-1 new_turn",
            "0 generation.started id-2 for id-1",
            "0 input.delivered id-1 new_turn",
            "0 question.opened id-5 blocking Which hall?",
            "60000 input.accepted id-6 user at noon, please",
            "60000 input.queued id-6 request_boundary",
            "120000 question.ended id-5 answered {'via': 'button', 'options': [1]}",
            "120000 input.delivered id-6 request_boundary",
            "120000 generation.finished id-2 inputs=['id-1', 'id-6'] questions=['id-5']",
            "120000 input.settled id-1 answered",
            "120000 input.settled id-6 answered",
        ]


async def test_q58_what_is_typed_while_a_card_is_open_can_be_taken_back_and_is_never_read() -> None:
    async with asked(("One moment. ", WAIT), "Hall B, at noon.", "It rains.", settings=WAITS) as here:
        await say(here.kit, "book it")
        await settled(1_000)
        taken_back, kept = await say(here.kit, "at nine, please"), await say(here.kit, "at noon, please")
        assert here.kit.withdraw_input(ROOM, taken_back.id)
        assert not here.kit.withdraw_input(ROOM, taken_back.id)
        assert len(here.waiting) == 1
        assert (await here.answer(1)).taken
        await settled(1_000)
        assert not here.kit.withdraw_input(ROOM, kept.id)
        await say(here.kit, "what is the weather?")
        await settled(1_000)
        assert [m.content for m in here.model.prompts[1].messages[-1:]] == ["at noon, please"]
        assert not any("at nine" in message.content for prompt in here.model.prompts for message in prompt.messages)
        log = await here.log()
        assert [line for line in log if taken_back.id in line] == [
            "1000 input.accepted id-6 user at nine, please",
            "1000 input.queued id-6 request_boundary",
            "1000 input.settled id-6 withdrawn",
        ]


async def test_what_was_left_when_an_answer_ended_is_answered_without_what_was_taken_back() -> None:
    async with asked((WAIT,), "At noon.", settings=WAITS) as here:
        await say(here.kit, "book it")
        await settled(1_000)
        taken_back = await say(here.kit, "at nine, please")
        await say(here.kit, "at noon, please")
        assert here.kit.withdraw_input(ROOM, taken_back.id)
        here.kit.cancel_generation(ROOM, here.waiting[0].generation_id, "host")
        await settled(1_000)
        assert "At noon." in here.door.texts, here.door.texts
        assert not any("at nine" in message.content for message in here.model.prompts[-1].messages)


async def test_what_somebody_else_says_meanwhile_is_answered_beside_and_leaves_the_card() -> None:
    async with asked((WAIT,), "It rains.", "Hall B.", settings=WAITS) as here:
        await say(here.kit, "book it")
        await settled(1_000)
        await say(here.kit, "what is the weather?", sender="bob")
        await settled(1_000)
        assert here.door.texts[-1] == "It rains." and len(here.waiting) == 1
        await here.answer(1)
        await settled(1_000)
        assert here.door.texts[-1].endswith("Hall B.")


async def test_q11_a_question_that_does_not_block_stays_one_beside_a_card() -> None:
    async with asked((ask("Tea?"), WAIT), "Good.", "Tea, then.", settings=WAITS) as here:
        await say(here.kit, "book it")
        await settled(1_000)
        plain, card = here.waiting
        assert (plain.kind, card.kind) == ("question", "blocking")
        await here.kit.questions.answer(card.question_id, Answer("button", (0,), participant_id="ana"))
        await settled(1_000)
        assert [one.question_id for one in here.waiting] == [plain.question_id] and len(here.model.prompts) == 2
        await here.answer(text="yes")
        await settled(1_000)
        assert here.read(2).startswith("question_answered: ")


async def test_q59_a_card_outlives_a_restart_and_its_answer_comes_back_as_an_instruction_once(tmp_path: Path) -> None:
    async with asked((WAIT,), store=make_store("sqlite", tmp_path), settings=WAITS) as here:
        await say(here.kit, "book it")
        await settled(1_000)
    await here.kit.store.close()
    model = ScriptedModel(["Hall C."])
    for _ in range(2):
        async with RoomEngine(store=make_store("sqlite", tmp_path)) as kit:
            await seat(kit, Door(), agent(model=model))
            for card in kit.questions.waiting(ROOM):
                assert (card.kind, card.state) == ("blocking", "open")
                assert (await kit.questions.answer(card.question_id, Answer("button", (2,), participant_id="ana"))).taken
            await settled(1_000)
        await kit.store.close()
    (prompt,) = model.prompts
    assert prompt.messages[-1].content.startswith("question_answered: ") and "option 3: C" in prompt.messages[-1].content


async def test_q60_of_a_card_several_options_may_be_chosen_and_of_a_question_one() -> None:
    several = call("ask_and_wait", question="Which halls?", options=["A", "B", "C"], multiple=True)
    async with asked(
        (several,), (call("ask", question="Which?", options=["A", "B"], multiple=True),), "Good.", settings=WAITS
    ) as here:
        await say(here.kit, "book it")
        await settled(1_000)
        assert (await here.answer(0, 2)).taken
        await settled(1_000)
        assert "option 1: A\noption 3: C" in here.read(1)
        assert here.read(2).startswith("error: multiple")


async def test_an_answer_that_is_stopped_leaves_its_card_open_and_what_is_answered_then_comes_back() -> None:
    async with asked((WAIT,), "Hall A.", settings=WAITS) as here:
        await say(here.kit, "book it")
        await settled(1_000)
        (card,) = here.waiting
        assert here.kit.cancel_generation(ROOM, card.generation_id, "barge_in")
        await settled(1_000)
        assert here.waiting == [card]
        await here.answer(0)
        await settled(1_000)
        assert here.read(1).startswith("question_answered: ")
        log = await here.log()
    assert log[5:8] == [
        "1000 generation.detached id-2 barge_in",
        "1000 input.settled id-1 superseded",
        "2000 question.ended id-4 answered {'via': 'button', 'options': [0]}",
    ]


async def test_a_card_that_the_agent_withdraws_elsewhere_holds_its_turn_no_longer() -> None:
    async with asked((WAIT,), (call("withdraw", question_id="id-4"),), "Never mind.", "As you like.", settings=WAITS) as here:
        await say(here.kit, "book it")
        await settled(1_000)
        await say(here.kit, "forget it", sender="bob")
        await settled(1_000)
        assert here.waiting == []
        assert any("was withdrawn by you" in message.content for prompt in here.model.prompts for message in prompt.messages)


@pytest.mark.parametrize("via", ["voice", "dtmf"])
async def test_what_a_tool_waits_for_is_never_ended_by_voice_or_keys(via: Via) -> None:
    async with asked((WAIT,), "Good.", settings=WAITS) as here:
        await say(here.kit, "book it")
        await settled(1_000)
        (card,) = here.waiting
        answered = await here.kit.questions.answer(card.question_id, Answer(via, (0,), participant_id="ana"))
        dismissed = await here.kit.questions.dismiss(card.question_id, "ana", via)
        assert [(one.result, one.reason) for one in (answered, dismissed)] == [("refused", "not_by_voice")] * 2
        assert here.waiting == [card]


class Post:
    """A tool that has an effect, and counts it."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def tool(self) -> Tool:
        @tool(approval="May this be sent?")
        async def send(to: str, copies: int = 1) -> str:
            """Sends."""
            self.sent.append(f"{to} {copies}")
            return "sent"

        return send


async def asks_to_send(here: Asked) -> None:
    await say(here.kit, "send it")
    await settled(60_000)


async def test_a_step_that_a_person_allows_is_taken_once_with_what_they_were_shown() -> None:
    post = Post()
    async with asked((SEND,), "Sent.", (SEND,), tools=[post.tool()]) as here:
        await asks_to_send(here)
        (card,) = here.waiting
        assert (card.kind, card.asking.question, card.asking.options) == ("approval", "May this be sent?", ("Allow", "Refuse"))
        assert card.asking.detail == 'send {"to":"bob","copies":1}' and post.sent == []
        assert (await here.answer(0)).taken
        await settled(1_000)
        assert (post.sent, here.read(1)) == (["bob 1"], "sent")
        await asks_to_send(here)  # Q26: one yes is for one step
        assert len(here.waiting) == 1 and post.sent == ["bob 1"]


@pytest.mark.parametrize("dismissed", [False, True])
async def test_a_step_that_a_person_refuses_or_dismisses_is_not_taken(*, dismissed: bool) -> None:
    post = Post()
    async with asked((SEND,), "Then not.", tools=[post.tool()]) as here:
        await asks_to_send(here)
        if dismissed:
            await here.kit.questions.dismiss(here.waiting[0].question_id, "ana")
        else:
            await here.answer(1)
        await settled(1_000)
        assert here.read(1).startswith("error: not run: a person did not allow it")
    assert post.sent == []


async def test_q23_an_answered_question_approves_nothing_and_own_words_allow_nothing() -> None:
    post = Post()
    async with asked((ask("May I send it?", options=["Allow", "Refuse"]), SEND), "Well.", tools=[post.tool()]) as here:
        await asks_to_send(here)
        assert (await here.answer(0)).taken
        await settled(1_000)
        (card,) = here.waiting
        assert card.kind == "approval" and post.sent == []
        for answer in (Answer("text", text="Allow", participant_id="ana"), Answer("text", (0,), "but only once", "ana")):
            verdict = await here.kit.questions.answer(card.question_id, answer)
            assert (verdict.result, verdict.reason) == ("refused", "choose_an_option")
        for answer in (Answer("voice", (0,), participant_id="ana"), Answer("dtmf", (0,), participant_id="ana")):
            assert (await here.kit.questions.answer(card.question_id, answer)).reason == "not_by_voice"
        assert here.waiting == [card] and post.sent == []


async def test_a_step_that_is_allowed_when_its_answer_was_stopped_is_taken_once_if_the_agent_still_wants_it() -> None:
    post = Post()
    other = call("send", 2, to="eve")
    async with asked((SEND,), (other, SEND), "Sent.", (SEND,), tools=[post.tool()]) as here:
        await asks_to_send(here)
        here.kit.cancel_generation(ROOM, here.waiting[0].generation_id, "host")
        await settled(1_000)
        await here.answer(0)
        await settled(1_000)
        assert "has not been taken" in here.read(1) and post.sent == []  # the yes was not for eve
        (card,) = here.waiting
        assert card.asking.detail == 'send {"to":"eve","copies":1}'
        await here.answer(1)
        await settled(1_000)
        assert post.sent == ["bob 1"]
        await asks_to_send(here)
        assert len(here.waiting) == 1 and post.sent == ["bob 1"]


async def test_a_step_that_is_refused_when_its_answer_was_stopped_is_asked_for_anew() -> None:
    post = Post()
    async with asked((SEND,), (SEND,), "Well.", tools=[post.tool()]) as here:
        await asks_to_send(here)
        here.kit.cancel_generation(ROOM, here.waiting[0].generation_id, "host")
        await settled(1_000)
        await here.answer(1)
        await settled(1_000)
        assert len(here.waiting) == 1 and post.sent == []


async def test_a_step_with_more_arguments_than_people_are_shown_is_not_asked_for() -> None:
    post = Post()
    async with asked((call("send", to="b" * 2_000),), "Too long.", tools=[post.tool()]) as here:
        await asks_to_send(here)
        assert here.waiting == [] and "longer than the 2000 characters" in here.read(1)
    assert post.sent == []


async def test_a_tool_that_a_hook_gives_and_one_that_hands_over_a_job_wait_for_their_yes_too() -> None:
    post = Post()

    async def work() -> str:
        post.sent.append("job")
        return "done"

    @tool(approval=True)
    async def fetch() -> Job:
        """Fetches."""
        return Job(work)

    async with asked((SEND, call("fetch", 2)), "On it.", "Done.", tools=[fetch]) as here:

        @here.kit.hook(HookTrigger.BEFORE_AI_GENERATION)
        async def give(event: AIGenerationEvent) -> None:
            event.ai_context.more_tools.append(Toolbox([post.tool()], 1_000))

        await asks_to_send(here)
        for question in ("May this be sent?", "May fetch be run?"):
            (card,) = here.waiting
            assert card.asking.question == question
            await here.answer(0)
            await settled(1_000)
    assert post.sent == ["bob 1", "job"]


async def test_a_room_that_closes_under_a_card_ends_the_turn_and_keeps_the_card() -> None:
    async with RoomEngine(ids=ids()) as kit:
        model = ScriptedModel([(WAIT,), "Hall A."])
        await seat(kit, Door(), AIChannel("assistant", provider=model, settings=AgentSettings(ask_and_wait=True)))
        assert (await kit.process_inbound(message("book it"), room_id=ROOM)).event is not None
        await settled(1_000)
        (card,) = kit.questions.waiting(ROOM)
        await kit.close_room(ROOM)
        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "assistant")
        await kit.questions.answer(card.question_id, Answer("button", (0,), participant_id="ana"))
        await settled(1_000)
        assert len(model.prompts) == 2 and "option 1: A" in model.prompts[1].messages[-1].content


async def test_a_caller_hears_the_answer_go_on_once_the_card_is_answered() -> None:
    model = ScriptedModel([("One moment. ", WAIT), "Hall B."])
    agent_ = AIChannel("assistant", provider=model, settings=WAITS)
    call_ = ScriptedCall("s1", [(200, 0), (800, 1_000)], until_ms=20_000)
    async with house(agent=agent_, tts=(tts := ToneTts())) as here:

        async def answers() -> None:
            await settled(12_000)
            (card,) = here.engine.questions.waiting("room")
            assert (await here.engine.questions.answer(card.question_id, Answer("button", (1,), participant_id="ann"))).taken

        await asyncio.gather(here.receive(call_), answers())
        assert tts.spoken == ["One moment.", "Hall B."]
        assert (await here.messages())[1:] == [("assistant", "One moment."), ("assistant", "Hall B.")]
        assert len(model.prompts) == 2


async def test_q58_what_a_caller_says_while_a_card_is_open_is_taken_in_after_the_answer_and_answers_nothing() -> None:
    model = ScriptedModel([("One moment. ", WAIT), "Hall B, at noon."])
    agent_ = AIChannel("assistant", provider=model, settings=WAITS)
    call_ = ScriptedCall("s1", [(200, 0), (800, 1_000), (4_000, 0), (800, 2_000)], until_ms=20_000)
    async with house(agent=agent_, stt=ScriptedStt({1_000: "book it", 2_000: "B, at noon"})) as here:

        async def answers() -> None:
            await settled(12_000)
            (card,) = here.engine.questions.waiting("room")
            assert (await here.engine.questions.answer(card.question_id, Answer("button", (1,), participant_id="ann"))).taken

        await asyncio.gather(here.receive(call_), answers())
        outcome, said = model.prompts[-1].messages[-2:]
        assert "option 2: B" in outcome.content and said.content == "B, at noon"
        told = await here.messages()
        assert [words for who, words in told if who == "assistant"] == ["One moment.", "Hall B, at noon."]
