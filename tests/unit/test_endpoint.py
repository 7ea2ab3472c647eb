"""How long a silence must last: words, sound, what was asked and patience, in tables; what holds for all of them."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from voiceagent.speech.cues import cue
from voiceagent.speech.endpoint import Expectation, Silence, wait_ms
from voiceagent.speech.settings import HearingSettings, Patience

NORMAL = HearingSettings()
NOTHING = Expectation()


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("I want to go home and", "en", "open"),
        ("So I", "en", "open"),
        ("My number is", "en", "open"),
        ("Yes, my number.", "en", "open"),
        ("Let me think.", "en", "open"),
        ("Can you tell me", "en", "open"),
        ("Um", "en", "open"),
        ("I'd like to check.", "en", "open"),
        ("So I want to book", "en", "open"),
        ("I want to leave.", "en", "unclear"),
        ("Je voudrais réserver.", "fr", "open"),
        ("Quiero reservar.", "es", "open"),
        ("It goes to the...", "en", "open"),
        ("Is there a train to London before?", "en", "open"),
        ("Where are you from?", "en", "whole"),
        ("Turn it on.", "en", "whole"),
        ("What time does the library open?", "en", "whole"),
        ("Turn on the living room lamp.", "en", "whole"),
        ("I'd like to check my order status, please.", "en", "whole"),
        ("Thank you.", "en", "whole"),
        ("Hello.", "en", "unclear"),
        ("So.", "en", "open"),
        ("Hi, how are you?", "en", "whole"),
        ("Ten of clubs.", "en", "unclear"),
        ("", "en", "unclear"),
        ("Wait.", "en", "open"),
        ("No, hold on.", "en", "open"),
        ("Wait for the bus to stop.", "en", "unclear"),
        ("Stop.", "en", "unclear"),
        ("Attendez.", "fr", "open"),
        ("Un momento.", "es", "open"),
        ("Mon numéro est", "fr", "open"),
        ("Je voudrais aller à la", "fr", "open"),
        ("Il est parti parce que", "fr", "open"),
        ("Un café, s’il vous plaît.", "fr", "whole"),
        ("Bonjour.", "fr", "unclear"),
        ("Mi número es", "es", "open"),
        ("Quiero ir a la", "es", "open"),
        ("Una mesa para dos, por favor.", "es", "whole"),
        ("Hola.", "es", "unclear"),
        ("and the", "xx", "open"),
    ],
)
def test_what_words_say_about_the_end(text: str, language: str, said: str) -> None:
    assert cue(text, language) == said


@pytest.mark.parametrize(
    ("silence", "expecting", "wait"),
    [
        (Silence(1_500), NOTHING, 2_500),
        (Silence(1_500, 0.98), NOTHING, 2_500),
        (Silence(1_500, None, "the blue one", judging=True), NOTHING, 800),
        (Silence(1_500, None, "the blue one"), NOTHING, 500),
        (Silence(1_500, None, "the blue one and"), NOTHING, 1_300),
        (Silence(1_500, 0.98, "Turn on the lamp."), NOTHING, 300),
        (Silence(1_500, 0.98, "I like the blue one."), NOTHING, 300),
        (Silence(1_500, 0.98, "I like the blue one and"), NOTHING, 1_300),
        (Silence(1_500, 0.98, "and so my fellow Americans"), NOTHING, 600),
        (Silence(1_500, 0.7, "I like the blue one."), NOTHING, 600),
        (Silence(1_500, 0.05, "I like the blue one."), NOTHING, 800),
        (Silence(1_500, 0.05, "Hi, how are you?"), NOTHING, 600),
        (Silence(400, 0.05, "Hello."), NOTHING, 500),
        (Silence(400, 0.05, "Yes."), NOTHING, 500),
        (Silence(700, 0.6, "Robert Miller."), NOTHING, 500),
        (Silence(1_500, 0.05, "I like the blue one."), Expectation(question=True), 1_200),
        (Silence(400, 0.05, "Yes."), Expectation(question=True), 500),
        (Silence(1_500, 0.98, "It is the blue one."), Expectation(question=True), 300),
        (Silence(1_500, 0.98, "My number is 555."), NOTHING, 1_800),
        (Silence(1_500, 0.98, "five five five"), NOTHING, 1_800),
        (Silence(2_500, 0.98, "My number is 555-2349."), NOTHING, 300),
        (Silence(2_500, 0.98, "555 2349."), Expectation(True, True), 1_800),
        (Silence(500, 0.98, "Five."), Expectation(True, True), 1_800),
        (Silence(500, 0.98, "Yes."), Expectation(True, True), 300),
        (Silence(1_500, 0.98, ""), NOTHING, 600),
    ],
)  # fmt: skip
def test_how_long_is_waited(silence: Silence, expecting: Expectation, wait: int) -> None:
    assert wait_ms(silence, expecting, NORMAL) == wait


def test_patience_moves_every_wait() -> None:
    for silence in (
        Silence(900, None, "The lamp."),
        Silence(900, 0.98, "Turn on the lamp."),
        Silence(900, 0.7, "The lamp."),
        Silence(900, 0.0, "and"),
    ):
        eager, normal, patient = (
            wait_ms(silence, NOTHING, HearingSettings(patience=patience, min_wait_ms=200)) for patience in get_args(Patience)
        )
        assert eager < normal < patient


silences = st.builds(
    Silence,
    st.integers(120, 30_000),
    st.none() | st.floats(0, 1),
    st.none() | st.sampled_from(["", "and", "Yes.", "Turn on the lamp.", "The blue one.", "five five five", "So I"]),
    st.sampled_from(["en", "fr", "es", "de"]),
)


@given(silences, st.builds(Expectation, st.booleans(), st.booleans()), st.sampled_from(get_args(Patience)))
def test_the_wait_keeps_its_bounds(silence: Silence, expecting: Expectation, patience: Patience) -> None:
    settings = HearingSettings(patience=patience)
    assert settings.min_wait_ms <= wait_ms(silence, expecting, settings) <= settings.max_wait_ms <= 3_000
    assert wait_ms(silence, expecting, HearingSettings(min_wait_ms=700, end_silence_ms=700, max_wait_ms=700)) == 700


@given(silences, st.floats(0, 1), st.floats(0, 1))
def test_what_sounds_more_finished_is_waited_for_no_longer(silence: Silence, one: float, other: float) -> None:
    less, more = sorted((one, other))
    waits = [wait_ms(Silence(silence.voiced_ms, sound, silence.words), NOTHING, NORMAL) for sound in (less, more)]
    assert waits[0] >= waits[1]


@pytest.mark.parametrize("numbers", [{"min_wait_ms": 900, "max_wait_ms": 800}, {"end_silence_ms": 2_600}, {"max_wait_ms": 3_001}])
def test_waits_out_of_order_are_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        HearingSettings.model_validate(numbers)
