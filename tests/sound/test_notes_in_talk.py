"""Without any key: two people search, the agent looks up, raises its hand, and gives the fact when they say yes."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from tests.scenario.deciding import Watch, people, spoken
from tests.scenario.rooms import Door, say, seat, settled
from voiceagent import weights
from voiceagent.agent.channel import AIChannel
from voiceagent.errors import ModelError
from voiceagent.judgment.classifier.question import Answer, Answers, Question, ScoreAnswer, State, YesNoAnswer
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.notes_thinker import NotesThinker
from voiceagent.llm.embedding import MiniLM
from voiceagent.llm.notes import NotesModel
from voiceagent.room.engine import RoomEngine

ROOT = Path(__file__).resolve().parents[2]
FILMS = "Books may be kept for four weeks, and films for one week."


class Plain:
    """Judges by what is plain: the agent's name, a yes, and a wish of the agent's own."""

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        last = state["last_turn"]
        assert isinstance(last, dict)
        text = str(last["text"]).lower()
        chances = {"answers": 0.9, "answered": 0.9 if text.startswith("yes") else 0.0, "request": 0.9 if "nova" in text else 0.0}
        found: dict[str, Answer] = {name: YesNoAnswer(chances.get(name, 0.0)) for name in questions}
        return Answers(found | {"directness": ScoreAnswer(3.0 if "nova" in text else 0.0)})

    async def close(self) -> None: ...


@pytest.fixture(scope="module")
def model() -> NotesModel:
    try:
        embedder = MiniLM(weights.path("all-MiniLM-L6-v2"))
    except ModelError as error:
        pytest.skip(str(error))
    return NotesModel.from_file(ROOT / "config" / "notes.md", embedder)


@pytest_asyncio.fixture
async def talk(model: NotesModel) -> AsyncIterator[tuple[RoomEngine, Door, Watch]]:
    async with RoomEngine() as kit:
        policy = ClassifierSpeakPolicy(Plain(), agent_name="Nova")
        nova = AIChannel("assistant", provider=model, speak_policy=policy, thinker=NotesThinker(model))
        await seat(kit, door := Door(), nova)
        await people(kit, "Ana", "Bo")
        yield kit, door, Watch(kit)


async def hears(kit: RoomEngine, *said: str) -> None:
    for text in said:
        await say(kit, text, sender="bo" if text.startswith("Bo: ") else "ana")
        await settled(5_000)


async def test_a_fact_that_two_people_search_for_is_offered_and_given(talk: tuple[RoomEngine, Door, Watch]) -> None:
    kit, door, watch = talk
    await hears(kit, "Do you know how long we can keep the films?")
    assert spoken(door) == ["I could tell you about borrowing. Shall I?"]
    assert watch.modes == [("silent", "not addressed"), ("offer", "has something to add")]
    await hears(kit, "Yes, please.")
    assert spoken(door)[-1] == FILMS


async def test_a_wrong_price_raises_its_hand_too(talk: tuple[RoomEngine, Door, Watch]) -> None:
    kit, door, watch = talk
    await hears(kit, "I think a library card costs twenty dollars a year.")
    assert watch.thoughts[0].thought.want_to_say == (
        "Membership is free for children and for students. Everyone else pays twelve dollars a year.",
    )
    assert spoken(door) == ["I could tell you about membership. Shall I?"]


async def test_talk_about_something_else_is_left_alone_and_told_when_asked(talk: tuple[RoomEngine, Door, Watch]) -> None:
    kit, door, _ = talk
    await hears(kit, "Did you see the match last night?", "Bo: Yes, what a goal!", "Bo: My cousin was there.")
    assert spoken(door) == []
    await hears(kit, "Nova, what are you thinking about?")
    assert spoken(door) == ["Ana and Bo are talking about something that is not in my notes."]
