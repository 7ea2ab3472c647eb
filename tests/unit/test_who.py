"""Whose a voice is: by table, on made prints."""

import math

import numpy as np
import pytest

from voiceagent.errors import ConfigError
from voiceagent.speech.settings import VoicesSettings
from voiceagent.speech.traits import Print, Timbre, Traits, unit
from voiceagent.speech.voicebook import Known
from voiceagent.voice.who import MOST_STRANGERS, NOT_TOLD, Company, Found, Speaker, Who

SETTINGS = VoicesSettings(likeness=0.8, least_ms=600)


def voice(axis: int, towards: int = 0, likeness: float = 1.0) -> Print:
    """A print along one axis, so like to that as said, and else like another's."""
    made = np.zeros(256, dtype=np.float32)
    made[axis] = likeness
    made[towards] += math.sqrt(1 - likeness * likeness)
    return unit(made)


def said(print: Print, voice_ms: int = 2_000, level: float = -20.0) -> Traits:
    return Traits(print, Timbre(level, 8_000), voice_ms)


def company(*known: tuple[str, int]) -> Company:
    people = [Known(name, (voice(axis),)) for name, axis in known]
    return Company(lambda: people, SETTINGS)


@pytest.mark.parametrize(
    ("likeness", "found"),
    [(1.0, Found("Ana", known=True)), (0.81, Found("Ana", known=True)), (0.79, Found("voice 1"))],
)
def test_a_known_person_is_named_when_alike_enough(likeness: float, found: Found) -> None:
    assert company(("Ana", 1), ("Ben", 2)).name(said(voice(1, 9, likeness))) == found


def test_the_most_alike_of_two_known_people_it_is() -> None:
    between = unit(voice(1) * 0.75 + voice(2) * 0.66)
    loose = Company(lambda: [Known("Ben", (voice(2),)), Known("Ana", (voice(1),))], VoicesSettings(likeness=0.6))
    assert loose.name(said(between)) == Found("Ana", known=True)


def test_strangers_keep_their_numbers() -> None:
    room = company(("Ana", 1))
    order = [3, 4, 3, 1, 5, 4]
    names = [found.name for axis in order if (found := room.heard(said(voice(axis, 9, 0.95)))) is not None]
    assert names == ["voice 1", "voice 2", "voice 1", "Ana", "voice 3", "voice 2"]


def test_guessing_changes_nothing() -> None:
    room = company()
    assert [room.name(said(voice(axis))) for axis in (3, 4)] == [Found("voice 1")] * 2


@pytest.mark.parametrize(("voice_ms", "found"), [(599, None), (600, Found("voice 1"))])
def test_too_little_voice_makes_nobody_new(voice_ms: int, found: Found | None) -> None:
    room = company()
    assert room.heard(said(voice(3), voice_ms)) == found
    assert room.heard(said(voice(4))) == Found("voice 2" if found else "voice 1")


def test_a_short_word_of_somebody_who_was_heard_is_theirs_and_teaches_nothing() -> None:
    room = company()
    room.heard(said(voice(3)))
    for _ in range(20):
        assert room.heard(said(voice(3, 4, 0.85), 300)) == Found("voice 1")
    assert room.name(said(voice(3, 5, 0.85))) == Found("voice 1")


def test_a_stranger_who_changes_slowly_is_followed() -> None:
    room = company()
    for turned in (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65):
        assert room.heard(said(voice(3, 4, turned))) == Found("voice 1")
    assert float(voice(3) @ voice(3, 4, 0.65)) < SETTINGS.likeness, "which the first print alone would not have done"


def test_known_people_do_not_drift() -> None:
    room = company(("Ana", 1))
    for _ in range(50):
        room.heard(said(voice(1, 2, 0.81)))
    assert room.name(said(voice(1, 2, 0.7))) == Found("voice 1")


def test_past_the_most_strangers_the_nearest_it_is() -> None:
    room = company()
    for axis in range(MOST_STRANGERS):
        room.heard(said(voice(axis)))
    assert room.heard(said(voice(100, 7, 0.9))) == Found("voice 8")


def test_people_who_are_enrolled_meanwhile_are_known_at_their_next_word() -> None:
    people: list[Known] = []
    room = Company(lambda: people, SETTINGS)
    room.heard(said(voice(1)))
    people.append(Known("Ana", (voice(1),)))
    assert room.heard(said(voice(1))) == Found("Ana", known=True)
    people.clear()
    assert room.heard(said(voice(1))) == Found("voice 1")


def test_a_damaged_book_knows_nobody_and_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    def known() -> list[Known]:
        raise ConfigError("torn")

    room = Company(known, SETTINGS)
    assert [room.heard(said(voice(3))) for _ in range(3)] == [Found("voice 1")] * 3
    assert [record.getMessage() for record in caplog.records] == ["degraded: nobody is known by voice: torn"]


def test_who_names_nobody_where_nothing_was_read() -> None:
    who = Who(company())
    assert (who.guess(None), who.heard(None)) == (NOT_TOLD, NOT_TOLD)


def test_who_gives_the_name_and_the_chance_of_a_loudspeaker() -> None:
    who = Who(company(("Ana", 1)))
    assert who.heard(said(voice(1))) == who.guess(said(voice(1))) == Speaker("Ana", 0.18)


def test_who_measures_loudness_by_the_people_it_knows() -> None:
    heard = [who.guess(said(voice(3), level=-35.0)).loudspeaker for who in (Who(company(("Ana", 1))), _after_ana())]
    assert heard[0] is not None and heard[1] is not None
    assert heard[1] > heard[0]


def _after_ana() -> Who:
    who = Who(company(("Ana", 1)))
    who.heard(said(voice(1), level=-15.0))
    return who
