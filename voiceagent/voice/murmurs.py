"""What words spoken over the agent are, by the words alone: a sign of listening, a stop, or something to be answered."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from voiceagent.judgment.classifier.backchannel import ACCEPTING, FOLLOWING, asks, made_of, places

Kind = Literal["backchannel", "pending", "stop", "words", "nothing"]
"""`pending`: unfinished words that may still become a backchannel, or more than one."""

HESITATING: Final = (
    *("hm", "uh", "um", "em", "ehm", "erm", "er", "eh", "ha", "go on", "that's right"),
    *("euh", "heu", "ben", "oui", "continuez", "continue", "ah oui"),
    *("este", "pues", "ja", "sigue", "siga", "eso es", "dale"),
)
"""Said over somebody without wanting the turn, besides what the judgment of turns knows (English, French, Spanish)."""

STOPS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        *("stop", "stop it", "stop talking", "wait", "wait a minute", "wait a second", "hold on", "hold it", "hang on"),
        *("be quiet", "quiet", "silence", "shut up", "shush", "hush", "enough", "that's enough", "that is enough"),
        *("pause", "one moment", "one second", "one minute", "just a moment", "just a second", "just a minute", "cancel"),
    ),
    "fr": (
        *("stop", "arrête", "arrêtez", "attends", "attendez", "tais-toi", "taisez-vous", "silence", "chut", "pause"),
        *("ça suffit", "assez", "un moment", "un instant", "une seconde", "une minute"),
    ),
    "es": (
        *("para", "pare", "párate", "alto", "basta", "ya basta", "espera", "espere", "espérate", "cállate", "cállese", "calla"),
        *("silencio", "detente", "deténgase", "un momento", "un segundo", "un minuto", "pausa"),
    ),
}
"""What stops the agent however short it is, by language. All of them count, whichever language is set: people mix."""

BEFORE_A_STOP: Final = (
    "no",
    "hey",
    "please",
    "but",
    "non",
    "mais",
    "s'il te plaît",
    "s'il vous plaît",
    "pero",
    "por favor",
    "oye",
)
"""What may stand in front of a stop."""

MOST_WORDS: Final = 4
"""Of a backchannel; who says more has something to say."""

_REMARK: Final = re.compile(r"\[[^]]*\]|\([^)]*\)|\*[^*]*\*")
_CLAUSE: Final = re.compile(r"[.,;:!?…¡¿]+")
_WORD: Final = re.compile(r"[^\W_](?:'?[^\W_])*")
_LAUGH: Final = re.compile(r"a?(?:ha|he|hi|ho|ja|je){2,}h?")
_AGAIN: Final = re.compile(r"(.)\1+")


@dataclass(frozen=True, slots=True)
class Murmurs:
    """The phrases by which overlapping speech is told, each in any case, accents, punctuation and length of its letters.

    `backchannels` a whole utterance may be made of, `stops` begin it or are a clause of it. Both can be replaced.
    """

    backchannels: Iterable[str] = (*FOLLOWING, *ACCEPTING, *HESITATING)
    stops: Iterable[str] = tuple(phrase for phrases in STOPS.values() for phrase in phrases)
    _signs: frozenset[str] = field(init=False, repr=False)
    _stops: frozenset[str] = field(init=False, repr=False)
    _before: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        signs, stops = (frozenset(" ".join(plain_words(phrase)) for phrase in given) for given in (self.backchannels, self.stops))
        object.__setattr__(self, "_signs", signs - {""})
        object.__setattr__(self, "_stops", stops - {""})
        object.__setattr__(self, "_before", self._signs | {" ".join(plain_words(phrase)) for phrase in BEFORE_A_STOP})

    def kind_of(self, text: str, final: bool) -> Kind:
        """What `text` is; one that is not `final` may go on."""
        words = plain_words(text)
        if not words:
            return "nothing"
        if self._stops_it(text, words):
            return "stop"
        if not final:
            return "pending" if self._may_become(words) else "words"
        return "backchannel" if not asks(text) and made_of(words, self._signs, MOST_WORDS) else "words"

    def only_stops(self, text: str) -> bool:
        """Whether nothing but stops is said, whatever stands in front of them."""
        clauses = [words for clause in _CLAUSE.split(text) if (words := plain_words(clause))]
        stopping = [words for words in clauses if not made_of(words, self._before, MOST_WORDS)]
        return bool(stopping) and all(self._is_stop(words) for words in stopping)

    def _is_stop(self, words: list[str]) -> bool:
        return any(" ".join(words[start:]) in self._stops for start in (0, *places(words, self._before)))

    def _stops_it(self, text: str, words: list[str]) -> bool:
        """Whether it begins with a stop, or one of its clauses is nothing else."""
        if any(" ".join(plain_words(clause)) in self._stops for clause in _CLAUSE.split(text)):
            return True
        starts = places(words, self._before)
        return any(" ".join(words[start:end]) in self._stops for start in starts for end in range(start + 1, len(words) + 1))

    def _may_become(self, words: list[str]) -> bool:
        """Whether it is made of backchannels, the last of which may be unfinished."""
        if len(words) > MOST_WORDS:
            return False
        rests = (" ".join(words[start:]) for start in places(words, self._signs))
        return any(sign.startswith(rest) for rest in rests for sign in self._signs)


def plain_words(text: str) -> list[str]:
    """Its words without case, accents, punctuation, and what a recognizer remarks in brackets; letters said long once."""
    bare = unicodedata.normalize("NFKD", _REMARK.sub(" ", text).replace("\u2019", "'").casefold())
    letters = "".join(char for char in bare if not unicodedata.combining(char))
    return [_word(word) for word in _WORD.findall(letters)]


def _word(word: str) -> str:
    return "ha" if _LAUGH.fullmatch(word) else _AGAIN.sub(r"\1", word)


SHIPPED: Final = Murmurs()
"""The phrases that come with the program."""


def kind_of(text: str, final: bool) -> Kind:
    """What `text` is by the shipped phrases."""
    return SHIPPED.kind_of(text, final)
