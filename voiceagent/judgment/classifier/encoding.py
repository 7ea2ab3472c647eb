"""A view as the cross-encoder reads it: the last turn whole, then the state and as much of the talk before as has room."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from voiceagent.judgment.classifier.view import Line, View

LONGEST: Final = 96
_STATE: Final = 26
_PADDING: Final = "[PAD]"


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token ids and their kinds (0 the last turn, 1 what stands around it), both of shape [1, tokens], at most LONGEST."""

    ids: NDArray[np.int64]
    kinds: NDArray[np.int64]


class Encoder:
    """Encodes views with a word-piece vocabulary, whose order gives the ids."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        ids = {piece: place for place, piece in enumerate(vocabulary)}
        self._tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=60))
        self._tokenizer.normalizer = BertNormalizer(lowercase=True)
        self._tokenizer.pre_tokenizer = BertPreTokenizer()
        self._start, self._break = ids["[CLS]"], ids["[SEP]"]

    def encode(self, view: View) -> Encoded:
        """The ids of a view: [CLS] last turn [SEP] state, earlier turns [SEP]."""
        last = self._ids(view.last.text)[-(LONGEST - 3) :]
        room = LONGEST - 3 - len(last)
        state = [piece for text in described(view) for piece in self._ids(text)[-_STATE:]][:room]
        turns: list[int] = []
        for line in reversed(view.before):
            pieces = self._ids(f"{line.who}: {line.text}")
            left = room - len(state) - len(turns)
            if left <= 0:
                break
            turns = pieces[-left:] + turns
        first = [self._start, *last, self._break]
        second = [*state, *turns, self._break]
        kinds = [0] * len(first) + [1] * len(second)
        return Encoded(np.array([first + second], dtype=np.int64), np.array([kinds], dtype=np.int64))

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False).ids
        return ids


def described(view: View) -> list[str]:
    """The state of the room in a few words each: how many people, a request to listen, a cut answer, what the agent would say."""
    told = ["alone" if view.alone else "two" if view.people == 2 else "group"]
    if view.listening is not None:
        told.append(_short("quiet", view.listening))
    if view.cut is not None:
        told.append(_short("cut", view.cut))
    told.extend(_short("wish", wish) for wish in view.wishes[:1])
    return told


def _short(word: str, line: Line) -> str:
    """The beginning and the end of a long line: 20 words at most."""
    words = line.text.split()
    kept = words if len(words) <= 20 else [*words[:8], *words[-12:]]
    return f"{word}: {' '.join(kept)}"
