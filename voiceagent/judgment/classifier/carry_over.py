"""Who has just been answered by the agent is likelier to mean it again: a prior that is seen, and set, by the host."""

from collections.abc import Mapping

from voiceagent.judgment.classifier.prior import levels, raised
from voiceagent.judgment.classifier.question import Answers, Classifier, Question, State
from voiceagent.values import JSON


class CarryOver:
    """Raises `directness` by `amount` levels where the turn before was the agent's answer to the speaker of this one, and says by
    how much under `carry_over`.

    With 0.5 a turn that only wonders about the agent is answered and one that leaves it out is not; from 0.75 on every such turn
    is at least offered to. A room that only listens is left as it is. Around a CascadeClassifier it acts after the better
    classifier was asked or not; wrap the two inside to have it weighed there. Closing it closes the classifier it wraps.
    """

    def __init__(self, classifier: Classifier, amount: float = 0.5) -> None:
        self._classifier = classifier
        self._amount = levels(amount)

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        """The wrapped classifier's answers, with the prior in them. Raises what it raises."""
        answers = await self._classifier.classify(state, questions)
        if "directness" not in answers or not _goes_on(state):
            return answers
        return raised(answers, "carry_over", answers.score("directness"), self._amount)

    async def close(self) -> None:
        """Closes the wrapped classifier."""
        await self._classifier.close()


def _goes_on(state: State) -> bool:
    """Whether the last of the recent turns is the agent's, and the last of somebody else before it this speaker's."""
    agent, last, recent = state.get("agent"), state.get("last_turn"), state.get("recent_turns")
    if not isinstance(agent, dict) or not isinstance(last, dict) or not isinstance(recent, list):
        return False
    if agent.get("listening_only") is not None:
        return False
    speakers = [_speaker(turn) for turn in recent]
    if not speakers or speakers[-1] != agent.get("name"):
        return False
    others = [speaker for speaker in speakers if speaker != agent.get("name")]
    return bool(others) and others[-1] is not None and others[-1] == last.get("speaker")


def _speaker(turn: JSON) -> JSON:
    return turn.get("speaker") if isinstance(turn, dict) else None
