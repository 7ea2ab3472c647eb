"""Questions that their own words settle: when and where the house is, and what one fact alone speaks of."""

import pytest

from voiceagent.llm.notes.facts import parse
from voiceagent.llm.notes.plain import Plain

NOTES = parse(
    """# Harbour Museum

## Opening hours
- From Tuesday to Friday the museum is open from ten until five.
- On Sunday we are open from noon until six.
- On Monday we are closed.
- The harbour crane opens its cabin to visitors in July.

## Finding us
- The museum is at 3 Quay Street, next to the fish market.

## Printing and copies
- Prints of any photograph cost four euros.
- Copies are made at the desk.

## Cafe
- Cake costs three euros.
- Coffee costs two euros.
"""
)


def said(numbers: list[int]) -> list[str]:
    return [NOTES.facts[number].text.split()[0] + " " + NOTES.facts[number].text.split()[1] for number in numbers]


@pytest.mark.parametrize(
    ("question", "first_words"),
    [
        ("What are your opening hours?", ["From Tuesday", "On Sunday", "On Monday"]),
        ("opening hours", ["From Tuesday", "On Sunday", "On Monday"]),
        ("When are you open?", ["From Tuesday", "On Sunday", "On Monday"]),
        ("Is the museum open on Sunday?", ["On Sunday"]),
        ("When do you close on a Thursday?", ["From Tuesday"]),
        ("Are you open on Good Friday?", []),
        ("When does the crane open?", []),
        ("Where are you?", ["The museum"]),
        ("What is your address?", ["The museum"]),
        ("Where is the toilet?", []),
    ],
)
def test_the_house(question: str, first_words: list[str]) -> None:
    assert said(Plain(NOTES).house(question)) == first_words


@pytest.mark.parametrize(
    ("question", "first_words"),
    [
        ("What does cake cost?", ["Cake costs"]),
        ("How much is a coffee?", ["Coffee costs"]),
        ("Can I print something?", ["Prints of"]),
        ("Can I get a print of a photograph?", ["Prints of"]),
        ("What does a taxi cost?", []),
        ("How many cakes do you have?", []),
        ("Can I buy a cake and a boat?", []),
        ("Tell me about cake", []),
        ("", []),
    ],
)
def test_a_fact_that_alone_holds_every_word(question: str, first_words: list[str]) -> None:
    assert said(Plain(NOTES).covered(question)) == first_words
