"""What of a state leaves for somebody else's classifier: the parts that its questions need, in bounded text."""

import json
from collections.abc import Mapping
from typing import Final

from voiceagent.judgment.classifier.question import ClassifierError, Question, State
from voiceagent.values import JSON

LONGEST_TEXT: Final = 2_000
MOST_PEOPLE: Final = 40
LONGEST_STATE: Final = 16_000

NEEDED_BY: Final[Mapping[str, frozenset[str]]] = {
    "assistant_thought": frozenset({"answers", "corrects"}),
    "assistant_cut_off": frozenset({"resume"}),
    "listening_only": frozenset({"asked_me", "lift"}),
}
"""Parts of a state that only some questions need: these, and any that names the part in its words."""

_LINE_ENDS: Final = str.maketrans({"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def material(state: State, questions: Mapping[str, Question]) -> dict[str, JSON]:
    """The state without what no question needs; its texts end as they did but hold 2,000 characters at most, and the oldest of
    the recent turns are left out until the whole fits 16,000. Raises ClassifierError when it cannot be made to."""
    kept = {name: _bounded(part) for name, part in state.items() if _needed(name, questions)}
    agent, people, recent = kept.get("agent"), kept.get("people"), kept.get("recent_turns")
    if isinstance(agent, dict) and not _needed("listening_only", questions):
        agent.pop("listening_only", None)
    if isinstance(people, list):
        del people[MOST_PEOPLE:]
    while (length := len(on_one_line(kept))) > LONGEST_STATE and isinstance(recent, list) and recent:
        recent.pop(0)
    if length > LONGEST_STATE:
        raise ClassifierError(f"the state holds {length} characters; {LONGEST_STATE} is the most that is sent")
    return kept


def on_one_line(state: State) -> str:
    """A state as JSON text without a line end in it."""
    return json.dumps(state, ensure_ascii=False).translate(_LINE_ENDS)


def _needed(part: str, questions: Mapping[str, Question]) -> bool:
    if part not in NEEDED_BY:
        return True
    return any(name in NEEDED_BY[part] or part in question.instructions for name, question in questions.items())


def _bounded(value: JSON) -> JSON:
    match value:
        case str():
            return value[-LONGEST_TEXT:].encode("utf-8", "replace").decode()
        case list():
            return [_bounded(item) for item in value]
        case dict():
            return {key: _bounded(item) for key, item in value.items()}
    return value
