"""The languages that the program speaks by itself: what it uses and says in each, and which of them a text is in."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

AUTO: Final = "auto"
"""The setting for rooms in which each person may speak another of the LANGUAGES."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its models, the first thing said in it, what is said when the brain fails or a tool lasts, and what tells it
    apart.

    `frequent` are words that stand in almost every sentence of it and in few sentences of the others.
    """

    code: str
    name: str
    recognizer: str
    voice: str
    greeting: str
    apology: str
    filler: str
    frequent: frozenset[str]


_ENGLISH: Final = """
the and is are was it you we they of to in for with not that this have has be will can what how when where who do does
my your our there here at from by if would could should yes please thanks hello an
"""
_FRENCH: Final = """
le les des une est et je tu il elle nous vous ils dans pour avec pas que qui ce cette sont suis à au aux du sur mais
ou où oui non merci bonjour très plus aussi mon ma votre notre c'est j'ai n'est d'accord quel quelle
"""
_SPANISH: Final = """
el los las una un es y yo tú él ella nosotros en para con no que quién este esta son soy está al del sobre pero o
dónde sí gracias hola muy más también mi su nuestro qué cómo cuándo cuál hay por lo se le
"""

LANGUAGES: Final = {
    language.code: language
    for language in (
        Language(
            "en",
            "English",
            "tiny.en",
            "en_US-joe-medium",
            "Hello, how can I help?",
            "Sorry, something went wrong on my side. Could you say that again?",
            "One moment, please.",
            frozenset(_ENGLISH.split()),
        ),
        Language(
            "fr",
            "French",
            "base",
            "fr_FR-siwis-medium",
            "Bonjour, que puis-je faire pour vous ?",
            "Pardon, quelque chose n'a pas marché de mon côté. Vous pouvez répéter ?",
            "Un instant, s'il vous plaît.",
            frozenset(_FRENCH.split()),
        ),
        Language(
            "es",
            "Spanish",
            "base",
            "es_ES-davefx-medium",
            "Hola, ¿en qué puedo ayudar?",
            "Perdón, algo ha fallado por mi parte. ¿Puede repetirlo?",
            "Un momento, por favor.",
            frozenset(_SPANISH.split()),
        ),
    )
}

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def language_of(text: str, among: Collection[str] = tuple(LANGUAGES), default: str = "en") -> str:
    """The code of the language in which a text has the most frequent words; `default` where none of them stands out."""
    said = [word.casefold().replace("’", "'") for word in _WORD.findall(text)]
    counts = {code: sum(word in LANGUAGES[code].frequent for word in said) for code in among if code in LANGUAGES}
    best = max(counts.values(), default=0)
    leading = [code for code, count in counts.items() if count == best]
    return leading[0] if best and len(leading) == 1 else default
