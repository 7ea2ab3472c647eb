"""What speech does to what sounds, as tables (statements 113, 114, 117, 121)."""

import pytest

from voiceagent.voice.settings import BargeInSettings, InterruptionStrategy
from voiceagent.voice.turn import Commit, Cut, Hold, Nothing, Sounding, Turn, Utterance

REPLY = Sounding("reply", 1_000)
CONFIRMED = BargeInSettings()
IMMEDIATE = BargeInSettings(strategy=InterruptionStrategy.IMMEDIATE)
DISABLED = BargeInSettings(strategy=InterruptionStrategy.DISABLED)


def spoken(name: str, voiced_ms: int = 600) -> Utterance:
    return Utterance(name, f"words of {name}", 0, 1_000, voiced_ms)


def test_the_default_strategy_is_confirmed_after_300_ms() -> None:
    assert BargeInSettings() == BargeInSettings(
        strategy=InterruptionStrategy.CONFIRMED, min_speech_ms=300, allow_during_first_ms=0
    )


@pytest.mark.parametrize(
    ("settings", "voiced", "cuts_at"),
    [
        (CONFIRMED, [120, 140, 200, 280, 300, 320], 300),
        (CONFIRMED, [120, 200, 280, 280, 280], None),
        (CONFIRMED, [120, 200, 200, 200, 220, 300], 300),
        (CONFIRMED.model_copy(update={"min_speech_ms": 0}), [120], 120),
        (IMMEDIATE, [120, 140], 120),
        (DISABLED, [120, 300, 600, 5_000], None),
    ],
)
def test_speech_cuts_what_sounds(settings: BargeInSettings, voiced: list[int], cuts_at: int | None) -> None:
    turn = Turn(settings)
    decisions = [turn.started(0, voiced[0], REPLY), *(turn.speaking(i, v, REPLY) for i, v in enumerate(voiced[1:], 1))]
    cuts = [v for v, decision in zip(voiced, decisions, strict=True) if isinstance(decision, Cut)]
    assert cuts == ([] if cuts_at is None else [cuts_at])


@pytest.mark.parametrize("settings", [CONFIRMED, IMMEDIATE])
def test_one_playback_is_cut_once_however_long_speech_goes_on(settings: BargeInSettings) -> None:
    turn = Turn(settings)
    turn.started(0, 120, REPLY)
    decisions = [turn.speaking(at, at, REPLY) for at in range(140, 3_000, 20)]
    again = turn.started(4_000, 900, REPLY)
    assert sum(isinstance(decision, Cut) for decision in decisions) == (1 if settings is CONFIRMED else 0)
    assert again == Nothing()


def test_the_next_reply_can_be_cut_again() -> None:
    turn = Turn(IMMEDIATE)
    assert turn.started(0, 120, REPLY) == Cut("reply", 0)
    assert turn.started(900, 120, Sounding("next", 0)) == Cut("next", 900)


def test_nothing_sounds_nothing_is_cut() -> None:
    turn = Turn(IMMEDIATE)
    assert turn.started(0, 900, None) == Nothing()
    assert turn.speaking(20, 920, None) == Nothing()


@pytest.mark.parametrize("settings", [CONFIRMED, IMMEDIATE])
def test_a_reply_that_begins_over_speech_is_cut_only_by_speech_against_it(settings: BargeInSettings) -> None:
    turn = Turn(settings)
    turn.started(0, 900, None)
    assert turn.speaking(20, 920, REPLY) == Nothing()
    assert turn.speaking(280, 1_200, REPLY) == Nothing()
    assert turn.speaking(300, 1_220, REPLY) == Cut("reply", 300)


def test_the_first_moments_of_a_reply_may_be_protected() -> None:
    turn = Turn(IMMEDIATE.model_copy(update={"allow_during_first_ms": 200}))
    assert turn.started(0, 120, Sounding("reply", 0)) == Nothing()
    assert turn.speaking(180, 300, Sounding("reply", 180)) == Nothing()
    assert turn.speaking(200, 320, Sounding("reply", 200)) == Cut("reply", 200)


@pytest.mark.parametrize("settings", [CONFIRMED, IMMEDIATE])
def test_words_go_to_the_room_whatever_sounds(settings: BargeInSettings) -> None:
    turn = Turn(settings)
    assert turn.words(spoken("a", 200), REPLY) == Commit(spoken("a", 200))
    assert turn.words(spoken("b"), None) == Commit(spoken("b"), replaces=True)
    assert turn.words(spoken("c", 200), None) == Commit(spoken("c", 200))


def test_disabled_holds_eight_and_replays_them_in_order() -> None:
    turn = Turn(DISABLED, held_segments=8)
    names = [f"u{n}" for n in range(10)]
    decisions = [turn.words(spoken(name), REPLY) for name in names]
    assert decisions[:8] == [Hold(spoken(name)) for name in names[:8]]
    assert decisions[8:] == [Hold(spoken("u8"), instead=spoken("u0")), Hold(spoken("u9"), instead=spoken("u1"))]
    assert turn.quiet() == tuple(Commit(spoken(name)) for name in names[2:])
    assert turn.quiet() == ()


def test_disabled_commits_at_once_when_nothing_sounds() -> None:
    turn = Turn(DISABLED)
    assert turn.words(spoken("a"), None) == Commit(spoken("a"))
    assert turn.words(spoken("b"), None) == Commit(spoken("b"))
