"""Questions as they are said, and the waiting for a free floor."""

import asyncio
from datetime import UTC, datetime

import pytest

from voiceagent.room.questions.aloud import Aloud, Proposal
from voiceagent.room.questions.question import Asking, Question
from voiceagent.voice.questions import spoken_form
from voiceagent.voice.quiet import Quiet


def question(asked: str, *options: str, detail: str | None = None) -> Question:
    asking = Asking(asked, options, detail=detail)
    return Question("q1", "r", "r", "assistant", "g1", asking, datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("asked", "options", "language", "said"),
    [
        ("Which day?", (), "en", "Which day?"),
        ("Shall I go on", ("yes", "no"), "en", "Shall I go on? Yes, or no?"),
        ("Say when.", ("at noon.",), "en", "Say when. At noon?"),
        ("Which?", ("a", "b", "c"), "en", "Which? A, b, or c?"),
        ("Which?", ("a", "b", "c", "d", "e"), "en", "Which? A, b, c, or something else?"),
        ("Quel jour vous convient ?", ("lundi", "mardi"), "fr", "Quel jour vous convient ? Lundi, ou mardi?"),
        ("¿Qué día?", ("lunes", "martes", "jueves", "viernes"), "es", "¿Qué día? Lunes, martes, jueves, u otra cosa?"),
        ("Quel est le jour que vous voulez ?", ("lundi", "mardi"), "auto", "Quel est le jour que vous voulez ? Lundi, ou mardi?"),
        ("Was nun?", ("ja", "nein"), "de", "Was nun? Ja, or nein?"),
    ],
)
def test_a_question_is_said_with_three_options_at_most(asked: str, options: tuple[str, ...], language: str, said: str) -> None:
    assert spoken_form(question(asked, *options, detail="never said"), language) == said


def test_what_was_read_back_to_a_person_is_theirs_once_and_goes_with_its_question() -> None:
    aloud = Aloud()
    first, second = Proposal("q1", "ann", "i1", 0), Proposal("q1", "ann", "i2", 1)
    aloud.propose(first)
    aloud.propose(second)
    aloud.propose(Proposal("q2", "ben", "i3", 0))
    assert aloud.take("bob") is None
    assert aloud.take("ann") == second and aloud.take("ann") is None
    aloud.last = "q1"
    aloud.ended("q2")
    assert aloud.take("ben") is None and aloud.last == "q1"
    aloud.ended("q1")
    assert aloud.last is None


async def test_who_waits_for_a_free_floor_hears_of_every_change_and_of_no_other() -> None:
    rest = Quiet()
    assert rest.free
    rest.note(idle=True, voices=False)
    assert await rest.lasts(10)
    waiting = asyncio.create_task(rest.lasts(1_000))
    await asyncio.sleep(0)
    rest.note(idle=True, voices=True)
    assert [await waiting, rest.free] == [False, False]
    rest.note(idle=False, voices=False)
    idle = asyncio.create_task(rest.until_idle())
    await asyncio.sleep(0)
    assert not idle.done()
    rest.note(idle=True, voices=False)
    await idle
    rest.end()
    assert rest.over
