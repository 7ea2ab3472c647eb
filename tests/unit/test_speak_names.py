"""The agent's name is found however it was heard, and in no ordinary word."""

import pytest

from voiceagent.judgment.classifier.lexicon import common_words
from voiceagent.judgment.classifier.names import NameMatcher, edits, plain, sound


def found(agent: str, text: str, people: tuple[str, ...] = ()) -> list[str]:
    """The words of `text` that are taken for the agent's name."""
    matcher = NameMatcher(agent, people, common_words())
    words = [plain(word.strip(",.?!")) for word in text.split()]
    return [" ".join(words[i : i + size]) for i in range(len(words)) if (size := matcher.agent_at(words, i))]


@pytest.mark.parametrize(
    ("agent", "text", "heard"),
    [
        ("Nova", "NOVA, what's next?", ["nova"]),
        ("Nova", "so Nover what's next", ["nover"]),
        ("Nova", "Knova, what's next", ["knova"]),
        ("Nova", "hey noba what's next", ["noba"]),
        ("Nova", "no va what's next", ["no va"]),
        ("Juno", "june oh are you there", []),
        ("Juno", "hey junoh are you there", ["junoh"]),
        ("Otto", "auto how much did we spend", ["auto"]),
        ("Zoé", "merci zoe", ["zoe"]),
        ("Max Power", "ask max power about it", ["max power"]),
    ],
)
def test_the_name_is_found_as_it_was_heard(agent: str, text: str, heard: list[str]) -> None:
    assert found(agent, text) == heard


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("Nova", "never go over there in november"),
        ("Theo", "the other one there"),
        ("Iris", "an Irish friend of mine"),
        ("Max", "may I make some"),
        ("Otto", "I bought an auto part"),
        ("Mira", "mine is a mirror"),
    ],
)
def test_ordinary_words_are_not_the_name(agent: str, text: str) -> None:
    assert found(agent, text) == []


def test_a_person_with_a_name_like_the_agents_is_a_person() -> None:
    assert found("Nova", "Nora, pass the salt", ("Nora",)) == []
    assert NameMatcher("Nova", ("Nora Lind",)).person_at("nora") == 0


def test_sound_and_edits() -> None:
    assert sound("Nova") == sound("Knover") == sound("Nobba")
    assert sound("Mira") != sound("Nova")
    assert [edits("nova", other) for other in ("nova", "nva", "nvoa", "novas", "mira")] == [0, 1, 1, 1, 3]
