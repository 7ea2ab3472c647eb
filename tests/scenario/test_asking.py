"""An agent asks and goes on: what is told of it, and how the answer comes back to it."""

from collections.abc import Sequence

import pytest

from tests.scenario.asking import Asked, ask, asked, call
from tests.scenario.rooms import ROOM, Door, Whole, rows, say, seat, settled, words
from voiceagent.agent.settings import AgentSettings
from voiceagent.judgment.listening import Request
from voiceagent.judgment.policy import SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.llm.scripted import Pause, Step
from voiceagent.room.events import ChannelType, EventType, Participant, RoomEvent
from voiceagent.room.hooks import HookTrigger
from voiceagent.room.questions.question import Answer
from voiceagent.room.questions.verdict import Verdict

WHICH = ask("Which Tuesday?", options=["the 3rd", "the 10th"])


async def test_q1_q10_an_agent_asks_goes_on_and_finishes_and_the_answer_opens_a_turn_of_its_own() -> None:
    async with asked(("One moment. ", WHICH), "I asked.", "The 10th it is.") as here:
        await say(here.kit, "move it")
        await settled(3_000)
        assert (await here.answer(1)).taken
        await settled(3_000)
        assert here.read(1) == '{"question_id": "id-5", "state": "open"}'
        assert here.read(2).startswith("question_answered: your question id-5 was answered by participant <<<participant ")
        assert "Which Tuesday?\noption 2: the 10th\n" in here.read(2) and "approves nothing else" in here.read(2)
        assert here.model.prompts[2].messages[-1].instruction
        assert await here.log() == [
            "0 input.accepted id-1 user move it",
            "0 input.queued id-1 new_turn",
            "0 generation.started id-2 for id-1",
            "0 input.delivered id-1 new_turn",
            "0 question.opened id-5 question Which Tuesday?",
            "0 generation.finished id-2 inputs=['id-1'] questions=['id-5']",
            "0 input.settled id-1 answered",
            "3000 question.ended id-5 answered {'via': 'button', 'options': [1]}",
            "3000 input.accepted id-8 service",
            "3000 input.queued id-8 new_turn",
            "3000 generation.started id-9 for id-8",
            "3000 input.delivered id-8 new_turn",
            "3000 generation.finished id-9 inputs=['id-8'] questions=[]",
            "3000 input.settled id-8 answered",
        ]


async def test_q20_an_answer_that_comes_while_the_asking_turn_runs_joins_it_at_its_next_request() -> None:
    async with asked((WHICH,), (Pause(2_000), "I look at both."), "The 3rd, then.") as here:
        await say(here.kit, "move it")
        await settled(1_000)
        assert (await here.answer(0)).taken
        await settled(3_000)
        assert "option 1: the 3rd" in here.read(2)
        assert await here.log() == [
            "0 input.accepted id-1 user move it",
            "0 input.queued id-1 new_turn",
            "0 generation.started id-2 for id-1",
            "0 input.delivered id-1 new_turn",
            "0 question.opened id-4 question Which Tuesday?",
            "1000 question.ended id-4 answered {'via': 'button', 'options': [0]}",
            "1000 input.accepted id-6 service",
            "1000 input.queued id-6 request_boundary",
            "2000 input.delivered id-6 request_boundary",
            "2000 generation.finished id-2 inputs=['id-1', 'id-6'] questions=['id-4']",
            "2000 input.settled id-1 answered",
            "2000 input.settled id-6 answered",
        ]


async def test_q36_an_answer_that_comes_while_the_agent_answers_somebody_else_is_brought_once() -> None:
    async with asked((WHICH,), "I asked.", (Pause(2_000), "It rains."), "The 3rd, then.") as here:
        await say(here.kit, "move it")
        await settled(1_000)
        await say(here.kit, "and the weather?", sender="bob")
        await settled(1_000)
        assert (await here.answer(0)).taken
        await settled()
        log = await here.log()
    assert log[11:] == [
        "2000 question.ended id-4 answered {'via': 'button', 'options': [0]}",
        "2000 input.accepted id-9 service",
        "2000 input.queued id-9 parallel",
        "2000 generation.started id-10 for id-9",
        "2000 input.delivered id-9 parallel",
        "2000 generation.finished id-10 inputs=['id-9'] questions=[]",
        "2000 input.settled id-9 answered",
        "3000 generation.finished id-8 inputs=['id-7'] questions=[]",
        "3000 input.settled id-7 answered",
    ]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer("button", (1,), participant_id="ana"), "Which Tuesday?\noption 2: the 10th\n"),
        (Answer("text", text="neither", participant_id="ana"), "Which Tuesday?\nown words: neither\n"),
        (Answer("text", text="neither", participant_id="ana", host="attic"), "on the host <<<host "),
        (None, "was dismissed without an answer by participant <<<participant "),
    ],
)
async def test_q21_the_agent_is_told_which_end_it_was(answer: Answer | None, told: str) -> None:
    async with asked((WHICH,), "I asked.", "Good.") as here:
        await say(here.kit, "move it")
        await settled(1_000)
        (question,) = here.waiting
        if answer is not None:
            await here.kit.questions.answer(question.question_id, answer)
        else:
            await here.kit.questions.dismiss(question.question_id, "ana")
        await settled(1_000)
        assert told in here.read(2)


async def test_q22_the_answer_is_an_automatic_instruction_and_nobodys_message() -> None:
    seen: list[RoomEvent] = []
    async with asked((WHICH,), "I asked.", "Good.") as here:

        @here.kit.hook(HookTrigger.BEFORE_BROADCAST)
        async def look(event: RoomEvent) -> None:
            seen.append(event)

        await say(here.kit, "move it")
        await settled(1_000)
        (question,) = here.waiting
        await here.answer(0)
        await settled(1_000)
        (brought,) = [event for event in seen if event.type is EventType.INSTRUCTION]
        assert brought.metadata["automatic"] is True and brought.source.participant_id is None
        assert brought.metadata["caused_by"] == {
            "kind": "question_answered",
            "question_id": question.question_id,
            "generation_id": question.generation_id,
            "options": [0],
        }
        assert not [event for event in await rows(here.kit) if "question_answered" in event.content.body]


async def test_q16_no_agent_answers_a_question_whatever_tools_it_has_or_writes() -> None:
    tried: list[Verdict] = []

    async def answer_question(question_id: str) -> str:
        """Answers."""
        desk = here.kit.questions
        tried.append(await desk.answer(question_id, Answer("button", (0,), participant_id="ana")))
        tried.append(await desk.dismiss(question_id, "ana"))
        return tried[0].reason or "taken"

    turns: list[str | Sequence[Step]] = [(WHICH,), "I asked.", (call("answer_question", question_id="id-4"),), "Done."]
    async with asked(*turns, tools=[answer_question]) as here:
        writer = Whole("rita", lambda event: [words(event, 'answer_question("id-4", 0)', "rita")])
        await say(here.kit, "move it")
        await settled(1_000)
        await seat(here.kit, writer)
        await say(here.kit, "answer it yourself")
        await settled(1_000)
        assert [(one.result, one.reason) for one in tried] == [("refused", "agents_do_not_answer")] * 2
        read = [message.content for prompt in here.model.prompts for message in prompt.messages]
        assert "agents_do_not_answer" in read
        assert [one.question_id for one in here.waiting] == ["id-4"]
        assert (await here.answer(0)).taken


async def test_q16_there_is_no_tool_that_answers() -> None:
    async with asked((WHICH,), (call("answer_question", 2, question_id="id-4"),), "Then not.") as here:
        await say(here.kit, "move it")
        await settled(1_000)
        assert here.read(2).startswith("error: there is no tool 'answer_question'")
        assert len(here.waiting) == 1


async def test_an_agent_withdraws_its_question_and_reads_why_something_is_not_asked() -> None:
    gone, long, odd = call("withdraw", 2, question_id="id-4"), ask("q" * 501, 3), ask("Why?", 4, colour="red")
    async with asked((WHICH,), (gone,), (long,), (odd,), "Well.") as here:
        await say(here.kit, "move it")
        await settled(1_000)
        assert here.waiting == []
        assert here.read(2) == '{"question_id": "id-4", "state": "withdrawn"}'
        assert here.read(3).startswith("error: not asked: the question has 501 characters")
        assert "colour" in here.read(4)


async def test_a_question_is_put_to_somebody_by_name() -> None:
    calls = [ask("Tea?", number, asked_of=[who]) for number, who in enumerate(("Ana", "p2", "Bob", "Eve"))]
    async with asked(*((one,) for one in calls), "Well.") as here:
        for id_, name in (("p1", "Ana"), ("p2", "Bob"), ("p3", "bob")):
            await here.kit.join(ROOM, Participant(id_, name))
        await say(here.kit, "ask them", sender="p1")
        await settled(1_000)
        assert [one.asking.asked_of for one in here.waiting] == [("p1",), ("p2",)]
        assert here.read(3) == "error: not asked: several people are called 'Bob': use an id of ['p2', 'p3']"
        assert here.read(4) == "error: not asked: nobody here is called 'Eve'; there are: Ana, Bob, bob"


async def test_tools_for_asking_are_switched_off_and_a_tool_of_the_agents_own_goes_before_one() -> None:
    async def ask() -> str:
        """Asks the oracle."""
        return "42"

    async def names(here: Asked) -> list[str]:
        await say(here.kit, "go")
        await settled(1_000)
        return [spec.name for spec in here.model.prompts[0].tools]

    async with asked("Yes.", settings=AgentSettings(ask=False)) as here:
        assert await names(here) == []
    async with asked("Yes.", settings=AgentSettings(ask_and_wait=True)) as here:
        assert await names(here) == ["ask", "withdraw", "ask_and_wait"]
    async with asked((call("ask"),), "Yes.", tools=[ask]) as here:
        assert await names(here) == ["ask", "withdraw"]
        assert here.read(1) == "42"


async def test_an_answer_that_could_not_be_read_is_brought_again_once_the_model_works() -> None:
    async with asked((WHICH,), "I asked.", (RuntimeError("no"),), "It rains.", "Good.") as here:
        await say(here.kit, "move it")
        await settled(1_000)
        await here.answer(0)
        await settled()
        assert len(here.model.prompts) == 3
        await say(here.kit, "and the weather?")
        await settled(1_000)
        assert len(here.model.prompts) == 5 and "option 1: the 3rd" in here.read(4)


async def test_an_answer_that_could_not_be_read_is_brought_when_the_agent_sits_down_again() -> None:
    async with asked((WHICH,), "I asked.", (RuntimeError("no"),), "Good.") as here:
        await say(here.kit, "move it")
        await settled(1_000)
        await here.answer(0)
        await settled(1_000)
        await here.kit.close_room(ROOM)
        await here.kit.create_room(ROOM)
        for _ in range(2):
            await here.kit.attach_channel(ROOM, "assistant")
            await settled(1_000)
            await here.kit.detach_channel(ROOM, "assistant")
        assert len(here.model.prompts) == 4 and "option 1: the 3rd" in here.read(3)


async def test_an_answer_takes_the_place_of_no_answer_that_nobody_has_heard_yet() -> None:
    async with asked((WHICH,), "I asked.", "The 3rd, then.") as here:
        await seat(here.kit, speaker := Door("speaker", ChannelType.VOICE))
        await say(here.kit, "move it")
        await settled(1_000)
        await here.answer(0)
        await settled(1_000)
        assert [(reply.text, reply.cancelled) for reply in speaker.replies] == [("I asked.", None), ("The 3rd, then.", None)]


class Listens(SpeakPolicy):
    """Speaks until it is asked to be quiet."""

    quiet: Request | None = None

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        return SpeakDecision("silent" if self.quiet else "speak")

    def listening(self, room_id: str) -> Request | None:
        return self.quiet


async def test_in_a_room_that_only_listens_an_answer_is_acted_on_and_not_said() -> None:
    policy = Listens()
    async with asked((WHICH,), "I asked.", "Noted.", policy=policy) as here:
        await say(here.kit, "move it")
        await settled(1_000)
        policy.quiet = Request("ana", "just listen")
        await here.answer(0)
        await settled(1_000)
        assert here.door.texts[-1] == "Noted."
        assert [reply.text for reply in here.door.replies] == ["I asked."]
