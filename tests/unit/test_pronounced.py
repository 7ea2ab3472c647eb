"""Which phonemes a word of a sentence became."""

import pytest

from voiceagent.speech.pronounced import Phonemes, spans

ALONE = {
    "in": "ɪn",
    "of": "ʌv",
    "the": "ðə",
    "house": "hˈaʊs",
    "two": "tˈuː",
    "7": "sˈɛvən",
    "21": "twˈɛntiwˈʌn",
    "a": "ˈeɪ",
    "for": "fɔːɹ",
    "man": "mˈæn",
    "is": "ɪz",
}


def say(word: str) -> Phonemes:
    return tuple(ALONE[word.strip(",.!?;:")])


def found(words: str, phonemes: str) -> list[str] | None:
    places = spans(words.split(), list(phonemes), say)
    return None if places is None else [phonemes[place.first : place.end] for place in places]


@pytest.mark.parametrize(
    ("words", "phonemes", "each"),
    [
        ("the house", "ðə hˈaʊs", ["ðə", "hˈaʊs"]),
        ("in the house.", "ɪnðə hˈaʊs.", ["ɪn", "ðə", "hˈaʊs"]),
        ("in the house, of the two", "ɪnðə hˈaʊs, ʌvðə tˈuː", ["ɪn", "ðə", "hˈaʊs", "ʌv", "ðə", "tˈuː"]),
        ("the 21 in two.", "ðə twˈɛnti wˈʌn ɪn tˈuː.", ["ðə", "twˈɛnti wˈʌn", "ɪn", "tˈuː"]),
        ("is for a man!", "ɪz fɚɹə mˈæn!", ["ɪz", "fɚ", "ɹə", "mˈæn"]),
        ("two", "tˈuː", ["tˈuː"]),
    ],
)
def test_words_that_are_joined_or_spelled_out_have_their_own_phonemes(words: str, phonemes: str, each: list[str]) -> None:
    assert found(words, phonemes) == each


def test_pauses_belong_to_no_word() -> None:
    assert found("two, two; two.", "tˈuː, tˈuː; tˈuː.") == ["tˈuː", "tˈuː", "tˈuː"]


def test_a_word_that_nobody_says_takes_no_sound() -> None:
    assert found("two the man", "tˈuː mˈæn") == ["tˈuː", "", "mˈæn"]


@pytest.mark.parametrize(("words", "phonemes"), [("two two two", "hˈaʊs mˈæn ɪz ʌv"), ("in", ""), ("", "tˈuː")])
def test_words_that_are_not_in_the_sound_have_no_places(words: str, phonemes: str) -> None:
    assert not found(words, phonemes)
