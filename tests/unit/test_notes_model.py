"""The notes brain's judgement, with an embedder that knows only which words two texts share."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from voiceagent.errors import LanguageModelError
from voiceagent.llm.embedding import Vectors
from voiceagent.llm.model import Done, Message, Prompt, TextDelta
from voiceagent.llm.notes import NotesModel, facts
from voiceagent.llm.notes.scale import read, write
from voiceagent.llm.notes.words import content

NOTES = facts.parse(
    """# Harbor Museum
## Hours
- On Monday the doors open at nine.
- On Sunday the doors open at noon.
## Things
- The whale hangs in the great hall, on the second floor.
- Bus 7 stops at the gate.
- A ticket costs five dollars.
- The anchor was given by a captain.
"""
)


class SharedWords:
    """A vector of word counts in 512 places: near when words are shared, and no other meaning."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.full((len(texts), 512), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in content(text):
                row[sum(ord(letter) * 31**place for place, letter in enumerate(word)) % 512] += 1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture(scope="module")
def model() -> NotesModel:
    return NotesModel(NOTES, SharedWords())


def test_a_fact_is_spoken_as_it_is_written(model: NotesModel) -> None:
    assert model.answer("How much is a ticket?") == "A ticket costs five dollars."


def test_the_day_asked_for_is_the_day_answered(model: NotesModel) -> None:
    assert model.answer("When do the doors open on Sunday?") == "On Sunday the doors open at noon."
    assert model.answer("When do the doors open on Tuesday?").startswith("I don't know")


def test_no_day_asked_for_gives_every_day(model: NotesModel) -> None:
    assert model.answer("When do the doors open?") == "On Monday the doors open at nine. On Sunday the doors open at noon."


def test_a_day_alone_follows_the_turn_before(model: NotesModel) -> None:
    assert model.answer("And on Sunday?", "When do the doors open on Monday?") == "On Sunday the doors open at noon."


def test_another_thing_is_not_answered_by_the_same_fact(model: NotesModel) -> None:
    assert model.answer("And a submarine?", "How much is a ticket?").startswith("I don't know")


def test_another_number_is_declined(model: NotesModel) -> None:
    assert model.answer("Does bus 7 stop at the gate?") == "Bus 7 stops at the gate."
    assert model.answer("Does bus 9 stop at the gate?").startswith("I don't know")


def test_a_thing_the_notes_do_not_know_is_declined(model: NotesModel) -> None:
    assert model.answer("Is there a submarine?").startswith("I don't know")
    assert model.answer("How deep is the submarine?").startswith("I don't know")


def test_the_wrong_kind_of_answer_is_declined(model: NotesModel) -> None:
    assert model.answer("How old is the anchor?").startswith("I don't know")


def test_two_questions_are_both_answered_or_the_missing_one_named(model: NotesModel) -> None:
    both = model.answer("When do the doors open on Sunday, and how much is a ticket?")
    assert both == "On Sunday the doors open at noon. A ticket costs five dollars."
    one = model.answer("How much is a ticket? Where is the submarine?")
    assert one == "A ticket costs five dollars. The other thing I don't know."


def test_a_named_day_is_not_answered_by_its_weekday(model: NotesModel) -> None:
    assert model.answer("When do the doors open on Easter Monday?").startswith("I don't know")


def test_damaged_weights_are_named(tmp_path: Path) -> None:
    for text in ("", "{}", '{"columns": []}'):
        (tmp_path / "weights.json").write_text(text)
        with pytest.raises(LanguageModelError, match="weights"):
            read(tmp_path / "weights.json")


def test_weights_are_read_as_they_were_written(tmp_path: Path) -> None:
    scale = read()
    write(scale, tmp_path / "weights.json")
    again = read(tmp_path / "weights.json")
    assert again.threshold == scale.threshold
    assert np.array_equal(again.rank, scale.rank)
    assert np.array_equal(again.gate.inner, scale.gate.inner)


def test_manners(model: NotesModel) -> None:
    assert "Harbor Museum" in model.answer("Hello.")
    assert "hours; and things" in model.answer("What can you do?")
    assert model.answer("Say that again, please.", last="Bus 7 stops at the gate.") == "Bus 7 stops at the gate."


@pytest.mark.parametrize("text", ["", "?" * 5000, "\x00\x1b[2J", "\U0001f433", "a " * 60_000, "<b>whale</b>", "\u202eelahw"])
def test_nothing_said_breaks_it(model: NotesModel, text: str) -> None:
    assert model.answer(text)


def test_the_stream_reads_the_prompts_end_and_keeps_people_apart(model: NotesModel) -> None:
    prompt = Prompt(
        (
            Message("system", "Where is the whale?"),
            Message("user", "Ana: When do the doors open on Monday?", name="Ana"),
            Message("assistant", "On Monday the doors open at nine."),
            Message("user", "Bob: How much is a ticket?", name="Bob"),
            Message("assistant", "A ticket costs five dollars."),
            Message("user", "Ana: And on Sunday?", name="Ana"),
        )
    )

    async def collect() -> list[object]:
        return [chunk async for chunk in model.stream(prompt)]

    assert asyncio.run(collect()) == [TextDelta("On Sunday the doors open at noon."), Done()]
