"""Names are data: cleaned, bounded, told apart; keys become ids that give nothing away."""

import pytest

from voiceagent.web.names import check_room, clean_name, distinct_name, participant_id
from voiceagent.web.refusal import Refused


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("Anna", "Anna"),
        ("  Anna \t\n Maria ", "Anna Maria"),
        ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
        ("nna\u202egpj.exe", "nnagpj.exe"),
        ("a\u2066b\u2069\u200b\u200f\ufeffc", "abc"),
        ("A\x00\x1b[31mB", "A[31mB"),
        ("🦊 Fox", "🦊 Fox"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("a\u200db", "ab"),
        ("Z" + "\u0301\u0302\u0303\u0304\u0305\u0306", "\u0179\u0302\u0303"),
        ("שרה", "שרה"),
        ("\u202e\u200b", "Guest"),
        ("", "Guest"),
        ("x" * 1000, "x" * 64),
    ],
)
def test_clean_name(given: str, shown: str) -> None:
    assert clean_name(given) == shown


@pytest.mark.parametrize("alike", ["Anna", "anna", "А\u043dna", "Аnna", "Ａｎｎａ", "A\u0301nna"])
def test_look_alikes_are_numbered(alike: str) -> None:
    taken = ["Anna", "Bob"] if alike != "А\u043dna" else ["Ahna"]
    assert distinct_name(alike, taken).endswith(" (2)")


def test_other_names_stay_as_they_are() -> None:
    assert distinct_name("Carla", ["Anna", "Bob"]) == "Carla"
    assert distinct_name("Anna", ["Anna", "Anna (2)"]) == "Anna (3)"


@pytest.mark.parametrize("room", ["", "a" * 65, "../x", "a b", "ä", "a/b", "a\n"])
def test_rooms_that_cannot_be_named(room: str) -> None:
    with pytest.raises(Refused) as refused:
        check_room(room)
    assert refused.value.status == 404


def test_a_key_is_the_same_person_each_time_and_stays_secret() -> None:
    key = "k" * 32
    assert participant_id(key) == participant_id(key) != participant_id("j" * 32)
    assert key not in participant_id(key)
    for bad in ("short", "x" * 65, "k" * 31 + "!"):
        with pytest.raises(Refused):
            participant_id(bad)
