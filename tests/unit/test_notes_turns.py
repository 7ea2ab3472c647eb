"""The notes brain on turns with notes: offers, what follows them, the thought, and going on after a cut."""

import asyncio

import pytest

from tests.unit.test_notes_model import NOTES, SharedWords
from voiceagent.judgment.thought import Thought
from voiceagent.llm.model import CUT_MARK, Message, Prompt, TextDelta
from voiceagent.llm.notes import NotesModel
from voiceagent.llm.turn_notes import OFFER, resume_note

SYSTEM = Message("system", "You are Nova, a friendly voice assistant.")
TICKET = "A ticket costs five dollars."


@pytest.fixture(scope="module")
def model() -> NotesModel:
    return NotesModel(NOTES, SharedWords())


def said(model: NotesModel, *messages: Message) -> str:
    async def collect() -> str:
        return "".join([chunk.text async for chunk in model.stream(Prompt((SYSTEM, *messages))) if isinstance(chunk, TextDelta)])

    return asyncio.run(collect())


def user(text: str, *notes: str, name: str = "Ana") -> Message:
    return Message("user", text, name=name, notes=notes)


def test_an_offer_names_the_heading_only(model: NotesModel) -> None:
    assert said(model, user("How much is a ticket?", OFFER)) == "I could tell you about things. Shall I?"


def test_an_offer_of_what_was_thought(model: NotesModel) -> None:
    wish = Thought("They talk.", (TICKET,)).note()
    assert said(model, user("No idea.", wish, OFFER)) == "I could tell you about things. Shall I?"


def test_an_offer_of_nothing_is_honest(model: NotesModel) -> None:
    assert said(model, user("Is there a submarine?", OFFER)) == "I have looked in my notes, and it is not there."


def test_a_yes_gets_what_was_offered(model: NotesModel) -> None:
    talk = (
        user("How much is a ticket?"),
        user("No idea.", name="Bo"),
        Message("assistant", "I could tell you about things. Shall I?"),
    )
    assert said(model, *talk, user("Yes please, Nova.", name="Bo")) == TICKET
    assert said(model, *talk, user("No, thanks.")) == "You are welcome."
    assert said(model, *talk, user("Does bus 7 stop at the gate?")) == "Bus 7 stops at the gate."


def test_asked_for_its_thought_it_tells_it(model: NotesModel) -> None:
    note = Thought("Ana is talking about this: things.", (TICKET,)).note()
    assert said(model, user("Nova, what are you thinking about?", note)) == f"Ana is talking about this: things. {TICKET}"
    assert said(model, user("What are you thinking about?")) == "I have nothing in mind yet."


def test_called_by_its_name_alone_it_says_what_it_wanted_to(model: NotesModel) -> None:
    note = Thought("They talk.", (TICKET,)).note()
    assert said(model, user("Maybe Nova knows?", note)) == TICKET
    assert said(model, user("Hello.", note)) != TICKET


def test_nobody_s_words_are_spoken_as_a_fact(model: NotesModel) -> None:
    note = Thought("They talk.", ("Tickets are free today.",)).note()
    assert "free" not in said(model, user("Nova?", note))
    assert said(model, user("Nova?", note, OFFER)) == "I have looked in my notes, and it is not there."


def test_a_cut_answer_is_gone_on_with(model: NotesModel) -> None:
    cut = Message("assistant", f"The whale hangs in the great hall, on the second floor.\n{CUT_MARK}")
    assert (
        said(model, user("Where is the whale?"), cut, user("Mm-hm.", resume_note(2_600)))
        == "As I was saying: on the second floor."
    )


def test_without_a_cut_answer_it_does_as_always(model: NotesModel) -> None:
    assert said(model, user("Okay.", resume_note(2_200))) == "All right."


def test_the_mark_of_a_cut_is_never_spoken(model: NotesModel) -> None:
    cut = Message("assistant", f"Bus 7 stops at the gate.\n{CUT_MARK}")
    assert said(model, user("Which bus?"), cut, user("Say that again, please.")) == "Bus 7 stops at the gate."


def test_a_language_s_note_changes_nothing(model: NotesModel) -> None:
    assert said(model, user("How much is a ticket?", "Answer in English only.")) == TICKET
