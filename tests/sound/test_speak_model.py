"""What the shipped speak model reaches, so that it gets no worse: on the development set, and on writers nobody trained on.

These bounds are what is true of the weights that ship, not what is wanted: the gates (95 / 5 / 3 % on the development set,
85 / 12 / 3 % on blind writers) are not reached, as docs/speak-report.md says. Raise a bound with every better model.
"""

import asyncio
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import SHARED
from voiceagent.judgment.classifier.embedded import EmbeddedClassifier
from voiceagent.judgment.evaluation import measures
from voiceagent.judgment.evaluation.labelled import read_turns
from voiceagent.judgment.evaluation.trial import ByClassifier, Trial, tried

ROOT = Path(__file__).resolve().parents[2]
SPEAK = ROOT / "tools" / "speak"
DEVELOPMENT = SHARED / "eval" / "speak_eval.jsonl"
ENOUGH = 100


def trials(*paths: Path) -> list[Trial]:
    async def all_of_them() -> list[Trial]:
        classifier = EmbeddedClassifier()
        judge = ByClassifier(classifier)
        done = [await tried(judge, turn) for path in paths for turn in read_turns(path)]
        await classifier.close()
        return done

    return asyncio.run(all_of_them())


@pytest.fixture(scope="module")
def development() -> list[Trial]:
    if not DEVELOPMENT.exists():
        pytest.skip(f"the development set is not here: {DEVELOPMENT.name} in $VOICEAGENT_SHARED/eval")
    return trials(DEVELOPMENT)


@pytest.fixture(scope="module")
def blind() -> list[Trial]:
    patterns = [line for line in (SPEAK / "blind.txt").read_text().splitlines() if line and not line.startswith("#")]
    files = [path for path in sorted((SPEAK / "written").glob("*.jsonl")) if any(fnmatchcase(path.stem, p) for p in patterns)]
    assert files
    return trials(*files)


def share(found: measures.Share) -> float:
    assert found.share is not None
    return found.share


def test_the_development_set(development: list[Trial]) -> None:
    assert share(measures.modes_right(development)) >= 0.84
    assert share(measures.false_speak(development)) <= 0.10
    assert share(measures.missed_speak(development)) <= 0.10


def test_blind_writers(blind: list[Trial]) -> None:
    assert len(blind) >= 3_800
    assert share(measures.modes_right(blind)) >= 0.78
    assert share(measures.false_speak(blind)) <= 0.14
    assert share(measures.missed_speak(blind)) <= 0.18


def test_probabilities_mean_what_they_say_on_blind_writers(blind: list[Trial]) -> None:
    off = {name: f.ece for name, f in measures.per_question(blind).items() if f.n >= ENOUGH and f.ece > 0.10}
    assert off == {}


def test_a_decision_is_quick(blind: list[Trial]) -> None:
    assert np.percentile([trial.took_ms for trial in blind], 50) <= 30
