"""Questions about another room: which agents may ask them, a person's Allow first, and the answer to both rooms, once each."""

from pathlib import Path

import pytest

from tests.scenario.rooms import STORES, make_store
from tests.scenario.test_questions import Asker
from voiceagent.errors import QuestionRefusedError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.origin import Origin
from voiceagent.room.questions.elsewhere import OtherRooms
from voiceagent.room.questions.question import Answer, Asking, Question

LEAD = Origin("lead", "nova")
YES = Answer("button", (0,), participant_id="ada")
NO = Answer("button", (1,), participant_id="ada")


@pytest.fixture(params=STORES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def rooms(kit: RoomEngine) -> tuple[Asker, Asker]:
    """Nova leads; rita works in a room that nova started."""
    nova, rita = Asker(), Asker("rita")
    for channel in (nova, rita):
        kit.register_channel(channel)
    await kit.create_room("lead", started_by="ada")
    await kit.create_room("work", started_by="nova", started_in="lead")
    await kit.create_room("strangers", started_by="bob")
    await kit.attach_channel("lead", "nova")
    await kit.attach_channel("work", "rita")
    return nova, rita


def engine(kind: str, folder: Path, policy: OtherRooms) -> RoomEngine:
    return RoomEngine(store=make_store(kind, folder), other_rooms=policy)


def waiting(kit: RoomEngine, room_id: str) -> list[Question]:
    return list(kit.questions.waiting(room_id))


async def test_q38_switched_off_it_is_refused_and_about_its_own_room_nothing_is_needed(kind: str, tmp_path: Path) -> None:
    async with engine(kind, tmp_path, "off") as kit:
        await rooms(kit)
        with pytest.raises(QuestionRefusedError, match="switched off"):
            await kit.questions.ask(LEAD, "g1", Asking("Which?"), about="work")
        assert await kit.questions.listed() == []
        assert (await kit.questions.ask(LEAD, "g1", Asking("Which?"), about="lead")).state == "open"  # Q10
        await kit.store.close()


async def test_q37_only_about_a_room_that_the_agent_works_with(kind: str, tmp_path: Path) -> None:
    async with engine(kind, tmp_path, "allow") as kit:
        await rooms(kit)
        with pytest.raises(QuestionRefusedError, match="do not work with that room"):
            await kit.questions.ask(LEAD, "g1", Asking("Which?"), about="strangers")
        await kit.questions.ask(LEAD, "g1", Asking("Which?"), about="work")
        await kit.attach_channel("strangers", "nova")
        await kit.questions.ask(LEAD, "g1", Asking("Which?"), about="strangers")
        await kit.archive_room("work")
        with pytest.raises(QuestionRefusedError, match="closed for good"):
            await kit.questions.ask(LEAD, "g1", Asking("Which?"), about="work")
        await kit.store.close()


async def test_q42_q43_the_card_is_there_and_both_agents_get_the_answer_once(kind: str, tmp_path: Path) -> None:
    async with engine(kind, tmp_path, "allow") as kit:
        nova, rita = await rooms(kit)
        question = await kit.questions.ask(LEAD, "g1", Asking("Which?", ("a", "b")), about="work")
        assert waiting(kit, "lead") == [] and waiting(kit, "work") == [question]
        assert (await kit.questions.answer(question.question_id, YES)).taken
        assert (await kit.questions.answer(question.question_id, NO)).result == "already_ended"
        assert [(one.asked_in, one.is_copy) for one in nova.told] == [("lead", False)]
        assert [(one.asked_in, one.channel_id, one.is_copy) for one in rita.told] == [("work", "rita", True)]
        await kit.questions.back.told(rita.told[0])
        known = await kit.questions.get(question.question_id)
        assert known is not None and (known.told, known.told_there, known.channel_id) == (False, True, "nova")
        await kit.questions.back.told(nova.told[0])
        for room_id, channel_id in (("lead", "nova"), ("work", "rita")):
            await kit.close_room(room_id)
            await kit.create_room(room_id)
            assert kit.questions.back.take_left(room_id, channel_id) == ()
        await kit.store.close()


async def test_q40_until_a_person_allows_it_no_card_is_there(kind: str, tmp_path: Path) -> None:
    async with engine(kind, tmp_path, "ask") as kit:
        nova, rita = await rooms(kit)
        question = await kit.questions.ask(LEAD, "g1", Asking("Which?", ("a", "b")), about="work")
        (card,) = waiting(kit, "lead")
        assert (question.state, card.kind, card.asking.options) == ("awaiting_allow", "approval", ("Allow", "Refuse"))
        assert card.asking.detail == "Which?\n- a\n- b"
        assert waiting(kit, "work") == []
        assert [one.question_id for one in await kit.questions.listed()] == [card.question_id]
        assert (await kit.questions.answer(question.question_id, YES)).reason == "not_allowed_yet"
        assert (await kit.questions.dismiss(question.question_id, "ada")).reason == "not_allowed_yet"
        assert (await kit.questions.answer(card.question_id, Answer("text", text="sure"))).reason == "choose_an_option"
        assert (await kit.questions.answer(card.question_id, YES)).taken
        assert [one.question_id for one in waiting(kit, "work")] == [question.question_id] and waiting(kit, "lead") == []
        assert nova.told == rita.told == []  # the Allow itself is told to nobody
        assert (await kit.questions.answer(question.question_id, NO)).taken
        assert [one.answer for one in (*nova.told, *rita.told)] == [NO, NO]
        await kit.store.close()


@pytest.mark.parametrize("how", ["refuse", "dismiss"])
async def test_q41_what_is_not_allowed_is_not_asked_and_the_agent_is_told(kind: str, tmp_path: Path, how: str) -> None:
    async with engine(kind, tmp_path, "ask") as kit:
        nova, rita = await rooms(kit)
        question = await kit.questions.ask(LEAD, "g1", Asking("Which?"), about="work")
        (card,) = waiting(kit, "lead")
        if how == "refuse":
            await kit.questions.answer(card.question_id, NO)
        else:
            await kit.questions.dismiss(card.question_id, "ada")
        assert [(one.question_id, one.end) for one in nova.told] == [(question.question_id, "refused")]
        assert rita.told == [] and waiting(kit, "work") == []
        await kit.store.close()


async def test_a_question_taken_back_takes_its_card_along(kind: str, tmp_path: Path) -> None:
    async with engine(kind, tmp_path, "ask") as kit:
        nova, _ = await rooms(kit)
        question = await kit.questions.ask(LEAD, "g1", Asking("Which?"), about="work")
        (card,) = waiting(kit, "lead")
        assert (await kit.questions.withdraw(question.question_id, "lead", "nova")).taken
        assert waiting(kit, "lead") == [] and nova.told == []
        assert (await kit.questions.answer(card.question_id, YES)).result == "already_ended"
        assert waiting(kit, "work") == []
        await kit.store.close()


async def test_over_a_restart_the_card_is_open_and_each_room_is_told_when_it_opens(tmp_path: Path) -> None:
    async with engine("sqlite", tmp_path, "ask") as kit:
        await rooms(kit)
        question = await kit.questions.ask(LEAD, "g1", Asking("Which?"), about="work")
        await kit.store.close()
    async with engine("sqlite", tmp_path, "ask") as kit:
        await kit.create_room("lead")
        (card,) = waiting(kit, "lead")
        await kit.questions.answer(card.question_id, YES)
        assert (await kit.questions.answer(question.question_id, Answer("text", text="b"))).taken
        assert [one.question_id for one in kit.questions.back.take_left("lead", "nova")] == [question.question_id]
        await kit.create_room("work")
        assert [(one.question_id, one.channel_id) for one in kit.questions.back.take_left("work", "rita")] == [
            (question.question_id, "rita")
        ]
        await kit.store.close()


async def test_q28_q29_open_questions_count_for_who_asked_and_where_they_wait(kind: str, tmp_path: Path) -> None:
    async with engine(kind, tmp_path, "allow") as kit:
        await rooms(kit)
        for number in range(20):
            await kit.questions.ask(LEAD, "g1", Asking(f"Number {number}?"), about="work")
        with pytest.raises(QuestionRefusedError, match="20 questions of yours wait"):
            await kit.questions.ask(LEAD, "g1", Asking("Here?"))
        with pytest.raises(QuestionRefusedError, match="20 questions wait in this room already"):
            await kit.questions.ask(Origin("work", "rita"), "g2", Asking("Mine?"))
        await kit.store.close()
