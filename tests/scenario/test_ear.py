"""The end of a turn, as one ear hears it: candidates, words and judgements that are early, late or missing, pauses inside."""

import logging

import pytest

from tests.scenario.listening import Around, ScriptedJudge, listen
from tests.scenario.scripted import ScriptedCall, ScriptedStt, house
from voiceagent.audio.frame import Samples
from voiceagent.errors import SpeechError
from voiceagent.speech.endpoint import Expectation
from voiceagent.speech.engines import Transcript
from voiceagent.speech.settings import HearingSettings
from voiceagent.voice.ear import Candidate, Finished, Speaks

ANN, BEN = 1_000, 1_100
WHOLE = "Turn on the lamp."
TAIL = (4_000, 0)


async def test_an_utterance_from_its_first_stir_to_its_end() -> None:
    told = await listen([(200, 0), (600, ANN), TAIL], ScriptedStt({ANN: WHOLE}, delay_ms=70), Around(ScriptedJudge(0.98)))
    assert told.lines == [
        "220 stir 20",
        "240 stir 40",
        "260 stir 60",
        "280 stir 80",
        "300 stir 100",
        "320 began 120",
        "650 guess Turn",
        "1000 paused 800",
        "1000 candidate Turn on the lamp.",
        "1100 finished 800",
    ]
    assert told.words == ["1100 Turn on the lamp."]
    assert [event.voiced for event in told.events if isinstance(event, Speaks)] == [True] * 24 + [False] * 14


async def test_a_click_stirs_and_calms() -> None:
    told = await listen([(200, 0), (80, ANN), TAIL], ScriptedStt({}))
    assert told.lines == ["220 stir 20", "240 stir 40", "260 stir 60", "280 stir 80", "380 calm"]


@pytest.mark.parametrize(
    ("said", "finished", "ends_at"),
    [
        (WHOLE, 0.98, 300),
        ("I like the blue one.", 0.98, 300),
        ("I like the blue one.", 0.02, 800),
        ("I like the blue one.", None, 500),
        ("I like the blue one and", 0.98, 1_300),
        ("I like the blue one and", None, 1_300),
        ("My number is five five five", 0.98, 1_800),
        ("", 0.98, 600),
    ],
)
async def test_the_wait_is_counted_from_the_last_voice(said: str, finished: float | None, ends_at: int) -> None:
    judge = None if finished is None else ScriptedJudge(finished)
    told = await listen([(1_000, ANN), TAIL], ScriptedStt({ANN: said}, delay_ms=60), Around(judge))
    assert told.only("finished") == [f"{1_000 + ends_at} finished 1000"]


@pytest.mark.parametrize(
    ("words_ms", "judge_ms", "ends_at", "known_at"),
    [(60, 50, 300, 300), (280, 50, 380, 380), (60, 250, 460, 460), (1_000, 50, 1_100, 1_100), (5_100, 5_000, 2_500, 5_200)],
    ids=["both in time", "words a little late", "the judge late", "words late", "neither"],
)
async def test_words_that_come_late_never_add_to_the_wait(words_ms: int, judge_ms: int, ends_at: int, known_at: int) -> None:
    stt = ScriptedStt({ANN: WHOLE}, delay_ms=words_ms)
    told = await listen([(400, ANN), (6_000, 0)], stt, Around(ScriptedJudge(0.98, delay_ms=judge_ms)))
    assert told.only("finished") == [f"{400 + ends_at} finished 400"]
    assert told.words == [f"{400 + known_at} {WHOLE}"]


async def test_who_goes_on_within_the_wait_has_made_one_utterance() -> None:
    stt, judge = ScriptedStt({ANN: "I like the blue one and the red one."}, delay_ms=60), ScriptedJudge(0.02)
    told = await listen([(1_000, ANN), (700, 0), (1_000, ANN), TAIL], stt, Around(judge))
    assert told.only("began", "paused", "resumed", "finished") == [
        "120 began 120",
        "1200 paused 1000",
        "1720 resumed",
        "2900 paused 2700",
        "3500 finished 2700",
    ]
    assert len(told.words) == 1
    assert len(judge.asked) == 2


async def test_a_pause_that_is_over_before_its_words_come_is_no_candidate() -> None:
    told = await listen([(1_000, ANN), (260, 0), (500, ANN), TAIL], ScriptedStt({ANN: "The blue car."}, delay_ms=250))
    assert told.only("candidate", "resumed", "finished") == [
        "1280 resumed",
        "2110 candidate The blue car.",
        "2260 finished 1760",
    ]


async def test_words_that_are_no_turn_are_no_candidate() -> None:
    told = await listen([(1_000, ANN), TAIL], ScriptedStt({ANN: "go to sleep. " * 8}))
    assert [event for event in told.events if isinstance(event, Candidate)] == []
    assert len([event for event in told.events if isinstance(event, Finished)]) == 1


async def test_a_candidate_says_what_was_said_and_where() -> None:
    told = await listen([(200, 0), (600, ANN), TAIL], ScriptedStt({ANN: WHOLE}, delay_ms=70))
    found = next(event for event in told.events if isinstance(event, Candidate))
    assert (found.input_id, found.start_ms, found.end_ms, found.at_ms, found.voiced_ms) == ("in0", 200, 800, 1_000, 600)


async def test_a_question_of_the_agent_and_digits_that_it_asked_for_stretch_the_wait() -> None:
    stt, judge = ScriptedStt({ANN: "It is the blue car.", BEN: "Five."}), ScriptedJudge(0.02)
    asked = Around(judge, expecting=lambda: Expectation(question=True, digits=True))
    told = await listen([(1_000, ANN), (3_000, 0), (400, BEN), TAIL], stt, asked)
    assert told.only("finished") == ["2200 finished 1000", "6200 finished 4400"]


async def test_who_goes_on_while_the_words_are_still_due_has_made_one_utterance() -> None:
    stt = ScriptedStt({ANN: "The blue car."}, delay_ms=1_000)
    told = await listen([(400, ANN), (1_000, 0), (600, ANN), TAIL], stt, Around(ScriptedJudge(0.98)))
    assert told.only("began", "finished") == ["120 began 120", "3100 finished 2000"]


@pytest.mark.parametrize(
    ("patience", "ends_at"), [("eager", 260), ("normal", 300), ("patient", 500)], ids=["eager", "normal", "patient"]
)
async def test_patience(patience: str, ends_at: int) -> None:
    settings = HearingSettings.model_validate({"patience": patience, "min_wait_ms": 200})
    told = await listen([(1_000, ANN), TAIL], ScriptedStt({ANN: WHOLE}), Around(ScriptedJudge(0.98), settings))
    assert told.only("finished") == [f"{1_000 + ends_at} finished 1000"]


@pytest.mark.parametrize("answer", [SpeechError("out of order"), 1.7], ids=["raises", "no probability"])
async def test_a_judge_that_fails_is_done_without_and_said_once(
    answer: float | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        around = Around(ScriptedJudge(answer))
        told = await listen([(1_000, ANN), (1_000, 0), (1_000, ANN), TAIL], ScriptedStt({ANN: "The blue one."}), around)
    assert told.only("finished") == ["1500 finished 1000", "3500 finished 3000"]
    assert [record.message for record in caplog.records if "degraded" in record.message] == [
        "degraded: the judge of ends failed; words and silence tell where turns end until it works again"
    ]


async def test_long_speech_is_guessed_at_behind_its_last_pause() -> None:
    sizes: list[tuple[int, bool]] = []

    class Measuring(ScriptedStt):
        async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
            sizes.append((sound.size // 16, partial))
            return await super().transcribe(sound, partial=partial)

    stt = Measuring({ANN: "one two three four five six seven eight"})
    settings = HearingSettings(end_silence_ms=600, min_wait_ms=600)
    told = await listen([(9_000, ANN), (400, 0), (1_500, ANN), TAIL], stt, Around(settings=settings))
    assert max(ms for ms, partial in sizes if partial and ms > 0) < 9_200
    behind = [ms for ms, partial in sizes if partial][-2:]
    assert all(ms < 2_000 for ms in behind)
    assert told.only("guess")[-1].endswith("one two three four five six seven eight one two three four")


# -- 10, 37: words that come late, and words that come twice -----------------------------------------------------------------


async def test_a_short_yes_whose_words_come_900_ms_late_is_one_turn() -> None:
    async with house(stt=ScriptedStt({ANN: "Yes."}, delay_ms=900), answers=["Good.", "Twice."]) as here:
        await here.receive(ScriptedCall("s1", [(200, 0), (200, ANN)], until_ms=6_000))
        assert [message for message in await here.messages() if message[0] == "ann"] == [("ann", "Yes.")]
        assert [text for _, text in here.agent.read] == ["Yes."]


async def test_a_pause_that_was_decoded_and_the_end_that_was_decoded_again_are_one_turn() -> None:
    stt = ScriptedStt({ANN: "I like the blue one."}, delay_ms=200)
    async with house(stt=stt, answers=["Good.", "Twice."]) as here:
        await here.receive(ScriptedCall("s1", [(200, 0), (800, ANN), (400, 0), (60, ANN)], until_ms=6_000))
        assert [text for _, text in here.agent.read] == ["I like the blue one."]
    assert stt.finals == 2


# -- 13: a pause inside a sentence -------------------------------------------------------------------------------------------


async def test_s07_124_an_unfinished_turn_waits_joins_later_speech_and_is_routed_after_its_silence() -> None:
    async with house(stt=ScriptedStt({ANN: "My number is", BEN: "My number is five."}), answers=["Good."]) as here:
        call = ScriptedCall("s1", [(200, 0), (800, ANN), (700, 0), (600, BEN)], until_ms=9_000)
        await here.receive(call)
        assert [text for _, text in here.agent.read] == ["My number is five."]


async def test_s07_124_a_turn_that_stays_unfinished_is_routed_all_the_same() -> None:
    async with house(stt=ScriptedStt({ANN: "My number is"}), answers=["Yes?"]) as here:
        await here.receive(ScriptedCall("s1", [(200, 0), (800, ANN)], until_ms=6_000))
        assert here.agent.read == [(1_000 + 1_300, "My number is")]
