"""From answers to a decision: the rules, in the order in which they are read."""

from dataclasses import dataclass
from typing import Final

from voiceagent.judgment.classifier.question import Answers
from voiceagent.judgment.policy import SpeakDecision, SpeakTurn

YES: Final = 0.5
RESUME: Final = 0.4
TENTATIVE: Final = 0.75
ADDRESSED: Final = 1.5
TO_ITSELF: Final = 2.0


@dataclass(frozen=True, slots=True)
class Eagerness:
    """How much a thought must answer or correct before the agent offers it: `proactivity`, above 0 and up to 1, lower is more
    eager; an urgent thought needs half of it."""

    proactivity: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.proactivity <= 1:
            raise ValueError(f"proactivity {self.proactivity}: give a number above 0 and up to 1")


def held_back(answers: Answers) -> str | None:
    """Why the speaker does not want an answer now; None when nothing says so."""
    if answers.probability("unfinished") >= YES:
        return "not finished"
    if answers.probability("deferred") >= YES:
        return "postponed"
    if answers.probability("hush") >= YES:
        return "asked to keep quiet"
    return None


def compose(turn: SpeakTurn, answers: Answers, eagerness: Eagerness = Eagerness()) -> SpeakDecision:
    """The decision for an open room, without the rules for cut answers and listening."""
    judgments = answers.judgments()
    held = held_back(answers)
    if held is not None:
        return SpeakDecision("silent", held, judgments)
    if answers.probability("answered") >= YES:
        return SpeakDecision("speak", "answers its question", judgments)
    directness = answers.score("directness")
    alone = len(turn.people) == 1
    asked = answers.probability("request") >= YES and (alone or directness >= TENTATIVE)
    if asked or directness >= ADDRESSED:
        return SpeakDecision("speak", "addressed", judgments)
    return _uninvited(turn, answers, eagerness, judgments)


def _uninvited(turn: SpeakTurn, answers: Answers, eagerness: Eagerness, judgments: dict[str, float]) -> SpeakDecision:
    useful = max(answers.probability("answers"), answers.probability("corrects"))
    urgent = turn.thought is not None and turn.thought.urgent
    theirs = answers.probability("waiting") >= YES and not urgent
    if answers.score("directness") >= TENTATIVE:
        if useful >= YES and not theirs:
            return SpeakDecision("speak", "knows the answer", judgments)
        return SpeakDecision("offer", "wondered about", judgments)
    if useful >= (eagerness.proactivity / 2 if urgent else eagerness.proactivity):
        if theirs:
            return SpeakDecision("silent", "theirs to answer", judgments)
        return SpeakDecision("offer", "urgent" if urgent else "has something to add", judgments)
    return SpeakDecision("silent", "not addressed", judgments)
