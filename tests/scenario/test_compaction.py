"""A long conversation goes on under a summary by the agent's model, and so do its open questions."""

from pathlib import Path

import pytest

from tests.scenario.rooms import ROOM, STORES, Door, make_store, rows, say, seat, settled
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.compactor import INSTRUCTIONS
from voiceagent.agent.settings import AgentSettings
from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Done, Prompt, TextDelta
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventType
from voiceagent.room.origin import Origin
from voiceagent.room.questions.question import Answer, Asking


class Notekeeper:
    """Answers each turn shortly, and a wish for notes with notes, or not at all."""

    name = "notekeeper"

    def __init__(self, *, fails: bool = False) -> None:
        self.turns: list[Prompt] = []
        self.summaries: list[Prompt] = []
        self._fails = fails

    async def stream(self, prompt: Prompt):  # type: ignore[no-untyped-def]  # an async generator
        if prompt.messages[0].content == INSTRUCTIONS:
            self.summaries.append(prompt)
            if self._fails:
                raise LanguageModelError("no")
            yield TextDelta(f"Notes {len(self.summaries)}.")
        else:
            self.turns.append(prompt)
            yield TextDelta("Fine.")
        yield Done()


@pytest.fixture(params=STORES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def agent(model: Notekeeper, after: int = 12) -> AIChannel:
    return AIChannel("assistant", provider=model, system_prompt="Be brief.", settings=AgentSettings(compact_after=after))


async def talk(kit: RoomEngine, first: int, last: int) -> None:
    for number in range(first, last):
        await say(kit, f"Message {number}.")
        await settled(1_000)


def read(prompt: Prompt) -> list[str]:
    return [message.content for message in prompt.messages[1:]]


async def test_q33_the_successor_reads_notes_and_its_open_question_goes_on(kind: str, tmp_path: Path) -> None:
    model = Notekeeper()
    async with RoomEngine(store=make_store(kind, tmp_path)) as kit:
        await seat(kit, Door(), agent(model))
        question = await kit.questions.ask(Origin(ROOM, "assistant"), "g1", Asking("Tea?"))
        await talk(kit, 0, 7)
        assert len(model.summaries) == 1 and "Message 0." in read(model.summaries[0])[0]
        (record,) = [event for event in await rows(kit) if event.type is EventType.SYSTEM]
        assert record.content.body == f"Notes 1.\nYou asked people, as question {question.question_id}: Tea?"
        await talk(kit, 7, 8)
        texts = read(model.turns[-1])
        assert "Notes 1." in texts[0] and texts[-1] == "Message 7."
        assert not any("Message 0." in text for text in texts) and "Message 6." in texts
        (moved,) = kit.questions.waiting(ROOM)
        assert (moved.question_id, moved.moved_from) == (question.question_id, ROOM)
        await talk(kit, 8, 12)
        assert len(model.summaries) == 2 and "Earlier notes: Notes 1." in read(model.summaries[1])[0]
        (moved,) = kit.questions.waiting(ROOM)
        assert (moved.question_id, moved.moved_from) == (question.question_id, record.id)
        await kit.close_room(ROOM)
        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "text")
        await kit.attach_channel(ROOM, "assistant")
        await talk(kit, 12, 13)
        assert "Notes 2." in read(model.turns[-1])[0]
        assert (await kit.questions.answer(question.question_id, Answer("text", text="yes"))).taken
        await settled(1_000)
        texts = read(model.turns[-1])
        assert "Notes 2." in texts[0] and question.question_id in texts[0]
        assert texts[-1].startswith("question_answered: ") and "own words: yes" in texts[-1]
        await kit.store.close()


@pytest.mark.parametrize(("fails", "after"), [(True, 12), (False, 0)])
async def test_a_model_that_fails_and_a_bound_that_is_off_leave_the_conversation_as_it_is(*, fails: bool, after: int) -> None:
    model = Notekeeper(fails=fails)
    async with RoomEngine() as kit:
        await seat(kit, Door(), agent(model, after))
        await talk(kit, 0, 12)
        assert "Message 0." in read(model.turns[-1])
        assert len(model.summaries) == (2 if fails else 0)
        assert not [event for event in await rows(kit) if event.type is EventType.SYSTEM]
