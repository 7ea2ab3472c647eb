"""Turns that only say "I am listening", told by their words alone."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final

from voiceagent.judgment.classifier.question import Answer, Question, ScoreAnswer, State, YesNoAnswer
from voiceagent.judgment.classifier.questions import QUESTIONS, RESUME, THOUGHT_QUESTIONS, WAITING
from voiceagent.judgment.listening import LISTEN_REQUEST, LISTENING_QUESTIONS
from voiceagent.values import JSON

SHIPPED: Final[Mapping[str, Question]] = {
    **QUESTIONS,
    **THOUGHT_QUESTIONS,
    **LISTENING_QUESTIONS,
    "listen_request": LISTEN_REQUEST,
    "waiting": WAITING,
    "resume": RESUME,
}

FOLLOWING: Final = (
    *("mm", "mmm", "mhm", "mhmm", "mm hm", "mm hmm", "uh huh", "aha", "ah", "oh", "wow", "right", "exactly", "interesting"),
    *("i see", "of course", "thanks", "thank you"),
    *("hum", "hum hum", "je vois", "ah bon", "exact", "exactement", "c'est ça", "voilà", "merci"),
    *("ajá", "ya", "ya veo", "entiendo", "exacto", "exactamente", "gracias"),
)
"""Of somebody who follows, in English, French and Spanish."""

ACCEPTING: Final = (
    *("ok", "okay", "yes", "yeah", "yep", "yup", "sure", "alright", "all right", "got it", "good", "great", "perfect", "fine"),
    *("oui", "ouais", "d'accord", "entendu", "bien", "très bien", "parfait", "bien sûr", "compris"),
    *("okey", "sí", "si", "vale", "claro", "de acuerdo", "bien", "muy bien", "perfecto"),
)
"""Words that also take an offer up."""

_MOST_WORDS: Final = 6
_HUMMED_NO: Final = frozenset({*product(("m", "mm", "mmm"), repeat=2), ("uh", "uh"), ("nuh", "uh"), ("huh", "uh")})
_WORD: Final = re.compile(r"[\w']+")
_QUESTION: Final = re.compile(r"\?\W*$|¿[^.!]*$")


@dataclass(frozen=True, slots=True)
class Backchannels:
    """The phrases that a whole turn may be made of, one or several of them, in any case and punctuation.

    Nothing is taken for a backchannel after a question of the agent, nor where nobody is known to have spoken before; and
    `accepting` ones are none right after the agent has spoken to its end, since what it said may have been an offer.
    """

    following: Iterable[str] = FOLLOWING
    accepting: Iterable[str] = ACCEPTING

    def __post_init__(self) -> None:
        object.__setattr__(self, "following", frozenset(" ".join(_words(phrase)) for phrase in self.following))
        object.__setattr__(self, "accepting", frozenset(" ".join(_words(phrase)) for phrase in self.accepting))

    def answers(self, state: State, questions: Mapping[str, Question]) -> dict[str, Answer]:
        """No to each shipped question, yes to `resume`, when the last turn is a backchannel; nothing otherwise, and nothing to a
        question of the host's own."""
        if not self._settle(state):
            return {}
        ours = [name for name, question in questions.items() if question == SHIPPED.get(name)]
        return {name: ScoreAnswer(0.0) if name == "directness" else YesNoAnswer(float(name == "resume")) for name in ours}

    def is_one(self, text: str) -> bool:
        """Whether a text is nothing but such phrases, whatever came before it."""
        return not asks(text) and made_of(_words(text), {*self.following, *self.accepting}, _MOST_WORDS)

    def _settle(self, state: State) -> bool:
        said, cut, before = _text(state.get("last_turn")), state.get("assistant_cut_off"), _before(state)
        if asks(said) or (cut is None and before is None):
            return False
        by_agent = cut is not None or _is_agents(state, before)
        agent_said = str(cut.get("was_saying", "")) if isinstance(cut, dict) else _text(before)
        if by_agent and asks(agent_said):
            return False
        phrases = {*self.following} if by_agent and cut is None else {*self.following, *self.accepting}
        return made_of(_words(said), phrases, _MOST_WORDS)


def asks(text: str) -> bool:
    """Whether a text ends in a question, as far as its punctuation tells."""
    return _QUESTION.search(text) is not None


def made_of(words: Sequence[str], phrases: Set[str], most: int) -> bool:
    """Whether the words, no more than `most`, are phrases, one after the other, and no hummed no ("mm-mm", "uh-uh")."""
    if not 0 < len(words) <= most or any(pair in _HUMMED_NO for pair in pairwise(words)):
        return False
    return len(words) in places(words, phrases)


def places(words: Sequence[str], phrases: Set[str]) -> set[int]:
    """How many of the first words can be phrases, one after the other: 0 always, and every such number."""
    reached = {0}
    for end in range(1, len(words) + 1):
        if any(start in reached and " ".join(words[start:end]) in phrases for start in range(end)):
            reached.add(end)
    return reached


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text).replace("\u2019", "'").casefold())


def _text(turn: JSON) -> str:
    return str(turn.get("text", "")) if isinstance(turn, dict) else ""


def _before(state: State) -> JSON:
    recent = state.get("recent_turns")
    return recent[-1] if isinstance(recent, list) and recent else None


def _is_agents(state: State, turn: JSON) -> bool:
    agent = state.get("agent")
    return isinstance(agent, dict) and isinstance(turn, dict) and turn.get("speaker") == agent.get("name")
