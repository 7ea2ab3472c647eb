"""The features: always the same number of them, within 0..1, and telling apart what they are for."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.speaking import said, state
from voiceagent.judgment.classifier.features import features, width
from voiceagent.judgment.classifier.view import view


def row(text: str, *before: tuple[str, str], people: tuple[str, ...] = ("Ann", "Bo")) -> list[float]:
    return [float(value) for value in features(view(state("Ann", text, said(*before), people=people)))]


@given(st.text(max_size=80), st.text(max_size=40))
@settings(max_examples=60, deadline=None)
def test_any_turn_has_a_row_of_the_same_width_within_bounds(text: str, before: str) -> None:
    numbers = features(view(state("Ann", text, said(("Bo", before)))))
    assert numbers.shape == (width(),)
    assert np.all((numbers >= 0) & (numbers <= 1))


def test_the_row_does_not_depend_on_the_names() -> None:
    one = features(view(state("Ann", "Nova, what did Bo say?")))
    two = features(view(state("Eva", "Juno, what did Tim say?", people=("Eva", "Tim"), agent="Juno")))
    assert np.array_equal(one, two)


def test_rows_differ_where_the_meaning_does() -> None:
    pairs = [
        ("Nova, what's the time?", "Nova said the time"),
        ("Bo, what's the time?", "Nova, what's the time?"),
        ("send this to the", "send this to the team."),
        ("Nova, keep quiet", "Nova, keep going"),
        ("Nova, tu peux parler", "Nova, tais-toi"),
    ]
    for one, other in pairs:
        assert row(one) != row(other), (one, other)


def test_who_spoke_before_shows() -> None:
    assert row("and tomorrow?", ("Ann", "Nova, today?"), ("Nova", "Sunny.")) != row("and tomorrow?", ("Bo", "Ann, today?"))
    assert row("two eggs") != row("two eggs", people=("Ann",))
