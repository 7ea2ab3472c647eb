"""The desk of questions, on every kind of store: one end each, told once, and what outlives a room's closing."""

import asyncio
from pathlib import Path

import pytest

from tests.scenario.rooms import ROOM, STORES, make_store
from voiceagent import clock
from voiceagent.errors import QuestionRefusedError
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType
from voiceagent.room.feed import FeedEvent
from voiceagent.room.origin import Origin
from voiceagent.room.questions.question import Answer, Asking, Question

HERE = Origin(ROOM, "nova")
YEAR_MS = 366 * 24 * 3_600_000


class Asker(Channel):
    """An agent that writes down which of its questions ended."""

    def __init__(self, channel_id: str = "nova") -> None:
        super().__init__(channel_id, ChannelType.AI)
        self.told: list[Question] = []

    def on_question_ended(self, question: Question) -> bool:
        self.told.append(question)
        return True


@pytest.fixture(params=STORES)
def kit(request: pytest.FixtureRequest, tmp_path: Path) -> RoomEngine:
    return RoomEngine(store=make_store(request.param, tmp_path))


async def seated(kit: RoomEngine, *channel_ids: str) -> list[Asker]:
    askers = [Asker(channel_id) for channel_id in channel_ids or ("nova",)]
    await kit.create_room(ROOM)
    for asker in askers:
        kit.register_channel(asker)
        await kit.attach_channel(ROOM, asker.channel_id)
    return askers


async def told(kit: RoomEngine) -> list[FeedEvent]:
    """The lines of questions in the room's feed, as a follower that comes now is sent them."""
    feed = kit.feed(ROOM)
    lines: list[FeedEvent] = []
    reader = feed.subscribe(0)
    mark = "mark"
    feed.publish(mark, {})
    async for line in reader.events():
        if line.type == mark:
            break
        if line.type.startswith("question."):
            lines.append(line)
    reader.close()
    return lines


async def test_a_question_is_opened_answered_once_and_brought_back(kit: RoomEngine) -> None:
    async with kit:
        (nova,) = await seated(kit)
        question = await kit.questions.ask(
            HERE, "g1", Asking("Which Tuesday?", ("the 3rd", "the 10th"), "the 10th", urgency="now")
        )
        assert [one.question_id for one in kit.questions.waiting(ROOM)] == [question.question_id]
        assert kit.snapshot(ROOM)["questions"] == [question.summary()]
        first = await kit.questions.answer(question.question_id, Answer("button", (1,), participant_id="ada"))
        second = await kit.questions.answer(question.question_id, Answer("text", text="the 3rd", participant_id="bob"))
        third = await kit.questions.dismiss(question.question_id, "bob")
        assert [first.result, second.result, third.result] == ["taken", "already_ended", "already_ended"]
        assert second.question is not None and second.question.answer == Answer("button", (1,), participant_id="ada")
        assert [one.answer for one in nova.told] == [Answer("button", (1,), participant_id="ada")]
        assert kit.questions.waiting(ROOM) == ()
        opened, ended = await told(kit)
    assert opened.type == "question.opened" and opened.generation_id == "g1"
    assert opened.data["options"] == ["the 3rd", "the 10th"] and opened.data["urgency"] == "now"
    assert ended.type == "question.ended"
    assert ended.data == {
        "question_id": question.question_id,
        "end": "answered",
        "answer": {"via": "button", "options": [1], "participant_id": "ada"},
        "delivered_to": ["nova"],
    }


async def test_q18_of_two_people_who_answer_in_the_same_moment_the_first_wins(kit: RoomEngine) -> None:
    async with kit:
        (nova,) = await seated(kit)
        question = await kit.questions.ask(HERE, "g1", Asking("Tea?"))
        answers = [Answer("text", text=who, participant_id=who) for who in ("ada", "bob", "cid")]
        verdicts = await asyncio.gather(*(kit.questions.answer(question.question_id, answer) for answer in answers))
        assert sorted(verdict.result for verdict in verdicts) == ["already_ended", "already_ended", "taken"]
        assert len(nova.told) == 1
        assert [line.type for line in await told(kit)] == ["question.opened", "question.ended"]


async def test_q27_a_question_does_not_expire(kit: RoomEngine) -> None:
    async with kit:
        await seated(kit)
        question = await kit.questions.ask(HERE, "g1", Asking("Still?"))
        await clock.sleep_until(clock.now() + YEAR_MS)
        assert (await kit.questions.answer(question.question_id, Answer("text", text="yes"))).taken


async def test_q28_to_q30_twenty_wait_and_one_more_once_one_has_ended(kit: RoomEngine) -> None:
    async with kit:
        await seated(kit)
        asked = [await kit.questions.ask(HERE, "g1", Asking(f"Number {number}?")) for number in range(20)]
        with pytest.raises(QuestionRefusedError, match="20 questions of yours wait here, and at most 20 may"):
            await kit.questions.ask(HERE, "g1", Asking("One more?"))
        with pytest.raises(QuestionRefusedError, match="20 questions wait in this room already"):
            await kit.questions.ask(Origin(ROOM, "other"), "g2", Asking("Mine?"))
        assert len(await kit.questions.listed()) == 20
        assert (await kit.questions.withdraw(asked[0].question_id, ROOM, "nova")).taken
        await kit.questions.ask(HERE, "g1", Asking("One more?"))


async def test_q31_only_who_asked_withdraws_and_nobody_is_told_of_it(kit: RoomEngine) -> None:
    async with kit:
        nova, rita = await seated(kit, "nova", "rita")
        question = await kit.questions.ask(HERE, "g1", Asking("Mine?"))
        assert (await kit.questions.withdraw(question.question_id, ROOM, "rita")).result == "unknown"
        assert (await kit.questions.withdraw(question.question_id, "elsewhere", "nova")).result == "unknown"
        assert (await kit.questions.withdraw(question.question_id, ROOM, "nova")).taken
        assert (await kit.questions.withdraw(question.question_id, ROOM, "nova")).result == "already_ended"
        assert nova.told == rita.told == []
        assert (await told(kit))[-1].data["end"] == "withdrawn"


async def test_q32_a_room_that_ends_for_good_ends_its_questions_and_tells_nobody(kit: RoomEngine) -> None:
    async with kit:
        (nova,) = await seated(kit)
        question = await kit.questions.ask(HERE, "g1", Asking("Too late?"))
        await kit.questions.end_room(ROOM)
        assert (await kit.questions.answer(question.question_id, Answer("text", text="yes"))).result == "already_ended"
        assert nova.told == [] and await kit.questions.listed() == []


async def test_an_agent_that_is_taken_out_of_a_room_asks_nothing_there_any_more(kit: RoomEngine) -> None:
    async with kit:
        await seated(kit, "nova", "rita")
        await kit.questions.ask(HERE, "g1", Asking("Nova's?"))
        hers = await kit.questions.ask(Origin(ROOM, "rita"), "g2", Asking("Rita's?"))
        await kit.detach_channel(ROOM, "nova")
        assert [one.question_id for one in kit.questions.waiting(ROOM)] == [hers.question_id]
        assert (await told(kit))[-1].data["end"] == "agent_detached"


async def test_a_closed_room_keeps_its_questions_and_what_was_answered_meanwhile_is_told_when_it_opens(kit: RoomEngine) -> None:
    async with kit:
        (nova,) = await seated(kit)
        answered = await kit.questions.ask(HERE, "g1", Asking("Answered?"))
        open_ = await kit.questions.ask(HERE, "g1", Asking("Open?"))
        await kit.close_room(ROOM)
        assert (await kit.questions.answer(answered.question_id, Answer("text", text="yes"))).taken
        assert nova.told == []
        await kit.create_room(ROOM)
        assert [one.question_id for one in kit.questions.waiting(ROOM)] == [open_.question_id]
        left = kit.questions.back.take_left(ROOM, "nova")
        assert [one.question_id for one in left] == [answered.question_id]
        assert [line.data.get("end") for line in await told(kit)][-1] == "answered"
        await kit.questions.back.told(left[0])
        await kit.close_room(ROOM)
        await kit.create_room(ROOM)
        assert kit.questions.back.take_left(ROOM, "nova") == ()


@pytest.mark.parametrize(
    ("answer", "why"),
    [(Answer("button", (5,)), "no_such_option"), (Answer("text", text=" "), "empty"), (Answer("voice"), "empty")],
)
async def test_an_answer_that_fits_nothing_leaves_the_question_open(kit: RoomEngine, answer: Answer, why: str) -> None:
    async with kit:
        await seated(kit)
        question = await kit.questions.ask(HERE, "g1", Asking("Which?", ("a", "b")))
        verdict = await kit.questions.answer(question.question_id, answer)
        assert (verdict.result, verdict.reason) == ("refused", why)
        assert len(kit.questions.waiting(ROOM)) == 1
        assert (await kit.questions.answer("nobody's", answer)).result == "unknown"


async def test_what_is_put_to_somebody_is_neither_answered_nor_dismissed_by_others(kit: RoomEngine) -> None:
    async with kit:
        await seated(kit)
        question = await kit.questions.ask(HERE, "g1", Asking("Ada?", asked_of=("ada",)))
        assert (
            await kit.questions.answer(question.question_id, Answer("text", text="no", participant_id="bob"))
        ).reason == "not_asked_of"
        assert (await kit.questions.dismiss(question.question_id, None)).reason == "not_asked_of"
        assert (await kit.questions.dismiss(question.question_id, "ada")).taken


async def test_what_may_not_be_asked_is_kept_nowhere(kit: RoomEngine) -> None:
    async with kit:
        await seated(kit)
        with pytest.raises(QuestionRefusedError, match="501 characters"):
            await kit.questions.ask(HERE, "g1", Asking("q" * 501))
        assert await kit.questions.listed() == [] and await told(kit) == []
