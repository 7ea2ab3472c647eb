"""Asking a model for one token among a few, and how probable each of them was."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Prompt

UNABLE = ("bad_request", "no_chances")
"""Categories of LanguageModelError that mean: this model, or its server, never tells how probable a token was."""


@runtime_checkable
class Choosing(Protocol):
    """A model that can tell how probable each of a few one-token answers is."""

    async def choose(self, prompt: Prompt, options: Sequence[str]) -> Mapping[str, float]:
        """The options' probabilities, which add up to 1.

        Raises LanguageModelError: of category no_chances when the server tells none, bad_output when the model was about to say
        something else.
        """
        ...


def chances(tokens: Iterable[tuple[str, float]], options: Sequence[str]) -> dict[str, float]:
    """Each option's share of what its spellings (in any case, with blanks around them) were given among `tokens`, pairs of a
    token and its log probability. Raises LanguageModelError when no option is among them."""
    names = {option.casefold(): option for option in options}
    shares = dict.fromkeys(options, 0.0)
    for token, logarithm in tokens:
        name = names.get(token.strip().casefold())
        if name is not None:
            shares[name] += math.exp(min(logarithm, 0.0))
    whole = sum(shares.values())
    if whole <= 0:
        raise LanguageModelError("the model was about to answer with none of the options", "bad_output")
    return {option: share / whole for option, share in shares.items()}
