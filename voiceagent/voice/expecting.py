"""What the agent's last words make likely of the next ones: that they answer a question, that they are digits."""

import re
from typing import Final

from voiceagent.speech.endpoint import Expectation

LAST_WORDS: Final = 8
"""Words behind a question that leave it open: "Shall I book it? It is ten dollars"."""

_DIGITS: Final = re.compile(
    r"\b(?:numbers?|digits?|codes?|pin|postcode|zip|numéros?|chiffres?|número|números|dígitos?|código)\b", re.IGNORECASE
)


def expectation(words: str) -> Expectation:
    """After `words`, as they were heard."""
    question = asked(words)
    return Expectation(question, question and _DIGITS.search(words.rpartition("?")[0].rpartition(". ")[2]) is not None)


def asked(words: str) -> bool:
    """Whether somebody who answers `words` answers a question."""
    before, mark, behind = words.rpartition("?")
    return bool(mark and before.strip()) and len(behind.split()) <= LAST_WORDS
