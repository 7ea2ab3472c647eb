"""What a sentence claims, and which facts say otherwise."""

import pytest

from voiceagent.llm.notes.claims import agrees, claims, contradicts

FRIDAY = "On Friday we are open from nine until six."
SUNDAY = "On Sunday we are closed."
FEE = "Membership is free for children. Everyone else pays twelve dollars a year."
PARKING = "Parking is free for two hours."
ITEMS = "You can borrow up to fifteen items at a time."


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("They are open until nine on Friday.", FRIDAY),
        ("It opens at ten on Friday.", FRIDAY),
        ("The library is open on Sunday.", SUNDAY),
        ("A card costs twenty dollars a year.", FEE),
        ("A card costs $20.", FEE),
        ("Parking costs two dollars an hour.", PARKING),
        ("You may take ten items.", ITEMS),
        ("Films cost nothing, they are free.", "A film costs one dollar."),
    ],
)
def test_a_fact_says_otherwise(said: str, fact: str) -> None:
    assert contradicts(claims(said), claims(fact))


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("They are open until six on Friday.", FRIDAY),
        ("They are open until nine on Monday.", FRIDAY),
        ("We meet on Friday.", FRIDAY),
        ("The library is not open on Sunday.", SUNDAY),
        ("A card costs twelve dollars a year.", FEE),
        ("I paid with nine coins.", ITEMS),
        ("Parking is free.", PARKING),
        ("I was there at nine.", SUNDAY),
    ],
)
def test_a_fact_says_nothing_against_it(said: str, fact: str) -> None:
    assert not contradicts(claims(said), claims(fact))


def test_agreeing_is_saying_one_of_its_numbers() -> None:
    assert agrees(claims("It is twelve dollars."), claims(FEE))
    assert not agrees(claims("It is cheap."), claims(FEE))
    assert not agrees(claims("It is ten dollars."), claims(FEE))


def test_small_talk_claims_nothing() -> None:
    assert not claims("What a lovely morning.").any
