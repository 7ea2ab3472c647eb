"""Which written word a spoken word belongs to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.speech.owners import owners
from voiceagent.speech.speakable import speakable


def said(text: str) -> list[tuple[str, list[str]]]:
    """Each written word with what is said for it; a word of which nothing is said is left out."""
    written, spoken = text.split(), speakable(text).split()
    belongs = owners(written, spoken, speakable)
    pairs = [(word, [s for s, at in zip(spoken, belongs, strict=True) if at == number]) for number, word in enumerate(written)]
    return [(word, says) for word, says in pairs if says]


def becomes(text: str) -> list[str]:
    """The written words that are not said as they stand, as "written: said"."""
    return [f"{word}: {' '.join(says)}" for word, says in said(text) if says != [word]]


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("You can keep a book.", []),
        ("It costs $12.50 and that is all.", ["$12.50: twelve dollars and fifty cents"]),
        ("Go 3 km/h, Dr. Smith.", ["3: three", "km/h,: kilometers per hour,", "Dr.: doctor"]),
        ("On November 30, 2026 we close.", ["30,: thirtieth,", "2026: twenty twenty-six"]),
        ("Call 555-1234 or 50 people.", ["555-1234: five five five, one two three four", "50: fifty"]),
        ("**Yes**, [the rules](https://x.org/z) say so.", ["**Yes**,: Yes,", "[the: the", "rules](https://x.org/z): rules"]),
        ("One 🎉 — two.", []),
        ("7", ["7: seven"]),
        ("And and and 5 and and.", ["5: five"]),
    ],
)
def test_a_spoken_word_belongs_to_the_word_it_says(text: str, changed: list[str]) -> None:
    assert becomes(text) == changed


@given(
    st.lists(st.sampled_from(["a", "b", "and", "one", "5", "12.50", "$3", "dr.", "—", "x"]), min_size=1, max_size=12),
    st.lists(st.sampled_from(["a", "b", "and", "one", "five", "twelve", "three", "dollars", ",", "x", "y"]), max_size=20),
)
def test_whatever_is_said_every_word_has_one_owner_and_they_never_go_back(written: list[str], spoken: list[str]) -> None:
    found = owners(written, spoken, speakable)
    assert len(found) == len(spoken)
    assert found == sorted(found)
    assert all(0 <= at < len(written) for at in found)


def test_texts_too_long_to_compare_are_shared_evenly() -> None:
    assert owners(["a", "b"], ["x"] * 40_000, str)[::10_000] == [0, 0, 1, 1]
