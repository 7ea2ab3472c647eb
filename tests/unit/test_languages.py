"""Languages: what follows from the one setting, and by which words a text is known."""

from pathlib import Path

import pytest

from voiceagent.config import load
from voiceagent.errors import ConfigError
from voiceagent.languages import LANGUAGES, language_of
from voiceagent.voice.settings import VoiceSettings


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("We are open from nine in the morning until ten at night.", "en"),
        ("Nous sommes ouverts de neuf heures à midi, et le samedi aussi.", "fr"),
        ("Estamos abiertos de nueve a dos, y los sábados también.", "es"),
        ("C’est d’accord, merci !", "fr"),
        ("¿Dónde está el aeropuerto?", "es"),
        ("Do you know what the weather will be?", "en"),
        ("LE TRAIN EST PARTI SANS NOUS", "fr"),
    ],
)
def test_a_text_is_known_by_its_frequent_words(text: str, code: str) -> None:
    assert language_of(text, default="xx") == code


@pytest.mark.parametrize("text", ["", "12,50 €", "Taxi!", "???", "Montréal", "o"])
def test_where_nothing_stands_out_the_default_stands(text: str) -> None:
    assert language_of(text, ("en", "fr"), "fr") == "fr"


def test_only_the_languages_asked_for_are_told_apart() -> None:
    assert language_of("Nous sommes dans le train.", ("en", "es"), "es") == "es"


def test_a_greeting_and_an_apology_are_in_their_own_language() -> None:
    for code, language in LANGUAGES.items():
        assert language_of(f"{language.greeting} {language.apology}", default="xx") == code


def test_recognizer_voice_and_words_follow_the_language() -> None:
    settings = load(None, {"VOICEAGENT_LANGUAGE": "fr"})
    assert (settings.hearing.language, settings.hearing.model) == ("fr", "base")
    assert (settings.speaking.language, settings.speaking.voice) == ("fr", "fr_FR-siwis-medium")
    assert settings.speaking.fallback == "espeak:fr"
    assert settings.voice.greeting == LANGUAGES["fr"].greeting
    assert settings.agent.apology == LANGUAGES["fr"].apology
    assert settings.agent.system_prompt.endswith("Answer in French.")


def test_what_is_set_by_hand_wins_over_the_language(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('language = "es"\n[hearing]\nmodel = "small"\n[voice]\ngreeting = ""\n')
    settings = load(file, {"VOICEAGENT_SPEAKING__VOICE": "es_MX-claude-high"})
    assert (settings.hearing.model, settings.hearing.language) == ("small", "es")
    assert (settings.speaking.voice, settings.voice.greeting) == ("es_MX-claude-high", "")


def test_a_language_without_a_voice_of_its_own_here_is_spoken_by_espeak_and_greets_nobody() -> None:
    settings = load(None, {"VOICEAGENT_LANGUAGE": "sv"})
    assert (settings.speaking.voice, settings.hearing.language, settings.voice.greeting) == ("espeak:sv", "sv", "")


def test_with_auto_each_person_is_heard_and_answered_in_their_own() -> None:
    settings = load(None, {"VOICEAGENT_LANGUAGE": "auto"})
    assert (settings.hearing.language, settings.speaking.language, settings.hearing.model) == ("auto", "auto", "base")
    assert settings.voice.greeting == VoiceSettings().greeting


@pytest.mark.parametrize("value", ["English", "e", "en-US", "", "../x"])
def test_what_is_no_code_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match=r"VOICEAGENT_LANGUAGE: `language`: not a language: write a code such as en"):
        load(None, {"VOICEAGENT_LANGUAGE": value})
