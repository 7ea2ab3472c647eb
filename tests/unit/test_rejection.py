"""What is taken for a turn and what is not, in figures that the recognizer gave for real sound."""

import pytest

from voiceagent.speech.engines import Transcript
from voiceagent.speech.rejection import compression, loops, reject


def heard(text: str, no_speech: float, confidence: float) -> Transcript:
    return Transcript(text, "en", no_speech, compression(text), confidence)


@pytest.mark.parametrize(
    ("transcript", "voiced", "ms"),
    [
        (heard("Hello.", 0.01, -0.74), 1.0, 240),
        (heard("No.", 0.06, -0.66), 0.50, 920),
        (heard("Yes.", 0.02, -0.70), 1.0, 380),
        (heard("Thank you.", 0.01, -0.43), 1.0, 920),
        (heard("Hi, how are you?", 0.09, -0.43), 0.94, 620),
        (heard("Ask not!", 0.26, -0.92), 0.73, 980),
        (heard("ask what you can do for your country.", 0.52, -0.41), 1.0, 1900),
        (heard("No, no, no, no, no!", 0.03, -0.3), 1.0, 1500),
        (heard("那太好了", 0.03, -0.3), 1.0, 900),
    ],
)
def test_speech_is_a_turn(transcript: Transcript, voiced: float, ms: int) -> None:
    assert reject(transcript, voiced, ms) is None


@pytest.mark.parametrize(
    ("transcript", "voiced", "ms", "reason"),
    [
        (heard("", 0.1, -0.3), 1.0, 500, "no words"),
        (heard(". . . . .", 0.1, -0.2), 1.0, 500, "no words"),
        (heard("Thank you.", 0.93, -1.08), 1.0, 3000, "nobody spoke"),
        (heard("you", 0.96, -0.68), 1.0, 3000, "nobody spoke"),
        (heard("you", 0.99, -0.63), 1.0, 1000, "nobody spoke"),
        (heard("It's loud.", 0.50, -1.04), 0.9, 6000, "nobody spoke"),
        (heard("I'm not here.", 0.66, -2.01), 0.6, 4000, "nobody spoke"),
        (heard("I think so, it is a question.", 0.2, -1.72), 0.9, 4500, "not understood"),
        (heard("oh, " * 16, 0.59, -0.32), 0.9, 3500, "repeats itself"),
        (heard("I will go to sleep. " * 3, 0.3, -0.3), 0.9, 6000, "repeats itself"),
        (heard("I am going to go ahead and say it all to you now", 0.1, -0.4), 1.0, 300, "more words than fit"),
        (heard("Right.", 0.1, -0.4), 0.1, 3000, "hardly any voice"),
    ],
)
def test_noise_is_none(transcript: Transcript, voiced: float, ms: int, reason: str) -> None:
    assert reject(transcript, voiced, ms) == reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("yes yes yes", False),
        ("turn on the lamp turn on the lamp", False),
        ("turn on the lamp turn on the lamp turn on the lamp", True),
        ("so it is and so it is not but so it is", True),
        ("it was the best of times it was the worst of times", False),
        ("a b a b c a a b", True),
    ],
)
def test_loops(text: str, expected: bool) -> None:
    assert loops(text) is expected


def test_compression_tells_text_that_repeats_itself() -> None:
    assert compression("") == 1.0
    assert compression("I'd like to check my order status, please.") < 1.2
    assert compression("thank you, " * 20) > 2.4
