"""The cross-encoder: the shipped questions answered by one pass of the fine-tuned encoder over a turn and its surroundings."""

from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from voiceagent.judgment.classifier.encoding import Encoder
from voiceagent.judgment.classifier.features import features
from voiceagent.judgment.classifier.shipped import Shipped
from voiceagent.judgment.classifier.view import View

FILE: Final = "speak.onnx"
VOCABULARY: Final = "vocabulary.txt"


class EncoderHeads:
    """One ONNX session on one thread; a few milliseconds a turn."""

    def __init__(self, shipped: Shipped) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.enable_cpu_mem_arena = False  # a few megabytes less, at no measured cost for one turn at a time
        self._session = onnxruntime.InferenceSession(shipped.file(FILE), options, providers=["CPUExecutionProvider"])
        self._encoder = Encoder(shipped.lines(VOCABULARY))
        self._temperatures = shipped.temperatures

    def logits(self, view: View) -> NDArray[np.float32]:
        """One row of logits, divided by the heads' temperatures."""
        encoded = self._encoder.encode(view)
        fed = {"ids": encoded.ids, "kinds": encoded.kinds, "features": features(view)[None]}
        return np.asarray(self._session.run(["logits"], fed)[0][0] / self._temperatures, dtype=np.float32)
