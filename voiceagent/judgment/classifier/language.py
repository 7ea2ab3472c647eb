"""Which of the listed languages a person speaks, told by frequent words, letters and scripts over their recent turns."""

from collections.abc import Mapping, Sequence
from typing import Final

from voiceagent.judgment.classifier.lexicon import points, profiles
from voiceagent.judgment.classifier.names import plain
from voiceagent.judgment.classifier.question import ChoiceAnswer, ChoiceQuestion, State

OTHER: Final = "other"
_ABOUT: Final = "language"
_EARLIER: Final = 0.6
_PRIOR: Final = 0.25
_SURE: Final = 1.0


def asks_language(question: ChoiceQuestion) -> bool:
    """Whether a choice is between languages alone: every option but `other` is the name of one that is known here."""
    return _ABOUT in question.instructions.lower() and all(code_of(option) or option == OTHER for option in question.options)


def code_of(option: str) -> str | None:
    """The code of a language by its name in several languages, with or without a region; None for one that is not known."""
    name = option.casefold().strip()
    for code, profile in profiles().items():
        names = {plain(each) for each in profile.names}
        if plain(name) in names or plain(name.replace("-", " ").replace("_", " ").split(" ")[0]) in names:
            return code
    return None


def spoken_language(state: State, question: ChoiceQuestion) -> ChoiceAnswer:
    """The option that most speaks for itself in the speaker's turns, the last one weighing most; `other`, where it is an option,
    for a language that is not listed. With nothing to go by, the first option."""
    texts = said(state)
    scores = {code: _score(texts, code) for code in profiles()}
    best = max(scores, key=lambda code: scores[code])
    options = {option: scores.get(code_of(option) or "", 0.0) for option in question.options if option != OTHER}
    first = next(iter(options))
    options[first] += _PRIOR
    if OTHER in question.options:
        listed = {code_of(option) for option in options}
        options[OTHER] = scores[best] if best not in listed and scores[best] > _SURE + max(options.values()) else 0.0
    total = sum(options.values())
    shares: Mapping[str, float] = {option: value / total for option, value in options.items()}
    return ChoiceAnswer(max(shares, key=lambda option: shares[option]), {o: shares[o] for o in question.options})


def said(state: State) -> list[str]:
    """What the speaker of the last turn has said, newest first."""
    last, recent = state.get("last_turn"), state.get("recent_turns")
    if not isinstance(last, Mapping):
        return []
    turns = [turn for turn in recent if isinstance(turn, Mapping)] if isinstance(recent, list | tuple) else []
    mine = [turn.get("text") for turn in reversed(turns) if turn.get("speaker") == last.get("speaker")]
    return [text for text in (last.get("text"), *mine) if isinstance(text, str)]


def _score(texts: Sequence[str], code: str) -> float:
    """Points of all turns; each earlier one counts 0.6 of the one after it, so that one misheard word does not switch."""
    return sum(points(text, code) * _EARLIER**place for place, text in enumerate(texts))
