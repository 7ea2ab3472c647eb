"""The heads: which shipped question each output of the model answers, and how its numbers become answers."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.judgment.classifier.question import Answer, Question, ScoreAnswer, YesNoAnswer
from voiceagent.judgment.classifier.questions import DIRECTNESS, QUESTIONS, RESUME, THOUGHT_QUESTIONS, WAITING
from voiceagent.judgment.listening import LISTEN_REQUEST, LISTENING_QUESTIONS

LEVELS: Final = len(DIRECTNESS.levels)

YES_NO: Final[Mapping[str, Question]] = MappingProxyType(
    {
        **{name: question for name, question in QUESTIONS.items() if name != "directness"},
        "listen_request": LISTEN_REQUEST,
        **LISTENING_QUESTIONS,
        **THOUGHT_QUESTIONS,
        "waiting": WAITING,
        "resume": RESUME,
    }
)
"""The yes/no questions in the order of the model's outputs; the levels of directness follow them."""

SHARPNESS: Final = 2
"""The power that the chances of the levels are raised to before their mean is taken as the level. Without it, a turn that is
either not for the agent at all or put to it directly is read as what lies between, and offered to. On writers left out of
training, 2 has the mode right 2 to 3 points more often than 1, with as much false and a little more missed speech."""

NAMES: Final = tuple(YES_NO)
WIDTH: Final = len(NAMES) + LEVELS


def head_of(question: Question) -> str | None:
    """The head that answers a question, told by what it asks and not by its name; None for one that no head was trained for."""
    if question == DIRECTNESS:
        return "directness"
    return next((name for name, shipped in YES_NO.items() if shipped == question), None)


def answers(logits: NDArray[np.float32]) -> dict[str, Answer]:
    """Every head's answer, from one row of WIDTH logits that have been divided by their temperatures.

    Directness: `spread` holds the chances of the levels, the level is their mean with SHARPNESS.
    """
    chances = 1.0 / (1.0 + np.exp(-np.clip(logits[: len(NAMES)].astype(np.float64), -30, 30)))
    read: dict[str, Answer] = {name: YesNoAnswer(float(chance)) for name, chance in zip(NAMES, chances, strict=True)}
    levels = logits[len(NAMES) :].astype(np.float64)
    spread = np.exp(levels - levels.max())
    spread /= spread.sum()
    likely = spread**SHARPNESS / (spread**SHARPNESS).sum()
    read["directness"] = ScoreAnswer(float(likely @ np.arange(LEVELS)), tuple(float(p) for p in spread))
    return read
