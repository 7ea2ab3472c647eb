"""Agents that ask about rooms of a paired host: kept there, asked after from here, each answer brought once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.scenario.rooms import ROOM
from tests.scenario.test_paired_hosts import AT, POLL_MS, UNPAIRED, Net, entry
from tests.scenario.test_questions import Asker
from voiceagent.errors import QuestionRefusedError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.origin import Origin
from voiceagent.room.pairings.memory import MemoryPairings
from voiceagent.room.pairings.pairing import Level, Pairing, sealed
from voiceagent.room.questions.elsewhere import OtherRooms
from voiceagent.room.questions.question import Answer, Asking, Kind, Question
from voiceagent.web.pairing.caller import Reply
from voiceagent.web.pairing.codes import Codes
from voiceagent.web.pairing.errands import Errands
from voiceagent.web.pairing.pairs import Own, Pairs
from voiceagent.web.reach import Reach
from voiceagent.web.standing import Standing

HERE = Origin(ROOM, "nova")
TICK_S = POLL_MS / 1000


class There:
    """A room with an agent, on a host that is paired with bern."""

    def __init__(self, kit: RoomEngine, nova: Asker, net: Net, pairs: Pairs) -> None:
        self.kit, self.nova, self.net, self.pairs = kit, nova, net, pairs

    async def ask(self, about: str = "bern/den") -> Question:
        return await self.kit.questions.ask(HERE, "g1", Asking("Tea?", ("yes", "no")), about=about)

    def says(self, **more: Any) -> None:
        self.net.says["bern"] = Reply(200, {"question": entry("q", **more)})


@asynccontextmanager
async def asking(policy: OtherRooms = "allow", granted: Level = "prompt") -> AsyncIterator[There]:
    net, rows, nova = Net(), MemoryPairings(), Asker()
    await rows.put(Pairing("p", "bern", "https://bern.example.org", "read", granted, AT, shown="ours", expected=sealed("theirs")))
    async with RoomEngine(other_rooms=policy) as kit:
        pairs = Pairs(rows, net, Codes(1), Own("riga", "https://riga.example.org"), kit.questions.exchange.unpaired)
        kit.register_channel(nova)
        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "nova")
        async with Errands(kit, pairs, net, POLL_MS):
            yield There(kit, nova, net, pairs)


@pytest.mark.parametrize(
    ("policy", "granted", "about", "why"),
    [
        ("allow", "read", "bern/den", "lets agents of this one read alone"),
        ("off", "prompt", "bern/den", "switched off"),
        ("allow", "prompt", "oslo/den", "do not work with that room"),
        ("allow", "prompt", "bern/", "do not work with that room"),
    ],
)
async def test_q39_asking_there_needs_the_level_and_a_pairing(policy: OtherRooms, granted: Level, about: str, why: str) -> None:
    async with asking(policy, granted) as there:
        with pytest.raises(QuestionRefusedError, match=why):
            await there.ask(about)
        await asyncio.sleep(3 * TICK_S)
        assert there.net.asked == []


async def test_q44_to_q46_it_is_asked_after_while_it_is_open_whatever_fails_and_no_longer_once_it_ended() -> None:
    async with asking() as there:
        question = await there.ask()
        await asyncio.sleep(2.5 * TICK_S)
        assert len(there.net.asked) == 3
        (body, *again) = there.net.bodies
        assert again == [body, body]
        assert (body["question_id"], body["room"], body["question"]) == (question.question_id, "den", "Tea?")
        for reply in (Reply(503, None), Reply(200, []), Reply(200, {"question": {"state": "answered"}})):
            there.net.says["bern"] = reply
            await asyncio.sleep(TICK_S)
        there.says(state="answered", end="answered", answer={"via": "button", "options": [7]})
        await asyncio.sleep(TICK_S)
        known = await there.kit.questions.get(question.question_id)
        assert known is not None and known.is_open and there.nova.told == []
        there.says(state="answered", end="answered", answer={"via": "voice", "options": [1], "name": "Anna"})
        await asyncio.sleep(TICK_S)
        assert [one.answer for one in there.nova.told] == [Answer("voice", (1,), host="bern", name="Anna")]
        count = len(there.net.asked)
        await asyncio.sleep(10 * TICK_S)
        assert len(there.net.asked) == count and len(there.nova.told) == 1


async def test_a_reference_is_listed_nowhere_here_and_answered_by_nobody_here() -> None:
    async with asking() as there:
        question = await there.ask()
        assert not Reach(None, Standing(host=True)).sees(question)
        assert there.kit.questions.waiting(ROOM) == ()


@pytest.mark.parametrize("ending", ["withdrawn", "room_closed"])
async def test_what_ends_there_without_a_person_ends_here_silently(ending: str) -> None:
    async with asking() as there:
        question = await there.ask()
        there.says(state="withdrawn" if ending == "withdrawn" else "ended", end=ending)
        await asyncio.sleep(2 * TICK_S)
        known = await there.kit.questions.get(question.question_id)
        assert known is not None and known.end == ending and there.nova.told == []


async def test_what_is_withdrawn_here_is_withdrawn_there_as_soon_as_it_can_be_told() -> None:
    async with asking() as there:
        question = await there.ask()
        await asyncio.sleep(0.1)
        assert (await there.kit.questions.withdraw(question.question_id, ROOM, "nova")).taken
        await asyncio.sleep(2 * TICK_S)
        there.net.says["bern"] = Reply(204, None)
        await asyncio.sleep(TICK_S)
        methods = [method for _, method, _ in there.net.asked]
        assert methods[0] == "POST" and set(methods[1:]) == {"DELETE"} and len(methods) > 2
        await asyncio.sleep(10 * TICK_S)
        assert len(there.net.asked) == len(methods)


async def test_a_host_that_does_not_take_it_ends_it_and_the_agent_is_told() -> None:
    async with asking() as there:
        await there.ask()
        there.net.says["bern"] = Reply(409, {"error": "there is no such room"})
        await asyncio.sleep(TICK_S)
        assert [(one.state, one.end) for one in there.nova.told] == [("ended", "refused")]


@pytest.mark.parametrize("by", ["here", "there"])
async def test_q34_the_end_of_the_pairing_ends_it_silently(by: str) -> None:
    async with asking() as there:
        question = await there.ask()
        await asyncio.sleep(0.1)
        if by == "here":
            await there.pairs.end("bern")
        else:
            there.net.says["bern"] = UNPAIRED
            await asyncio.sleep(2 * TICK_S)
        known = await there.kit.questions.get(question.question_id)
        assert known is not None and (known.state, known.end) == ("ended", "unpaired")
        assert there.nova.told == []


async def test_q40_where_a_person_must_allow_it_nothing_is_sent_before() -> None:
    async with asking("ask") as there:
        await there.ask()
        await asyncio.sleep(2 * TICK_S)
        assert there.net.asked == []
        (card,) = there.kit.questions.waiting(ROOM)
        await there.kit.questions.answer(card.question_id, Answer("button", (0,), participant_id="ada"))
        await asyncio.sleep(TICK_S)
        assert there.net.asked != []


async def test_q43_what_another_host_asks_is_put_up_once_and_its_room_is_told_of_the_answer() -> None:
    async with asking() as there:
        desk = there.kit.questions
        question = Question("far", ROOM, ROOM, "oslo/nova", "g9", Asking("Tea?", ("yes",)), AT, asked_from="p")
        for _ in range(3):
            assert await desk.exchange.take_up(question) == question
        assert [one.question_id for one in desk.waiting(ROOM)] == ["far"]
        for bad, why in (
            (replace(question, question_id="b", room_id="nowhere", asked_in="nowhere"), "no such room"),
            (replace(question, question_id="c", asking=Asking("")), "empty"),
        ):
            with pytest.raises(QuestionRefusedError, match=why):
                await desk.exchange.take_up(bad)
        await desk.answer("far", Answer("button", (0,), participant_id="ada"))
        assert [(one.is_copy, one.channel_id) for one in there.nova.told] == [(True, "nova")]
        assert (await desk.exchange.take_up(question)).state == "answered"


async def test_q34_what_another_host_asks_ends_with_its_pairing() -> None:
    async with asking() as there:
        desk = there.kit.questions
        await desk.exchange.take_up(Question("far", ROOM, ROOM, "oslo/nova", "g9", Asking("Tea?"), AT, asked_from="p"))
        await there.pairs.end("bern")
        known = await desk.get("far")
        assert known is not None and known.end == "unpaired"
        assert there.nova.told == []


@pytest.mark.parametrize("kind", ["blocking", "approval"])
async def test_q48_nothing_that_an_agent_waits_for_is_ended_from_a_paired_host(kind: Kind) -> None:
    async with asking() as there:
        desk = there.kit.questions
        card = await desk.ask(HERE, "g1", Asking("May I?", ("Allow", "Refuse")), kind=kind)
        for verdict in (
            await desk.answer(card.question_id, Answer("button", (0,), host="bern")),
            await desk.dismiss(card.question_id, None, host="bern"),
        ):
            assert (verdict.result, verdict.reason) == ("refused", "not_from_afar")
        assert there.nova.told == []
        assert (await desk.answer(card.question_id, Answer("button", (0,), participant_id="ada"))).taken


async def test_a_question_put_to_somebody_is_not_ended_from_a_paired_host() -> None:
    async with asking() as there:
        desk = there.kit.questions
        question = await desk.ask(HERE, "g1", Asking("Tea?", asked_of=("ada",)))
        assert (
            await desk.answer(question.question_id, Answer("text", text="x", host="bern", name="ada"))
        ).reason == "not_asked_of"
        assert (await desk.dismiss(question.question_id, None, host="bern", name="ada")).reason == "not_asked_of"
