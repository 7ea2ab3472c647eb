"""Words, days, numbers and questions of an utterance."""

import pytest

from voiceagent.llm.notes import ages, kinds, slots, synonyms
from voiceagent.llm.notes.asked import asked, without_name
from voiceagent.llm.notes.kinds import Wants
from voiceagent.llm.notes.manners import Courtesy, courtesy, opened
from voiceagent.llm.notes.words import content, misheard, stem, tokens, unfilled


def test_number_words_become_digits() -> None:
    assert tokens("Twenty-two e-bikes, room Two, the clock's hand") == ["22", "e", "bikes", "room", "2", "the", "clock", "hand"]


@pytest.mark.parametrize(
    ("one", "other"), [("printing", "prints"), ("closes", "closed"), ("buses", "bus"), ("copies", "copy"), ("stopped", "stop")]
)
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_short_words_are_left_alone() -> None:
    assert [stem(word) for word in ("bus", "ring", "glass", "red")] == ["bus", "ring", "glass", "red"]


def test_content_leaves_out_grammar_and_manners() -> None:
    assert content("Could you please tell me where the swimming pool is?") == ["swimming", "pool"]


def test_a_slip_of_the_recognizer_is_near_and_another_word_is_not() -> None:
    assert misheard("librery", "library") > 0.8
    assert misheard("player", "plays") == 0.0
    assert misheard("cat", "car") == 0.0


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("from Monday to Thursday", {0, 1, 2, 3}),
        ("Saturday through Monday", {5, 6, 0}),
        ("on Sundays and Mondays", {6, 0}),
        ("at the weekend", {5, 6}),
        ("every day", set(range(7))),
        ("on holidays", set()),
    ],
)
def test_days(text: str, days: set[int]) -> None:
    assert slots.find(text).days == days


def test_numbered_things_and_plain_numbers() -> None:
    assert slots.find("Does bus 15 stop here?").labels == {("bus", "15")}
    assert slots.find("Room two is on the third floor").labels == {("room", "2"), ("floor", "3")}
    assert slots.find("It costs 15 dollars, and you can borrow 15 items").labels == set()


def test_another_day_or_number_does_not_answer() -> None:
    sunday = slots.find("Are you open on Sunday?")
    assert not sunday.allows(slots.find("On Monday we open at nine."))
    assert sunday.allows(slots.find("Saturday to Monday we are shut."))
    assert sunday.allows(slots.find("The door is green."))
    assert not slots.find("where is room 3").allows(slots.find("Room 2 is upstairs."))


def test_a_named_day_is_not_the_weekday_in_its_name() -> None:
    good_friday = slots.find("Are you open on Good Friday?")
    assert good_friday.days == set()
    assert not good_friday.allows(slots.find("On Friday we open at nine."))
    assert not good_friday.allows(slots.find("We open at nine."))
    assert good_friday.allows(slots.find("On public holidays we are closed."))
    assert slots.find("Are you open at Christmas?").allows(slots.find("On Christmas Day we are closed."))
    assert not slots.find("Are you open on Christmas Eve?").allows(slots.find("On Christmas Day we are closed."))


def test_months_and_their_ranges() -> None:
    assert slots.find("from November to February").months == {10, 11, 0, 1}
    assert slots.find("You may march in June.").months == {5}
    assert not slots.find("Can we come in March?").allows(slots.find("Open from April to October."))


def test_ages() -> None:
    assert ages.said("My little one is only three, is it free?") == 3
    assert ages.said("my seven-year-old") == 7
    assert ages.said("Is it open until nine?") is None
    assert ages.limits("Children aged 4 to 15 pay two euros.") == ((4, 15),)
    assert ages.limits("Children under 4 get in free.") == ((0, 3),)
    assert ages.limits("Open from 9 to 5.") == ()
    assert ages.excludes(((4, 15),), 3)
    assert not ages.excludes(((0, 7),), 9)  # what a limit says of others is an answer too


def test_synonyms_share_a_group() -> None:
    assert stem("elevator") in synonyms.near(stem("lift"))
    assert not synonyms.near("zebra")


def test_hesitation_and_run_up_are_left_out() -> None:
    assert unfilled("Um, I was, uh, wondering, could we swim?") == "could we swim?"
    assert unfilled("Um.") == "Um."


@pytest.mark.parametrize(
    ("question", "kind", "gives", "lacks"),
    [
        ("How much is a card?", Wants.MONEY, "It costs three dollars.", "It is green."),
        ("How long does it take?", Wants.DURATION, "Two weeks.", "Three dollars."),
        ("When was it built?", Wants.AGE, "Built in 1931.", "Open from nine."),
        ("How many may I borrow?", Wants.COUNT, "Up to fifteen items.", "For seven days."),
        ("What time do you close?", Wants.MOMENT, "Until six.", "The door is closed."),
        ("How deep is it?", Wants.MEASURE, "It is two metres deep.", "It is closed."),
        ("How warm is it?", Wants.WARMTH, "It is kept at 28 degrees.", "It is closed."),
        ("Who runs it?", Wants.PERSON, "It is run by Ada Stone.", "It is closed."),
        ("What is your telephone number?", Wants.CONTACT, "Call 555 0142.", "Ask at the desk."),
    ],
)
def test_the_kind_of_answer(question: str, kind: Wants, gives: str, lacks: str) -> None:
    assert kinds.wants(question) is kind
    assert kinds.gives(gives, kind)
    assert not kinds.gives(lacks, kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hello!", Courtesy.GREETING),
        ("Good morning. I have a question.", Courtesy.GREETING),
        ("Thank you very much.", Courtesy.THANKS),
        ("Sorry, can you say that again?", Courtesy.AGAIN),
        ("What can you do?", Courtesy.ABLE),
        ("Who are you?", Courtesy.WHO),
        ("Okay, thanks. Bye.", Courtesy.GOODBYE),
        ("Mm.", Courtesy.NOD),
        ("You can talk again.", Courtesy.NOD),
        ("Okay, now you may speak.", Courtesy.NOD),
        ("\u2026", Courtesy.NOTHING),
        ("Hello, where is the door?", None),
        ("What can you do about a lost card?", None),
        ("No parking?", None),
    ],
)
def test_manners(text: str, kind: Courtesy | None) -> None:
    assert courtesy(text) is kind


def test_a_greeting_before_a_question_is_taken_off() -> None:
    assert opened("Hi there, excuse me, where is the door?") == "where is the door?"


def variants(text: str, before: str | None = None) -> list[tuple[str, ...]]:
    return [one.variants for one in asked(text, before)]


def test_two_questions_are_two() -> None:
    assert variants("Where is the door, and how much is tea?") == [("Where is the door",), ("how much is tea?",)]
    assert variants("Where is the door? How much is tea?") == [("Where is the door?",), ("How much is tea?",)]


def test_what_is_told_before_a_question_belongs_to_it() -> None:
    assert variants("My wheel wobbles. What does it cost?") == [("My wheel wobbles. What does it cost?", "What does it cost?")]


def test_a_day_alone_takes_the_place_of_the_day_before() -> None:
    assert variants("And on Sunday?", "When are you open on Friday?") == [("When are you open on Sunday?",)]


def test_a_thing_alone_is_looked_up_by_itself_first() -> None:
    assert variants("And tea?", "How much is coffee?") == [("tea?", "How much is coffee tea?")]


def test_names_in_front_are_taken_off() -> None:
    assert without_name("Ana: where is it?", "Ana") == "where is it?"
    assert without_name("[Old Bob]: where is it?", None) == "where is it?"
    assert without_name("At 9:30, are you open?", None) == "At 9:30, are you open?"
