"""Labelled turns are read or refused by line, set up as in a room, and counted."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from voiceagent.cli.main import app
from voiceagent.errors import ConfigError
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.evaluation import measures
from voiceagent.judgment.evaluation.labelled import LabelledTurn, read_turns, turn_of
from voiceagent.judgment.evaluation.trial import ByClassifier, Trial, speak_turn, tried
from voiceagent.values import JSON

LINE: dict[str, JSON] = {
    "id": "one",
    "agent": "Nova",
    "people": ["Ann", "Bo"],
    "history": [{"speaker": "Ann", "text": "Nova, how far?"}, {"speaker": "Nova", "text": "Two miles."}],
    "last": {"speaker": "Bo", "text": "That far?"},
    "expected": "silent",
    "labels": {"directness": 0, "request": 0},
    "tags": ["reaction"],
    "language": "en",
}


def turn(**changed: JSON) -> LabelledTurn:
    return turn_of({**LINE, **changed})


def file(path: Path, *lines: JSON) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"expected": "shout"}, "expected"),
        ({"labels": {"request": 2}}, "request"),
        ({"labels": {"mood": 1}}, "mood"),
        ({"last": {"speaker": "Bo"}}, "text"),
        ({"people": "Ann"}, "people"),
        ({"history": [3]}, "history"),
        ({"cut": {"text": "Two", "played_ms": -1}}, "played"),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong(tmp_path: Path, changed: dict[str, JSON], named: str) -> None:
    with pytest.raises(ConfigError, match=rf"set\.jsonl:2: .*{named}"):
        read_turns(file(tmp_path / "set.jsonl", LINE, {**LINE, **changed}))


def test_the_command_ends_with_2_for_a_bad_file_and_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(LINE) + "\n{oops\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["evaluate", "--set", str(path), "--classifier", "always"])
    assert result.exit_code == 2
    assert "set.jsonl:2" in result.output


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="no turns"):
        read_turns(path)


def test_a_tag_is_shown_as_it_is_written(tmp_path: Path) -> None:
    path = file(tmp_path / "set.jsonl", {**LINE, "tags": ["[/x]", "\x1b[31m"], "language": "[red]"})
    result = CliRunner().invoke(app, ["evaluate", "--set", str(path), "--classifier", "named"], catch_exceptions=False)
    assert result.exit_code == 0
    assert {"[/x]", "\ufffd[31m", "[red]"} <= {line.split(" ")[0] for line in result.output.splitlines()}


def test_json_is_one_object_with_the_named_fields(tmp_path: Path) -> None:
    path = file(tmp_path / "set.jsonl", LINE, {**LINE, "last": {"speaker": "Bo", "text": "Nova, so far?"}, "expected": "speak"})
    result = CliRunner().invoke(app, ["evaluate", "--set", str(path), "--classifier", "named", "--json"])
    figures = json.loads(result.output)
    assert result.exit_code == 0
    assert (figures["n"], figures["modes_right"], figures["false_speak"], figures["missed_speak"]) == (2, 1.0, 0.0, 0.0)
    assert figures["by_language"]["en"]["n"] == figures["by_tag"]["reaction"]["n"] == 2
    assert {"per_question", "latency_ms", "rss_mb"} <= figures.keys()
    assert set(figures["latency_ms"]) == {"p50", "p95"}


def test_a_turn_is_set_up_as_the_policy_meets_it() -> None:
    made = speak_turn(turn(cut={"text": "Two miles and", "played_ms": 900}, thought={"want_to_say": ["Three"], "urgent": True}))
    assert [made.by_agent(event) for event in made.recent] == [False, True]
    assert made.speakers[made.event.id] == "Bo"
    assert made.cut is not None
    assert made.cut.played_ms == 900
    assert made.thought is not None
    assert made.thought.urgent


def test_a_cut_may_be_written_as_a_classifier_is_told_of_it() -> None:
    cut = turn(cut={"was_saying": "Two miles", "heard_seconds": 1.5}).cut
    assert cut is not None
    assert (cut.text, cut.played_ms) == ("Two miles", 1500)


async def test_a_listening_room_is_asked_what_listening_rooms_are_asked() -> None:
    mock = MockClassifier({"lift": 1.0, "directness": 3.0})
    trial = await tried(ByClassifier(mock), turn(listening={"speaker": "Ann", "text": "Nova, just listen"}))
    state, questions = mock.calls[0]
    assert len(mock.calls) == 1
    assert {"asked_me", "lift"} <= questions.keys()
    assert "listen_request" not in questions
    assert state["agent"] == {"name": "Nova", "listening_only": {"speaker": "Ann", "text": "Nova, just listen"}}
    assert (trial.mode, trial.reason) == ("speak", "addressed")


def test_rates_and_their_intervals() -> None:
    spoke, kept = turn(), turn(expected="speak")
    trials = [Trial(spoke, "speak", "", None, 1), Trial(spoke, "silent", "", None, 1), Trial(kept, "silent", "", None, 1)]
    assert measures.modes_right(trials).share == pytest.approx(1 / 3)
    assert measures.false_speak(trials).share == 0.5
    assert measures.missed_speak(trials).share == 1.0
    low, high = measures.Share(95, 100).interval or (0.0, 0.0)
    assert (round(low, 3), round(high, 3)) == (0.888, 0.978)
    assert measures.Share(0, 0).share is None


def test_auc_and_calibration() -> None:
    chances, labels = np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1])
    assert measures.auc(chances, labels) == 0.75
    assert measures.auc(chances, np.ones(4, dtype=int)) is None
    assert measures.ece(np.array([0.75, 0.75, 0.75, 0.75]), np.array([1, 1, 1, 0])) == pytest.approx(0.0)
    assert measures.ece(np.array([0.9, 0.9]), np.array([0, 0])) == pytest.approx(0.9)
