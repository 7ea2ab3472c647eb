"""Which of the listed languages is spoken."""

import pytest

from tests.unit.speaking import said, state
from voiceagent.judgment.classifier.language import asks_language, code_of, spoken_language
from voiceagent.judgment.classifier.question import ChoiceQuestion

ASKED = "Which language does the speaker of `last_turn` speak, judged over all of their turns here?"
LISTED = ChoiceQuestion(ASKED, ("English", "Français", "Español", "other"))


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("could you tell me what the weather is like", "English"),
        ("tu peux me dire quel temps il fait demain", "Français"),
        ("¿puedes decirme qué tiempo hace mañana?", "Español"),
        ("kannst du mir sagen wie das Wetter morgen ist", "other"),
        ("明日の天気はどうですか", "other"),
        ("", "English"),
    ],
)
def test_a_turns_language(text: str, option: str) -> None:
    assert spoken_language(state("Ann", text), LISTED).choice == option


def test_one_word_does_not_switch_a_speakers_language() -> None:
    before = said(
        ("Ann", "je voudrais savoir quand part le train"), ("Bo", "what is that"), ("Ann", "et il arrive à quelle heure")
    )
    assert spoken_language(state("Ann", "okay", before), LISTED).choice == "Français"


def test_what_others_say_does_not_count() -> None:
    before = said(("Bo", "je voudrais savoir quand part le train et à quelle heure il arrive"))
    assert spoken_language(state("Ann", "what is the time", before), LISTED).choice == "English"


def test_probabilities_are_of_the_options_and_make_one() -> None:
    answer = spoken_language(state("Ann", "où est la gare"), LISTED)
    assert set(answer.probabilities) == set(LISTED.options)
    assert sum(answer.probabilities.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "code"), [("Anglais", "en"), ("inglés", "en"), ("fr-CA", "fr"), ("日本語", "ja"), ("Klingon", None)]
)
def test_languages_by_their_names(name: str, code: str | None) -> None:
    assert code_of(name) == code


def test_a_choice_of_other_things_is_not_about_languages() -> None:
    assert asks_language(LISTED)
    assert not asks_language(ChoiceQuestion(ASKED, ("English", "Klingon")))
    assert not asks_language(ChoiceQuestion("Which way?", ("en", "fr")))
