"""Open questions on calls: when they are said, when they are only shown, and how they are answered by voice and by key."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType

import pytest

from tests.scenario.asking import ask
from tests.scenario.scripted import AGENT_LEVEL, ROOM, House, ScriptedCall, ScriptedStt, ToneTts, house
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.judgment.answers.judge import WordsJudge
from voiceagent.judgment.listening import Request
from voiceagent.judgment.policy import SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import ScriptedModel, Step
from voiceagent.room.questions.question import Answer
from voiceagent.speech.engines import TextToSpeech
from voiceagent.values import JSON

ANN, TENTH, OTHER = 1_000, 2_000, 3_000
SAID = {ANN: "hello there", TENTH: "The tenth, please.", OTHER: "And what is the weather like?"}
TURN = [(200, 0), (800, ANN)]
"""Its words are the room's at 1500 ms; the question is said from 2660 ms to 4560 ms."""

LEFT_OUT = ("participant.", "room.", "level", "consumption.", "agent.state", "tool.", "text.", "turn.", "assistant.")


class Answers(SpeakPolicy):
    """Has the agent answer, though it was told to be quiet."""

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        return SpeakDecision("speak")

    def listening(self, room_id: str) -> Request | None:
        return Request.of("Ann", "be quiet now")


def which(more: Mapping[str, JSON]) -> ToolCall:
    return ToolCall("c1", "ask", json.dumps({"question": "Which Tuesday?", "options": ["the third", "the tenth"], **more}))


def asker(*turns: str | Sequence[Step], policy: SpeakPolicy | None = None) -> AIChannel:
    return AIChannel("assistant", provider=ScriptedModel(turns), system_prompt="", speak_policy=policy)


def phone(*spans: tuple[int, int], until_ms: int = 9_000, name: str = "s1") -> ScriptedCall:
    call = ScriptedCall(name, [*TURN, *spans], until_ms=until_ms)
    call.has_screen = False
    return call


async def log(here: House, *only: str) -> list[str]:
    kinds = only or ("question.", "speech.")
    lines = await here.log(leave_out=LEFT_OUT)
    return [line for line in lines if line.split()[1].startswith(kinds) and "speech.queued" not in line]


def asking(
    *turns: str | Sequence[Step],
    tts: TextToSpeech | None = None,
    policy: SpeakPolicy | None = None,
    more: Mapping[str, JSON] = MappingProxyType({}),
) -> AbstractAsyncContextManager[House]:
    agent = asker((which(more),), *(turns or ("One moment.", "Sure.", "Fine.")), policy=policy)
    return house(agent=agent, stt=ScriptedStt(SAID), claims=WordsJudge(), tts=tts)


async def test_where_there_is_no_screen_it_is_said_and_answered_by_voice() -> None:
    async with asking("One moment.", "The tenth it is.") as here:
        await here.receive(phone((6_000, 0), (800, TENTH), until_ms=10_000))
        assert await log(here, "question.", "speech.", "input.settled") == [
            "1500 question.opened",
            "1500 input.settled answered",
            "1500 speech.started",
            "2060 speech.finished One moment.",
            "2660 speech.started",
            "2660 question.spoken",
            "4560 speech.finished Which Tuesday? The third, or the tenth?",
            "8300 question.ended",
            "8300 input.settled answered_question",
            "8300 input.settled answered",
            "8300 speech.started",
            "9100 speech.finished The tenth it is.",
        ]
        ended = next(line for line in here.events if line.type == "question.ended")
        said = [row.id for row in await here.engine.store.list_events(ROOM) if row.content.body == SAID[TENTH]]
        assert ended.data["answer"] == {"via": "voice", "options": [1], "participant_id": "ann", "event_id": said[0]}


async def test_an_answer_over_it_cuts_it_and_is_taken() -> None:
    async with asking("One moment.", "The tenth it is.") as here:
        await here.receive(phone((2_300, 0), (800, TENTH)))
        lines = await log(here, "question.", "speech.cut")
        assert lines == [
            "1500 question.opened",
            "2660 question.spoken",
            "4300 speech.cut 1300 barge_in",
            "4600 question.ended",
        ]


async def test_behind_it_nobody_thinks_ahead_of_what_is_likely_the_answer() -> None:
    model = ScriptedModel([(which({}),), "One moment.", "The tenth it is."])
    agent = AIChannel("assistant", provider=model, system_prompt="")
    async with house(agent=agent, stt=ScriptedStt(SAID), claims=WordsJudge()) as here:
        await here.receive(phone((6_000, 0), (800, TENTH), until_ms=10_000))
    assert len(model.prompts) == 3


async def test_other_words_over_it_leave_it_open_and_the_cut_names_it() -> None:
    async with asking() as here:
        await here.receive(phone((2_300, 0), (800, OTHER)))
        lines = await log(here, "question.", "speech.cut", "input.settled")
        cut = next(line for line in here.events if line.type == "speech.cut")
        (question,) = here.engine.questions.waiting(ROOM)
        assert cut.data["question_id"] == question.question_id
        assert [record.metadata["question_id"] for record in await here.records()] == [question.question_id]
        assert lines == [
            "1500 question.opened",
            "1500 input.settled answered",
            "2660 question.spoken",
            "3680 speech.cut 860 barge_in",
            "5400 input.settled answered",
        ]


@pytest.mark.parametrize(
    ("screen", "more", "said"),
    [
        (True, {}, False),
        (True, {"urgency": "now"}, True),
        (True, {"speak": "now"}, True),
        (True, {"speak": "never", "urgency": "now"}, False),
        (False, {}, True),
        (False, {"speak": "never"}, False),
        (False, {"asked_of": ["bob"]}, False),
        (False, {"asked_of": ["ann"]}, True),
    ],
)
async def test_where_it_is_said(screen: bool, more: dict[str, JSON], said: bool) -> None:
    async with asking(more=more) as here:
        call = phone()
        call.has_screen = screen
        await here.receive(call)
        assert ("2660 question.spoken" in await log(here)) is said


async def test_its_detail_and_a_fourth_option_are_not_said() -> None:
    tts = ToneTts()
    agent = asker((ask("Which day", options=["one", "two", "three.", "four"], detail="a secret"),), "Hm.")
    async with house(agent=agent, stt=ScriptedStt(SAID), tts=tts) as here:
        await here.receive(phone())
    assert tts.spoken == ["Hm.", "Which day?", "One, two, three, or something else?"]


async def test_in_a_room_that_only_listens_it_is_shown_and_what_comes_of_it_is_not_said() -> None:
    async with asking(policy=Answers(), more={"urgency": "now"}) as here:
        await here.receive(phone())
        assert await log(here, "question.") == ["1500 question.opened"]


async def test_it_waits_for_a_person_who_speaks_just_then() -> None:
    """They begin 300 ms behind the agent's last word."""
    async with asking("One moment.", "Sure.") as here:
        await here.receive(phone((1_300, 0), (1_500, OTHER)))
        lines = await log(here)
        assert lines == [
            "1500 question.opened",
            "1500 speech.started",
            "2060 speech.finished One moment.",
            "5100 speech.started",
            "5360 speech.finished Sure.",
            "5960 speech.started",
            "5960 question.spoken",
            "7860 speech.finished Which Tuesday? The third, or the tenth?",
        ]


async def test_it_yields_to_a_person_who_begins_before_its_first_sound() -> None:
    async with asking("One moment.", "Sure.", tts=ToneTts(first_ms=500)) as here:
        await here.receive(phone((2_300, 0), (1_500, OTHER), until_ms=20_000))
        lines = await log(here)
        assert lines == [
            "1500 question.opened",
            "2000 speech.started",
            "2560 speech.finished One moment.",
            "3420 speech.dropped yields",
            "6600 speech.started",
            "6860 speech.finished Sure.",
            "7960 speech.started",
            "7960 question.spoken",
            "9860 speech.finished Which Tuesday? The third, or the tenth?",
        ]
        assert await here.records() == []


async def test_a_key_picks_an_option_only_while_the_question_was_said_last() -> None:
    async with asking("One moment.", "Sure.", "Fine.") as here:
        call = phone((6_000, 0), (800, OTHER), until_ms=14_000)

        async def press() -> None:
            for at, digit in ((2_000, "2"), (5_000, "3"), (5_100, "#"), (5_200, "x"), (5_300, "0"), (9_500, "1")):
                await clock.sleep_until(at)
                await here.reception.keyed("s1", digit)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(press())
            tasks.create_task(here.receive(call))
        assert len(here.engine.questions.waiting(ROOM)) == 1


async def test_a_key_answers() -> None:
    async with asking("One moment.", "The tenth it is.") as here:

        async def press() -> None:
            await clock.sleep_until(3_000)
            await here.reception.keyed("s9", "1")
            await here.reception.keyed("s1", "2")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(press())
            tasks.create_task(here.receive(phone()))
        lines = await log(here, "question.", "speech.")
        ended = next(line for line in here.events if line.type == "question.ended")
        assert ended.data["answer"] == {"via": "dtmf", "options": [1], "participant_id": "ann"}
        assert lines == [
            "1500 question.opened",
            "1500 speech.started",
            "2060 speech.finished One moment.",
            "2660 speech.started",
            "2660 question.spoken",
            "3000 speech.cut 320 question_ended",
            "3000 question.ended",
            "3000 speech.started",
            "3800 speech.finished The tenth it is.",
        ]


async def test_a_key_of_the_next_call_answers_nothing_before_the_question_is_said_there() -> None:
    async with asking("One moment.") as here:

        async def press() -> None:
            for at in (10_300, 12_000):
                await clock.sleep_until(at)
                await here.reception.keyed("s2", "1")

        await here.receive(phone())
        again = ScriptedCall("s2", [], until_ms=4_000)
        again.has_screen = False
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(press())
            await clock.sleep_until(10_000)
            await here.receive(again)
        assert await log(here, "question.") == [
            "1500 question.opened",
            "2660 question.spoken",
            "10600 question.spoken",
            "12000 question.ended",
        ]


async def test_one_who_calls_later_without_a_screen_hears_what_others_were_shown() -> None:
    async with asking("One moment.") as here:
        page = ScriptedCall("s1", TURN, until_ms=12_000)
        ben = ScriptedCall("s2", [], until_ms=6_000)
        ben.has_screen = False

        async def later() -> None:
            await clock.sleep_until(5_000)
            await here.receive(ben, "ben")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(here.receive(page))
            tasks.create_task(later())
        assert await log(here) == [
            "1500 question.opened",
            "1500 speech.started",
            "2060 speech.finished One moment.",
            "5600 speech.started",
            "5600 question.spoken",
            "7500 speech.finished Which Tuesday? The third, or the tenth?",
        ]
        assert ben.heard_ms(AGENT_LEVEL) > 0


async def test_one_that_is_answered_elsewhere_meanwhile_is_not_said() -> None:
    async with asking("One moment.", "The third it is.") as here:

        async def click() -> None:
            await clock.sleep_until(2_300)
            (question,) = here.engine.questions.waiting(ROOM)
            await here.engine.questions.answer(question.question_id, Answer("button", (0,), participant_id="ann"))

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(click())
            tasks.create_task(here.receive(phone()))
        assert "question.spoken" not in " ".join(await log(here))
