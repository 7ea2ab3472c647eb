"""What is taken for likely before a classifier's answers are read: the priors that the settings choose, around a classifier."""

from dataclasses import dataclass
from typing import Final

from voiceagent.judgment.classifier.alone import Alone
from voiceagent.judgment.classifier.carry_over import CarryOver
from voiceagent.judgment.classifier.question import Classifier


@dataclass(frozen=True, slots=True)
class Priors:
    """Levels of directness that a turn gains: `alone` where its speaker is the only one there, `carry_over` where the agent has
    just answered them; 0 for none."""

    alone: float = 0.0
    carry_over: float = 0.0

    def around(self, classifier: Classifier) -> Classifier:
        """The classifier with these priors in its answers."""
        if self.alone:
            classifier = Alone(classifier, self.alone)
        return CarryOver(classifier, self.carry_over) if self.carry_over else classifier


NO_PRIORS: Final = Priors()
