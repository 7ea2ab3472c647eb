"""From answers to a decision: the rules, in the order in which they are read."""

from dataclasses import dataclass
from typing import Final

from voiceagent.judgment.classifier.question import Answers
from voiceagent.judgment.policy import Mode, SpeakDecision, SpeakTurn

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


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the rules read of a turn besides the answers: whether one person talks with the agent, whether its thought cannot
    wait, whether the room only listens, and whether its last answer was cut off."""

    alone: bool = False
    urgent: bool = False
    listening: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What answers come to: the mode, whether the room only listens from then on, and whether a cut answer is gone on with."""

    mode: Mode
    listens: bool = False
    resumes: bool = False


def compose(turn: SpeakTurn, answers: Answers, eagerness: Eagerness = Eagerness()) -> SpeakDecision:
    """The decision for an open room, without the rules for cut answers and listening."""
    urgent = turn.thought is not None and turn.thought.urgent
    return _composed(Circumstances(alone=len(turn.people) == 1, urgent=urgent), answers, eagerness)


def outcome(circumstances: Circumstances, answers: Answers, eagerness: Eagerness = Eagerness()) -> Outcome:
    """All the rules: compose(), those of a listening room, and those for a cut answer."""
    if circumstances.listening:
        if not lifted(answers):
            return Outcome("speak" if put_to_itself(answers) else "silent", listens=True)
    elif asked_to_listen(answers):
        return Outcome("silent", listens=True)
    if circumstances.cut and not circumstances.listening and leaves_free(answers):
        return Outcome("speak", resumes=True)
    return Outcome(_composed(circumstances, answers, eagerness).mode)


def asked_to_listen(answers: Answers) -> bool:
    """Whether the turn tells an open room's agent to only listen from now on."""
    return answers.probability("listen_request") >= YES


def lifted(answers: Answers) -> bool:
    """Whether the turn lets a listening room's agent talk again."""
    return answers.probability("lift") >= YES


def put_to_itself(answers: Answers) -> bool:
    """Whether a listening room's agent is asked, by name or as "you", by somebody who wants the answer now."""
    asked = answers.probability("asked_me") >= YES and answers.score("directness") >= TO_ITSELF
    return asked and held_back(answers) is None


def leaves_free(answers: Answers) -> bool:
    """Whether the turn that cut the agent off leaves it free to go on; a wish to ask later does not stop it."""
    if answers.probability("hush") >= YES or answers.probability("unfinished") >= YES:
        return False
    return answers.probability("resume") >= RESUME


def _composed(circumstances: Circumstances, answers: Answers, eagerness: Eagerness) -> SpeakDecision:
    judgments = answers.judgments()
    held = held_back(answers)
    if held is not None:
        return SpeakDecision("silent", held, judgments)
    if answers.probability("answered") >= YES:
        return SpeakDecision("speak", "answers its question", judgments)
    directness = answers.score("directness")
    asked = answers.probability("request") >= YES and (circumstances.alone or directness >= TENTATIVE)
    if asked or directness >= ADDRESSED:
        return SpeakDecision("speak", "addressed", judgments)
    return _uninvited(circumstances.urgent, answers, eagerness, judgments)


def _uninvited(urgent: bool, answers: Answers, eagerness: Eagerness, judgments: dict[str, float]) -> SpeakDecision:
    useful = max(answers.probability("answers"), answers.probability("corrects"))
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
