"""What notes make of talk, with an embedder that knows only which words two texts share; and the thought made of it."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from voiceagent.judgment.notes_thinker import NotesThinker
from voiceagent.judgment.thinker import Heard
from voiceagent.judgment.thought import Thought
from voiceagent.llm.embedding import Vectors
from voiceagent.llm.model import Message
from voiceagent.llm.notes import facts
from voiceagent.llm.notes.pondering import Line, Pondered, Pondering
from voiceagent.llm.notes.words import content

NOTES = facts.parse(
    """# Harbor Museum
## Prices
- A museum ticket costs five dollars.
## Sights
- The whale hangs in the great hall.
"""
)
TICKET, WHALE = NOTES.facts


class SharedWords:
    """Near when words are shared."""

    def __init__(self) -> None:
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        rows = np.full((len(texts), 512), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in content(text):
                row[sum(ord(letter) * 31**place for place, letter in enumerate(word)) % 512] += 1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def found(text: str, before: str | None) -> list[int]:
    return [0] if "ticket" in text else [1] if "whale" in text else []


@pytest.fixture
def embedder() -> SharedWords:
    return SharedWords()


@pytest.fixture
def pondering(embedder: SharedWords) -> Pondering:
    return Pondering(NOTES, embedder, found)


def test_a_question_put_to_somebody_else_is_answered_in_thought(pondering: Pondering) -> None:
    assert pondering.ponder([Line("Ana", "Bo, what does a ticket cost?")]) == Pondered("Prices", (TICKET,), (), "Ana", None)


def test_searching_without_asking_counts_too(pondering: Pondering) -> None:
    assert pondering.ponder([Line("Bo", "I have no idea where the whale is.")]).answers == (WHALE,)


def test_it_stays_wanted_while_the_two_go_on_searching(pondering: Pondering) -> None:
    talk = [Line("Ana", "What does a ticket cost?"), Line("Bo", "No idea."), Line("Ana", "Hm.")]
    assert pondering.ponder(talk).answers == (TICKET,)


@pytest.mark.parametrize(
    "told", [Line(None, TICKET.text), Line("Bo", "Five dollars, I think."), Line("Bo", "A museum ticket costs five.")]
)
def test_what_has_been_said_since_is_not_wanted(pondering: Pondering, told: Line) -> None:
    assert pondering.ponder([Line("Ana", "What does a ticket cost?"), told]).answers == ()


def test_a_wrong_number_is_corrected(pondering: Pondering) -> None:
    made = pondering.ponder([Line("Bo", "A museum ticket costs nine dollars.")])
    assert (made.corrects, made.teller, made.topic) == ((TICKET,), "Bo", "Prices")
    assert pondering.ponder([Line("Bo", "A museum ticket costs five dollars.")]).corrects == ()


def test_other_talk_brings_nothing_up(pondering: Pondering) -> None:
    assert pondering.ponder([Line("Ana", "My brother sold nine boats for three dollars.")]) == Pondered()
    assert pondering.ponder([]) == Pondered()


def test_what_was_looked_up_is_not_looked_up_again(pondering: Pondering, embedder: SharedWords) -> None:
    talk = [Line("Ana", "The whale is big."), Line("Bo", "It hangs there.")]
    pondering.ponder(talk)
    before = embedder.texts
    pondering.ponder([*talk, Line("Ana", "Yes, the great hall.")])
    assert embedder.texts == before + 1


class Book:
    """Notes that make of any talk what a test says."""

    def __init__(self, pondered: Pondered) -> None:
        self.pondered = pondered
        self.talks: list[Sequence[Line]] = []

    async def ponder(self, talk: Sequence[Line]) -> Pondered:
        self.talks.append(talk)
        return self.pondered


def thought(pondered: Pondered, *messages: Message) -> tuple[Thought, Sequence[Line]]:
    book = Book(pondered)
    made = asyncio.run(NotesThinker(book).think(Heard("You are Nova.", messages), Thought("before", ("old",))))
    return made, book.talks[0]


def test_the_thought_names_the_topic_and_the_people_and_wants_facts_as_written() -> None:
    talk = (Message("user", "What does a ticket cost?", name="Ana"), Message("user", "Nine dollars.", name="Bo"))
    made, _ = thought(Pondered("Prices", (WHALE,), (TICKET,), "Ana", "Bo"), *talk)
    assert made.text == (
        "Ana and Bo are talking about this: prices. My notes say otherwise than Bo. "
        "Ana would like to know something that is in my notes."
    )
    assert made.want_to_say == (TICKET.text, WHALE.text)
    assert not made.urgent


def test_nothing_found_is_a_thought_without_wishes() -> None:
    made, _ = thought(Pondered(), Message("user", "Lovely.", name="Ana"))
    assert made == Thought("Ana is talking about something that is not in my notes.")


def test_the_agent_s_own_words_are_no_person_s_and_tools_are_left_out() -> None:
    messages = (Message("user", "Hi", name="Ana"), Message("assistant", "Hello."), Message("tool", "x", tool_call_id="1"))
    made, talk = thought(Pondered(), *messages)
    assert talk == [Line("Ana", "Hi"), Line(None, "Hello.")]
    assert made.text.startswith("Ana is")
    assert thought(Pondered(), Message("user", "do it", instruction=True))[0] == Thought()
