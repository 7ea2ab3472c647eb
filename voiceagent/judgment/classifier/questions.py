"""The shipped questions: what a classifier is asked about a turn, by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from voiceagent.judgment.classifier.question import Question, ScoreQuestion, YesNoQuestion

DIRECTNESS: Final = ScoreQuestion(
    "How directly does the speaker of `last_turn` bring `agent` into the conversation? Talking about it to other people, or "
    "asking another person to explain something to it, does not bring it in. With a single person present, a greeting or `you` "
    "means it.",
    (
        "it is not brought in",
        "tentatively: somebody wonders whether it might be asked",
        "indirectly: a request it is meant to pick up, though it is not addressed",
        "directly: it is addressed by name or as `you`",
    ),
)

QUESTIONS: Final[Mapping[str, Question]] = MappingProxyType(
    {
        "directness": DIRECTNESS,
        "deferred": YesNoQuestion(
            "Does the speaker of `last_turn` put off asking the agent, or decide against it?",
            yes="the question is for later or for nobody",
            no="nothing is put off",
        ),
        "unfinished": YesNoQuestion(
            "Did the speaker of `last_turn` stop before having said what they want? Judge by how the turn ends; a pause or a "
            "doubt earlier in it does not count.",
            yes="it ends in the middle of a sentence, or asks to wait",
            no="it is complete as it stands",
        ),
        "hush": YesNoQuestion(
            "Does `last_turn` ask the agent not to answer, to be quiet, or only to listen? Asking whether it is ready to listen "
            "is not that."
        ),
        "request": YesNoQuestion(
            "Does `last_turn` ask the agent to answer or do something now? A remark or a statement does not."
        ),
        "answered": YesNoQuestion(
            "Was the agent's last turn a question, and does `last_turn` answer it? Waving the question away is an answer too."
        ),
    }
)
"""Asked about every turn."""

THOUGHT_QUESTIONS: Final[Mapping[str, Question]] = MappingProxyType(
    {
        "answers": YesNoQuestion(
            "Does what the agent wants to say (`assistant_thought`) answer something that `last_turn` asks and nobody has "
            "answered?"
        ),
        "corrects": YesNoQuestion(
            "Does what the agent wants to say (`assistant_thought`) correct, or warn about, something that `last_turn` says?"
        ),
    }
)
"""Asked when the agent has something to say."""

WAITING: Final = YesNoQuestion(
    "Does `last_turn`, or the turn before it, put a question to another person who has not tried to answer yet?"
)
"""Asked with the thought's questions when the policy is told to hold back for other people."""

RESUME: Final = YesNoQuestion(
    "The agent was cut off while saying `assistant_cut_off`. Does `last_turn` leave it free to go on?",
    yes="an acknowledgement, thanks, a short reaction, or talking over it by accident",
    no="the speaker wants the turn: a question, a request, a correction, or asking it to stop",
)
"""Asked when the agent's last answer was cut off."""
