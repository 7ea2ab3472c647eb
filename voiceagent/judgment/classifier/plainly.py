"""What is said so plainly that no weights are needed for it: being told to only listen in as many words."""

from collections.abc import Mapping
from typing import Final

from voiceagent.judgment.classifier.lexicon import LANGUAGES, lexicon
from voiceagent.judgment.classifier.question import Answer, YesNoAnswer
from voiceagent.judgment.classifier.view import AGENT, View

SURE: Final = 0.9
"""The least probability of what is said in as many words."""


def with_what_is_plain(answers: Mapping[str, Answer], view: View) -> Mapping[str, Answer]:
    """The answers, with a request to only listen that leaves no doubt: the whole turn says nothing else, and is meant for the
    agent, which it names, or which has just spoken, or which is alone with the speaker, or which is told to be quiet anyway."""
    if view.listening is not None or not _only_asks_to_listen(view) or not (_meant(view) or _hushed(answers["hush"])):
        return answers
    return {**answers, **{name: _at_least(answers[name]) for name in ("listen_request", "hush")}}


def _meant(view: View) -> bool:
    spoke = bool(view.before) and view.before[-1].who == AGENT
    return view.alone or spoke or AGENT in view.last.words


def _hushed(answer: Answer) -> bool:
    return isinstance(answer, YesNoAnswer) and answer.probability >= 0.5


def _only_asks_to_listen(view: View) -> bool:
    text = " ".join(view.last.words)
    for words in map(lexicon, LANGUAGES):
        rest = words.without("listen_plainly", text)
        if rest != text and not words.without("listen_around", rest):
            return True
    return False


def _at_least(answer: Answer) -> Answer:
    return YesNoAnswer(max(answer.probability, SURE)) if isinstance(answer, YesNoAnswer) else answer
