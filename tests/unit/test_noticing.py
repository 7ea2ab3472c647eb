"""What the notes brain says to a turn's notes: offers, the rest of a cut answer, its thought."""

import pytest

from voiceagent.llm.notes.facts import Fact
from voiceagent.llm.notes.noticing import (
    accepts,
    asks_for_thought,
    gone_on,
    is_offer,
    key,
    name_in,
    offer,
    think_aloud,
)

WHOLE = "Tomorrow it snows in the morning, and in the afternoon the sky clears. On Monday it rains."


@pytest.mark.parametrize(
    "text",
    ["What are you thinking about?", "Nova, what are you thinking?", "what's on your mind", "What do you think, Nova?",
     "What do you make of it?", "What do you think about that, Nova?"],
)  # fmt: skip
def test_who_asks_for_the_thought(text: str) -> None:
    assert asks_for_thought(text)


@pytest.mark.parametrize("text", ["What do you think the weather will be like?", "I think so.", "What are you open for?"])
def test_who_asks_for_something_else(text: str) -> None:
    assert not asks_for_thought(text)


def test_a_thought_is_said_with_its_wishes() -> None:
    assert think_aloud("They talk.", ("One.", "Two.")) == "They talk. One. Two."
    assert think_aloud(None, ()) == "I have nothing in mind yet."


def test_an_offer_names_the_heading_and_gives_nothing_away() -> None:
    said = offer([Fact("A card costs twelve dollars.", (), "Membership")])
    assert said == "I could tell you about membership. Shall I?"
    assert is_offer(said)
    assert is_offer(offer([Fact("x", (), "")]))
    assert "not there" in offer([])
    assert not is_offer(None)


@pytest.mark.parametrize("text", ["Yes, please.", "Yes please, Nova!", "go ahead", "Sure, tell us", "That would be nice."])
def test_an_offer_is_taken_up(text: str) -> None:
    assert accepts(text, "Nova")


@pytest.mark.parametrize("text", ["", "No, thanks.", "Yes, and what about films?", "Nova?", "Please do not tell us."])
def test_an_offer_is_left(text: str) -> None:
    assert not accepts(text, "Nova")


@pytest.mark.parametrize(
    ("played_ms", "rest"),
    [
        (0, WHOLE),
        (2_500, "As I was saying: and in the afternoon the sky clears. On Monday it rains."),
        (4_700, "As I was saying: On Monday it rains."),
        (60_000, "As I was saying: On Monday it rains."),
    ],
)
def test_a_cut_answer_goes_on_at_a_border(played_ms: int, rest: str) -> None:
    assert gone_on(WHOLE, played_ms) == rest


def test_it_never_goes_on_inside_a_word() -> None:
    for played_ms in range(0, 6_000, 100):
        rest = gone_on(WHOLE, played_ms).removeprefix("As I was saying: ")
        assert WHOLE.endswith(rest)
        before = WHOLE[: len(WHOLE) - len(rest)]
        assert not before or before.endswith(" ")


def test_names_and_keys() -> None:
    assert name_in("You are Nova, a friendly assistant.") == "Nova"
    assert name_in("You are a helper.") == name_in("") == ""
    assert key('The  "big"\nhouse') == "The 'big' house"
