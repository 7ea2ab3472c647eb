"""The shipped notes of a turn are known again by a brain that reads no prose, and nobody else's are."""

from voiceagent.agent.presence import OFFER
from voiceagent.judgment.thought import Thought
from voiceagent.llm.turn_notes import Noted, noted, resume_note

THOUGHT = Thought('They talk about "fines".', ("A late book costs ten cents.", "Films\nare lent for a week."))


def test_a_thought_is_read_back_as_it_was_quoted() -> None:
    found = noted(["Answer in English only.", THOUGHT.note()])
    assert found == Noted("They talk about 'fines'.", ("A late book costs ten cents.", "Films are lent for a week."))


def test_the_offer_and_the_resumption_are_known() -> None:
    assert noted([OFFER]) == Noted(offers=True)
    assert noted([resume_note(1_250)]).played_ms in (1_200, 1_300)


def test_other_notes_say_nothing() -> None:
    assert noted([]) == noted(["Be brief.", "", '- "a list"', "Offer them tea."]) == Noted()


def test_the_later_of_two_thoughts_counts() -> None:
    assert noted([Thought("first").note(), Thought("second").note()]).thought == "second"
