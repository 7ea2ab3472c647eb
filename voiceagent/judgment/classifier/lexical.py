"""The lexical heads: the shipped questions answered from a turn's features alone, without any runtime for models."""

import io
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.errors import ModelError
from voiceagent.judgment.classifier.features import features
from voiceagent.judgment.classifier.shipped import Shipped
from voiceagent.judgment.classifier.view import View

FILE: Final = "lexical.npz"


class LexicalHeads:
    """Two layers over the features; about a millisecond a turn."""

    def __init__(self, shipped: Shipped) -> None:
        with np.load(io.BytesIO(shipped.file(FILE))) as arrays:
            self._first = arrays["first_weight"].astype(np.float32), arrays["first_bias"].astype(np.float32)
            self._second = arrays["second_weight"].astype(np.float32), arrays["second_bias"].astype(np.float32)
        self._temperatures = shipped.lexical_temperatures
        if self._second[0].shape[0] != len(self._temperatures):
            raise ModelError(f"{FILE} has other heads than speak.json says: install the package again")

    def logits(self, view: View) -> NDArray[np.float32]:
        """One row of logits, divided by the heads' temperatures."""
        hidden = np.maximum(self._first[0] @ features(view) + self._first[1], 0.0)
        return np.asarray((self._second[0] @ hidden + self._second[1]) / self._temperatures, dtype=np.float32)
